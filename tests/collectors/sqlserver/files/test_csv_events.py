"""Rows of CSV are events, whatever the columns are called and the tool that wrote them."""

from pathlib import Path

import pytest

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, ExtendedEvent, FileSplit, Value
from dbt_graft.collectors.sqlserver.files import csv_events
from dbt_graft.collectors.sqlserver.files.csv_events import CsvSplitter, csv_header, read_csv
from tests.cases import for_each

AT = 1_795_141_801 * 10_000_000


def chunks(folder: Path, text: str) -> list[Chunk]:
    file = folder / "a.csv"
    file.write_text(text, newline="")
    return list(read_csv(FileSplit(str(file), "a.csv", "csv", 0, len(text)), EventFilter()))


def events(folder: Path, text: str) -> list[ExtendedEvent]:
    found = chunks(folder, text)
    assert not [chunk.damages for chunk in found if chunk.damages]
    return [event for chunk in found for event in chunk.events]


@for_each(
    "label, kind, name",
    [
        ("batch_text", "data", "batch_text"),
        ("Batch Text", "data", "batch_text"),
        ("BatchText", "data", "batch_text"),
        ("TextData", "data", "batch_text"),
        ("Details", "data", "batch_text"),
        ("row count", "data", "row_count"),
        ("CPU", "data", "cpu_time"),
        ("own_field", "data", "own_field"),
        ("client_app_name", "action", "client_app_name"),
        ("Client App Name", "action", "client_app_name"),
        ("client-app-name ", "action", "client_app_name"),
        ("ApplicationName", "action", "client_app_name"),
        ("database name", "action", "database_name"),
        ("DatabaseName", "action", "database_name"),
        ("SPID", "action", "session_id"),
        ("event sequence", "action", "event_sequence"),
        ("LoginName", "action", "server_principal_name"),
        ("sql_text", "action", "sql_text"),
        ("attach_activity_id", "action", "attach_activity_id"),
    ],
)
def test_a_column_is_known_by_whatever_name(
    tmp_path: Path, label: str, kind: str, name: str
) -> None:
    text = f"name,timestamp,{label}\nsql_batch_completed,2026-11-20 02:30:01,x\n"
    (event,) = events(tmp_path, text)
    expected: dict[str, Value] = {name: "x"}
    assert (event.data, event.actions) == ((expected, {}) if kind == "data" else ({}, expected))


@pytest.mark.parametrize(
    "labels",
    ["name,timestamp", "Event Name,Event Time", "event_name,collect time", "object_name,datetime"],
)
def test_names_and_times_are_known_by_whatever_name(tmp_path: Path, labels: str) -> None:
    text = f"{labels}\nsql_batch_completed,2026-11-20 02:30:01\n"
    assert events(tmp_path, text) == [ExtendedEvent("sql_batch_completed", AT, {}, {})]


def test_the_viewers_own_columns(tmp_path: Path) -> None:
    text = (
        "name,timestamp,timestamp (UTC),object_name,statement,batch_text,duration,result,"
        "attach_activity_id.guid,attach_activity_id.seq\r\n"
        "rpc_completed,2026-11-20 04:30:01.0000000,2026-11-20 02:30:01.0000000,sp_executesql,"
        "exec p,NULL,12,OK,0F1A2B3C-0000-0000-0000-000000000000,7\r\n"
        "sql_batch_completed,2026-11-20 04:30:01.0000000,2026-11-20 02:30:01.0000000,NULL,"
        ',"SELECT 1,\r\n ""a""",12,OK,NULL,NULL\r\n'
    )
    call, batch = events(tmp_path, text)
    common: dict[str, Value] = {"duration": "12", "result": "OK"}
    assert (call.name, call.at, batch.at) == ("rpc_completed", AT, AT)
    assert call.data == {"object_name": "sp_executesql", "statement": "exec p", **common}
    assert call.actions == {"attach_activity_id": "0F1A2B3C-0000-0000-0000-000000000000-7"}
    assert (batch.data, batch.actions) == ({"batch_text": 'SELECT 1,\r\n "a"', **common}, {})


@pytest.mark.parametrize("name", ["rpc_completed", "sql_statement_completed"])
def test_a_merged_text_is_the_statement_unless_there_is_one(tmp_path: Path, name: str) -> None:
    merged, own = events(
        tmp_path,
        f"name,timestamp,TextData,statement\n{name},2026-11-20 02:30:01,a,\n"
        f"{name},2026-11-20 02:30:01,a,b\n",
    )
    assert (merged.data, own.data) == ({"statement": "a"}, {"statement": "b"})


@for_each(
    "time, at",
    [
        ("2026-11-20 02:30:01.0000000", AT),
        ("2026-11-20T02:30:01Z", AT),
        ("2026-11-20 04:30:01.0000000 +02:00", AT),
        ("20.11.2026 02:30:01", AT),
        ("20.11.2026  2:30:01", AT),
        ("11/20/2026 2:30:01 AM", None),
        ("11/12/2026 02:30:01", None),
        ("", None),
    ],
)
def test_a_time_is_read_where_it_can_mean_one_only(
    tmp_path: Path, time: str, at: int | None
) -> None:
    (chunk,) = chunks(tmp_path, f'name,timestamp\nx,"{time}"\n')
    if at is None:
        (damage,) = chunk.damages
        assert damage.position == "line 2"
        assert "export it as ISO 8601" in damage.reason
        assert not time or time not in damage.reason
    else:
        assert [event.at for event in chunk.events] == [at]


def test_damage_costs_a_row_and_is_reported_with_its_line(tmp_path: Path) -> None:
    good = "x,2026-11-20 02:30:01,a\n"
    text = (
        f"name,timestamp,batch_text\n{good}\n"
        'x,2026-11-20 02:30:01,"two\nlines"\n'
        'x,2026-11-20 02:30:01,a,b\nx\nx,y,"a"b\n,2026-11-20 02:30:01,a\n'
        f'{good}x,2026-11-20 02:30:01,"open\n{good}'
    )
    found = chunks(tmp_path, text)
    found_texts = [event.data["batch_text"] for chunk in found for event in chunk.events]
    assert found_texts == ["a", "two\nlines", "a"]
    assert [(d.position, d.reason) for chunk in found for d in chunk.damages] == [
        ("line 6", "the row has 4 columns, the header has 3"),
        ("line 7", "the row has 1 columns, the header has 3"),
        ("line 8", "the row's quotes do not match"),
        ("line 9", "the event has no name"),
        ("line 11", "the row's quotes do not match"),
    ]
    assert sum(chunk.seen for chunk in found) == 8


def test_what_command_line_tools_add_is_no_row(tmp_path: Path) -> None:
    text = "name,timestamp\n----,---------\nx,2026-11-20 02:30:01\n\n(1 rows affected)\n"
    assert len(events(tmp_path, text)) == 1


def test_rows_of_xml_may_hold_what_is_none(tmp_path: Path) -> None:
    (chunk,) = chunks(tmp_path, '1,"<event name=""x"">"\n2,\n3,"<event "\n')
    assert [damage.reason for damage in chunk.damages] == [
        "the event is not well-formed XML",
        "the row holds no event",
        "the event is not well-formed XML",
    ]


@for_each("row", ["", "a,b", "name,duration", "timestamp,duration", '"name', "\0"])
def test_a_first_row_that_names_no_event_is_no_header(tmp_path: Path, row: str) -> None:
    assert csv_header(row) is None
    found = chunks(tmp_path, f"{row}\nx\n")
    reason = "the first line names no columns of events"
    assert [damage.reason for chunk in found for damage in chunk.damages] == [reason]


def test_a_row_without_end_takes_bounded_memory_and_costs_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(csv_events, "LONGEST", 1000)
    splitter = CsvSplitter()
    rows = list(splitter.feed(b'a\n"'))
    for _ in range(100):
        rows += splitter.feed(b"x" * 99 + b"\n" + b"y" * 200)
    rows += splitter.feed(b'\nb\n"c\n', last=True)
    found_texts = [
        row.text for row in rows if row.text and "x" not in row.text and "y" not in row.text
    ]
    assert found_texts == ["a", "b", '"c\n'.strip()]
    assert max(len(row.text) for row in rows) < 1000
    assert rows[1].text == ""


def test_statements_of_megabytes_are_read(tmp_path: Path) -> None:
    statement = "SELECT 1, " * 300_000
    (event,) = events(tmp_path, f'name,timestamp,batch_text\nx,2026-11-20 02:30:01,"{statement}"\n')
    assert event.data["batch_text"] == statement
