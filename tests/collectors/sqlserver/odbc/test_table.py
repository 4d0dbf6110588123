"""Columns and keys of tables of events; reading one is tested over a real connection."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from dbt_graft.collectors.sqlserver.odbc import table_key
from dbt_graft.collectors.sqlserver.odbc.table import choose_columns, name_parts, offset_time
from dbt_graft.collectors.sqlserver.odbc.table_key import TableKey
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each


@for_each(
    "present, columns, read, event",
    [
        pytest.param(
            ["id", "object_name", "event_data", "file_name", "file_offset"],
            {},
            {"event_data": "event_data"},
            "",
            id="as the server's function gives it",
        ),
        pytest.param(
            ["id", "name", "timestamp", "batch_text"],
            {},
            {"id": "id", "name": "name", "timestamp": "timestamp", "batch_text": "batch_text"},
            "",
            id="as Management Studio exports it",
        ),
        pytest.param(
            ["timestamp", "client_app_name", "database_name", "sql_text"],
            {},
            {
                "timestamp": "timestamp",
                "client_app_name": "client_app_name",
                "database_name": "database_name",
                "sql_text": "text",
            },
            "sql_statement_starting",
            id="only what the session's actions gave",
        ),
        pytest.param(
            ["id", "timestamp", "statement", "Duration"],
            {},
            {
                "id": "id",
                "timestamp": "timestamp",
                "statement": "statement",
                "Duration": "Duration",
            },
            "sql_statement_completed",
            id="what lasted has ended",
        ),
        pytest.param(
            ["id", "event_data", "payload"],
            {"event_data": "PAYLOAD"},
            {"payload": "event_data"},
            "",
            id="what graft.yml says comes first",
        ),
        pytest.param(
            ["id", "event_data", "timestamp", "statement", "seen_at", "txt"],
            {"timestamp": "seen_at", "text": "txt"},
            {"id": "id", "seen_at": "timestamp", "txt": "text"},
            "sql_statement_starting",
            id="and replaces what stands for the same",
        ),
    ],
)
def test_columns_are_known_by_name_or_by_graft_yml(
    present: list[str], columns: dict[str, str], read: dict[str, str], event: str
) -> None:
    chosen = choose_columns(present, columns, "dbo.xe_log")
    assert dict(zip(chosen.names, chosen.labels, strict=True)) == read
    assert chosen.event == event


@pytest.mark.parametrize(
    ("present", "columns", "fragment"),
    [
        (["id", "event_data"], {"event_data": "xml"}, "no column xml\n  it has id, event_data"),
        (["id", "XML", "xmL"], {"event_data": "xml"}, "no column xml"),
        (["id", "statement"], {}, "they need `event_data`, or `timestamp` and `text`"),
        (["id", "timestamp", "name"], {}, "say in `columns` which of these they are: id, "),
    ],
)
def test_columns_without_events_are_an_error(
    present: list[str], columns: dict[str, str], fragment: str
) -> None:
    with pytest.raises(GraftError) as error:
        choose_columns(present, columns, "dbo.xe_log")
    assert fragment in str(error.value)


@for_each(
    "name, expected",
    [
        ("xe_log", ["xe_log"]),
        ("dbo.xe_log", ["dbo", "xe_log"]),
        ("audit.dbo.[xe log]", ["audit", "dbo", "xe log"]),
        ("[a.b].[c]]d]", ["a.b", "c]d"]),
        ('"a""b".c', ['a"b', "c"]),
        ("t; DROP TABLE x", ["t; DROP TABLE x"]),
    ],
)
def test_a_name_is_taken_apart_and_is_always_a_name(name: str, expected: list[str]) -> None:
    assert name_parts(name) == expected


@for_each("name", ["", ".", "a..b", "a.", "[a", 'a"b', "[a]b"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(GraftError, match="is not the name of a table"):
        name_parts(name)


@for_each(
    "key",
    [
        0,
        -5,
        2**63,
        Decimal("1.50"),
        datetime(2026, 11, 21, 10, 0, 0, 123456),
        datetime(2026, 11, 21),
        date(2026, 11, 21),
        bytes(8),
        "",
        "a:b",
    ],
)
def test_a_key_comes_back_from_its_position(key: TableKey) -> None:
    again = table_key.decode(table_key.encode(key))
    assert (again, type(again)) == (key, type(key))


@pytest.mark.parametrize(
    ("behind", "asked"),
    [
        (datetime(2026, 11, 21, 10), datetime(2026, 11, 21, 9, 59, 59)),
        (datetime.min, datetime.min),
    ],
)
def test_times_are_asked_for_roughly_and_compared_here(behind: datetime, asked: datetime) -> None:
    assert table_key.condition('"at"', behind) == ('"at" >= ?', (asked,))
    assert not table_key.is_behind(behind, behind)
    assert table_key.is_behind(behind + timedelta(microseconds=1), behind)


@pytest.mark.parametrize("position", ["12@1700", "number:x", "time:", "binary:0", "C:\\a.xel|4"])
def test_a_position_of_another_source_is_refused(position: str) -> None:
    with pytest.raises(GraftError, match="none of a table"):
        table_key.decode(position)


@pytest.mark.parametrize(("one", "other"), [("a", "A"), ("a", "a "), ("é", "E"), ("ＡB", "ab")])
def test_texts_that_a_collation_may_hold_for_equal_stay_together(one: str, other: str) -> None:
    assert table_key.tie(one) == table_key.tie(other)


@pytest.mark.parametrize("value", [None, True, 1.5])
def test_what_cannot_be_compared_exactly_is_no_key(value: object) -> None:
    assert table_key.key_of(value) is None


def test_a_datetimeoffset_is_read_with_its_zone() -> None:
    raw = struct.pack("<6hI2h", 2026, 11, 21, 10, 0, 59, 123_456_700, -5, -30)
    zone = timezone(-timedelta(hours=5, minutes=30))
    assert offset_time(raw) == datetime(2026, 11, 21, 10, 0, 59, 123456, zone)
    assert table_key.key_of(offset_time(raw)) == datetime(2026, 11, 21, 15, 30, 59, 123456)
    assert offset_time(b"2026-11-21") is None
    assert table_key.key_of(datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2026, 1, 1)
