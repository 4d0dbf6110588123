"""Exported events of any form and condition -> accesses, runs and rejects.

All logs are collected at once, each of a task of its own; a test looks at those of its log.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pyarrow as pa
import pytest

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.sqlserver.collect import collect
from dbt_graft.collectors.sqlserver.listing import Server, new_logs
from dbt_graft.collectors.sqlserver.runs.rules import RunRules
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.records import Records

if TYPE_CHECKING:
    from dbt_graft.collectors.store.tables import Rows


START = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
HOUR = 3600
ROW = "<row><object_name>x</object_name><event_data>{}</event_data></row>"
BOM = "\ufeff"
_sequence: Iterator[int] = count(1)


def event(
    text: str,
    *,
    application: str = "python_task::TASK",
    name: str = "sql_batch_completed",
    after: float = 0,
    duration: int = 500,
    result: str = "<value>0</value><text>OK</text>",
    session: int = 51,
    cdata: bool = True,
) -> str:
    """One event; `after` is its time in seconds, `duration` is in microseconds."""
    time = f"{START + timedelta(seconds=after):%Y-%m-%dT%H:%M:%S.%f}"[:-3]
    value = f"<![CDATA[{text}]]>" if cdata else escape(text)
    data = {
        "duration": f"<value>{duration}</value>",
        "row_count": "<value>1</value>",
        "result": result,
        "batch_text" if "batch" in name else "statement": f"<value>{value}</value>",
    }
    actions = {
        "client_app_name": application,
        "database_name": "Shop",
        "session_id": session,
        "event_sequence": next(_sequence),
    }
    return (
        f'<event name="{name}" package="sqlserver" timestamp="{time}Z">'
        + "".join(f'<data name="{key}">{value}</data>' for key, value in data.items() if value)
        + "".join(
            f'<action name="{key}" package="sqlserver"><value>{value}</value></action>'
            for key, value in actions.items()
        )
        + "</event>\n"
    )


def query(table: str, *, cdata: bool = True) -> str:
    return event(f"SELECT a FROM {table} WHERE a < 5 AND b > 'x & y'", cdata=cdata)


def shown_by(name: str, *texts: str) -> str:
    return "".join(event(text, name=name, result="") for text in texts)


# File -> content, in which TASK stands for the file's name.
LOGS = {
    # forms
    "fragments": query("cdata") + query("entities", cdata=False),
    "with bom + %20#1[x]": BOM + query("bom"),
    "rows": f"<rows>{ROW.format(query('nested'))}</rows>",
    "text": ROW.format(escape(query("escaped"))) + ROW.format(escape(query("twice", cdata=False))),
    # damage
    "damaged": '<!DOCTYPE e [<!ENTITY secret SYSTEM "file:///etc/passwd">]><e>'
    + event("DELETE FROM good")
    + event("DELETE FROM unclosed").replace("]]>", "")
    + event("DELETE FROM entity").replace("<![CDATA[DELETE", "&secret; <![CDATA[")
    + event("DELETE FROM no_end").replace("</event>", "")
    + event("DELETE FROM bad_time").replace("2026-11-20T", "yesterday ")
    + event("DELETE FROM no_text").replace("batch_text", "other")
    + event("DELETE FROM control WHERE a = 'x\x01&#x1;'")
    + event("DELETE FROM control WHERE a = 'x\x01'", cdata=False).replace("FROM", "FROM&#x1;")
    + event("DELETE FROM cut_off")[:200],
    "not xml": "no xml at all",
    # whose events
    "others": event("SELECT 1 FROM a")
    + event("SELECT 1 FROM b", application="Management Studio")
    + event("SELECT 1 FROM c", application="other::load")
    + event("SELECT 1 FROM d", name="lock_acquired")
    + event("")
    + event("SELECT name FROM sys.tables"),
    # runs; c began 0.6 hours after b ended, d came 1.1 hours after c
    "runs": event("SELECT 1 FROM a")
    + event("SELECT 1 FROM b", after=0.9 * HOUR)
    + event("SELECT 1 FROM c", after=2.5 * HOUR, duration=HOUR * 1_000_000)
    + event("SELECT 1 FROM d", after=3.6 * HOUR)
    + event("SELECT 1 FROM e", session=52)
    + event("SELECT 1 FROM f", application="python_task::TASK::n1", session=53)
    + event("SELECT 1 FROM g", application="python_task::TASK::n1", session=54),
    # statements
    "levels": shown_by("sql_batch_starting", "DELETE FROM a WHERE i = 1; DELETE FROM b")
    + shown_by("sql_statement_completed", "DELETE FROM a WHERE i = 1", "DELETE FROM b")
    + shown_by("sp_statement_completed", "DELETE FROM inside")
    + event("DELETE FROM a WHERE i = 1; DELETE FROM b")
    + event("DELETE FROM a WHERE i = 2; DELETE FROM b"),
    "starting": shown_by("sql_statement_starting", "INSERT INTO a SELECT 1 FROM b"),
    "failed": event("DELETE FROM never_written", result="<value>1</value><text>Error</text>")
    + event("DELETE FROM never_written", result="<value>2</value>")
    + event("IF @@TRANCOUNT > 0 ROLLBACK TRAN", after=1),
    "order": event("SELECT * INTO #t FROM z; INSERT INTO y SELECT * FROM #t; DROP TABLE #t")
    + event("SELECT * INTO #t FROM b")
    + event("INSERT INTO a SELECT * FROM #t"),
    "loop": "".join(
        event(f"INSERT INTO #t SELECT * FROM from_{one}")
        + event(f"INSERT INTO to_{one} SELECT * FROM #t")
        + event("TRUNCATE TABLE #t")
        for one in "abc"
    ),
    "variables": "".join(
        event(
            f"DECLARE @t TABLE (i int); INSERT INTO @t SELECT i FROM from_{one}; "
            f"INSERT INTO to_{one} SELECT i FROM @t"
        )
        for one in "ab"
    ),
    "streaming": event("INSERT INTO target VALUES (1)", after=5)
    + event("SELECT * FROM source", after=9, duration=8_000_000),
    "partitions": event("ALTER TABLE orders SWITCH PARTITION 7 TO old PARTITION 3")
    + event("ALTER TABLE orders SWITCH PARTITION 9 TO old PARTITION 4")
    + event("TRUNCATE TABLE old WITH (PARTITIONS ($PARTITION.by_day('2026-11-01')))")
    + event("TRUNCATE TABLE stage"),
    "dropped": event(
        "CREATE TABLE made_again (id int, name varchar(9)); CREATE TABLE gone (id int)"
    )
    + event("DROP TABLE made_again", after=1)
    + event("SELECT 1 AS id INTO made_again", after=2)
    + event("DROP TABLE gone", after=3)
    + event("EXEC sp_rename 'dbo.renamed_from', 'renamed_to'", after=4)
    + event("ALTER SCHEMA archive TRANSFER dbo.transferred", after=5),
}


SERVER = Server("mssql://sql01:1433")


def source(folder: Path) -> LogPath:
    return LogPath(str(folder), "logs")


@pytest.fixture(scope="module")
def collected(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Records:
    folder = tmp_path_factory.mktemp("collect")
    (folder / "logs").mkdir()
    for name, content in LOGS.items():
        (folder / "logs" / f"{name}.xml").write_text(content.replace("TASK", name))
    text = query("utf_16").replace("TASK", "utf-16")
    (folder / "logs" / "utf-16.xml").write_bytes(text.encode("utf-16"))
    found = collect(engine, source(folder / "logs"), SERVER, {})
    assert found is not None
    store.commit(str(folder / "store"), [found])
    return store.read(str(folder / "store"))


def of(records: Records, name: str) -> Records:
    """The records of one log, without its datasets."""
    origin = f"logs/{name}.xml"
    return replace(
        records,
        accesses=tuple(access for access in records.accesses if access.origin == origin),
        runs=tuple(run for run in records.runs if run.origin == origin),
        rejects=tuple(reject for reject in records.rejects if reject.origin == origin),
    )


def tables(records: Records) -> list[str]:
    return sorted(access.dataset.name.removeprefix("Shop.dbo.") for access in records.accesses)


def flows(records: Records) -> set[tuple[str, str]]:
    found = build(replace(records, datasets=())).flows
    return {(flow.source.short, flow.target.short) for flow in found}


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("fragments", ["cdata", "entities"]),
        ("with bom + %20#1[x]", ["bom"]),
        ("rows", ["nested"]),
        ("text", ["escaped", "twice"]),
        ("utf-16", ["utf_16"]),
    ],
)
def test_every_form_of_export_is_read(collected: Records, log: str, expected: list[str]) -> None:
    records = of(collected, log)
    assert tables(records) == expected
    assert not records.rejects
    shapes = {collected.shapes[access.shape_id].text for access in records.accesses}
    assert shapes == {f"SELECT a FROM {table} WHERE a < ? AND b > ?" for table in expected}


def test_damage_costs_only_what_is_damaged(collected: Records) -> None:
    records = of(collected, "damaged")
    assert tables(records) == ["control", "good"]
    assert sum(access.statements for access in records.accesses) == 3
    assert sorted(r.reason for r in records.rejects) == [
        "1 events show no statement: the session does not collect it",
        "the event has no end",
        "the event has no end",
        "the event has no readable time",
        "the event is cut off",
        "the event is not well-formed XML",
    ]


def test_what_a_file_defines_as_an_entity_is_never_looked_at(collected: Records) -> None:
    assert "root:" not in repr(collected)


def test_a_file_that_cannot_be_read_is_one_reject(collected: Records) -> None:
    records = of(collected, "not xml")
    assert [r.position for r in records.rejects] == ["the file"]
    assert not records.accesses


def test_other_applications_and_events_are_not_ours(collected: Records) -> None:
    records = of(collected, "others")
    assert tables(records) == ["a"]
    assert not records.rejects
    assert [run.task for run in records.runs] == ["others"]


def test_runs_are_named_or_end_when_a_session_is_idle(collected: Records) -> None:
    records = of(collected, "runs")
    runs: dict[str, set[str]] = {}
    for access in records.accesses:
        runs.setdefault(access.run_id, set()).add(access.dataset.name[-1])
    assert sorted(runs.values(), key=min) == [{"a", "b", "c"}, {"d"}, {"e"}, {"f", "g"}]
    assert runs["n1"] == {"f", "g"}
    assert {run.run_id for run in records.runs} == set(runs)


def test_a_statement_that_several_events_show_counts_once(collected: Records) -> None:
    accesses = {a.dataset.short: (a.statements, a.status) for a in of(collected, "levels").accesses}
    assert accesses == {"dbo.a": (2, "ok"), "dbo.b": (2, "ok"), "dbo.inside": (1, "ok")}


def test_partitions_are_positions_with_their_gaps(collected: Records) -> None:
    accesses = {
        f"{access.operation} {access.direction} {access.dataset.name.rpartition('.')[2]}": [
            (position.kind, position.start, position.end) for position in access.positions
        ]
        for access in of(collected, "partitions").accesses
    }
    assert accesses == {
        "SWITCH read orders": [("partitions", "7", "7"), ("partitions", "9", "9")],
        "SWITCH write old": [("partitions", "3", "4")],
        "TRUNCATE write old": [("partitions", "", "")],
        "TRUNCATE write stage": [],
    }


def test_starting_events_alone_show_tables_but_no_outcome(collected: Records) -> None:
    """The session of the article that this product follows captures nothing else."""
    records = of(collected, "starting")
    assert tables(records) == ["a", "b"]
    assert {access.status for access in records.accesses} == {"unknown"}
    assert [run.status for run in records.runs] == ["unknown"]


def test_failed_statements_make_a_failed_run_and_no_lineage(collected: Records) -> None:
    records = of(collected, "failed")
    assert {(access.statements, access.status) for access in records.accesses} == {(2, "failed")}
    assert [run.status for run in records.runs] == ["failed"]
    assert flows(records) == set()
    assert "Shop.dbo.never_written" not in {dataset.id.name for dataset in collected.datasets}


def test_statements_keep_their_order_within_a_batch_and_a_millisecond(collected: Records) -> None:
    assert flows(of(collected, "order")) == {("dbo.z", "dbo.y"), ("dbo.b", "dbo.a")}


@pytest.mark.parametrize(("log", "rounds"), [("loop", "abc"), ("variables", "ab")])
def test_what_was_in_one_temporary_table_does_not_come_out_of_the_next(
    collected: Records, log: str, rounds: str
) -> None:
    expected = {(f"dbo.from_{one}", f"dbo.to_{one}") for one in rounds}
    assert flows(of(collected, log)) == expected


def test_rows_read_while_others_are_written_went_through_memory(collected: Records) -> None:
    """A query that streams ends behind the inserts that its rows feed."""
    assert flows(of(collected, "streaming")) == {("dbo.source", "dbo.target")}


def test_a_dropped_table_is_known_as_dropped(collected: Records) -> None:
    datasets = {dataset.id.short: dataset for dataset in collected.datasets}
    assert datasets["dbo.made_again"].dropped_at is None
    assert datasets["dbo.gone"].dropped_at is not None
    assert datasets["dbo.renamed_from"].dropped_at is not None
    assert datasets["dbo.renamed_to"].dropped_at is None
    assert datasets["dbo.transferred"].dropped_at is not None
    assert datasets["archive.transferred"].dropped_at is None
    columns = [(column.name, column.type) for column in datasets["dbo.made_again"].columns]
    assert columns == [("id", "int"), ("name", "varchar")]


def test_a_log_that_grew_is_read_again_and_its_runs_keep_their_names(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "logs").mkdir()
    folder = str(tmp_path / "store")
    ids = []
    for after in (0, 5):
        with (tmp_path / "logs" / "a.xml").open("a") as log:
            log.write(event(f"SELECT 1 FROM t{after}", after=after))
        found = collect(engine, source(tmp_path / "logs"), SERVER, store.positions(folder))
        assert found is not None
        store.commit(folder, [found])
        ids.append([run.run_id for run in store.read(folder).runs])
    assert tables(store.read(folder)) == ["t0", "t5"]
    assert ids[0] == ids[1]


def rows_of(table: Rows) -> list[dict[str, Any]]:
    """The rows of a table of the store."""
    assert isinstance(table, pa.Table)
    return table.to_pylist()


def test_the_pattern_for_tasks_is_the_users(engine: Engine, tmp_path: Path) -> None:
    applications = ("etl/load@7/x", "etl/load@8/x", "python_task::load")
    content = "".join(
        event(f"SELECT 1 FROM t{n}", application=name) for n, name in enumerate(applications)
    )
    (tmp_path / "a.xml").write_text(content)
    pattern = r"^etl(?P<slash>/)(?P<task>\w+)@(?P<run>\d+)(?P=slash)"
    found = collect(engine, source(tmp_path), replace(SERVER, rules=RunRules(pattern)), {})
    assert found is not None
    rows = rows_of(found.accesses)
    assert {(row["task"], row["run_id"], row["name"]) for row in rows} == {
        ("load", "7", "Shop.dbo.t0"),
        ("load", "8", "Shop.dbo.t1"),
    }


def test_unreadable_files_alone_are_still_collected(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("no xml at all")
    found = collect(engine, source(tmp_path), SERVER, {})
    assert found is not None
    assert [row["origin"] for row in rows_of(found.rejects)] == ["logs/a.xml"]
    assert rows_of(found.accesses) == []
    assert [(row["origin"], row["events"]) for row in rows_of(found.origins)] == [("logs/a.xml", 0)]


def test_a_log_that_cannot_be_read_stays_pending_and_what_was_read_of_it_stays(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, place = tmp_path / "logs", str(tmp_path / "store")
    logs.mkdir()
    there, late = logs / "there.xml", logs / "late.xml"
    there.write_text(query("first"))

    def run() -> tuple[list[str], set[str], list[str]]:
        """Pending logs, tables read and rejects after a collect."""
        positions = store.positions(place)
        found = collect(engine, LogPath(str(logs), "logs"), Server("mssql://db"), positions)
        store.commit(place, [found] if found else [], positions)
        records = store.read(place)
        return (
            [one.origin for one in found.pending] if found else [],
            {access.dataset.short for access in records.accesses},
            [reject.origin for reject in records.rejects],
        )

    assert run() == ([], {"dbo.first"}, [])
    there.write_text(query("first") + query("second"))
    late.write_text(query("third"))
    module = sys.modules[collect.__module__]
    listed = new_logs(LogPath(str(logs), "logs"), store.positions(place))
    for path in (there, late):
        path.rename(path.with_name(f".{path.name}"))
    with monkeypatch.context() as out_of_reach:
        out_of_reach.setattr(module, "new_logs", lambda *_: listed)
        pending = ["logs/late.xml", "logs/there.xml"]
        assert run() == (pending, {"dbo.first"}, ["logs/late.xml"])
        assert run() == (pending, {"dbo.first"}, ["logs/late.xml"])
    assert len(store.batches(place)) == 2, "nothing new, no batch"
    for path in (there, late):
        path.with_name(f".{path.name}").rename(path)
    assert run() == ([], {"dbo.first", "dbo.second", "dbo.third"}, [])
    assert run() == ([], {"dbo.first", "dbo.second", "dbo.third"}, [])
