"""The state of each origin: of its newest batch alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.origins import origin_states
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, NodeResult, Records, Reject, Run, Status

NIGHT = datetime(2026, 11, 22, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
READ = Access(
    *("load", "1", DatasetId("spark", "raw.a"), Kind.TABLE, Direction.READ, Operation.SELECT, "s"),
    last_at=NIGHT + HOUR,
    origin="log-a",
)
RUN = Run("1", "load", "spark", NIGHT, NIGHT + 2 * HOUR, Status.OK, origin="log-a")


def test_times_and_rejects_are_those_of_the_newest_batch(tmp_path: Path) -> None:
    rejects = (Reject("log-a", "1", "odd"), Reject("log-a", "2", "odd"))
    write(tmp_path, Records((READ,), (RUN,), rejects=rejects), "log-a")
    first = origin_states(open_store(str(tmp_path)))["log-a"]
    assert (first.last_event, first.rejects) == (NIGHT + 2 * HOUR, 2)

    going = replace(RUN, started_at=NIGHT + 5 * HOUR, ended_at=None, origin="log-b")
    write(tmp_path, Records((READ,)), "log-a")
    write(tmp_path, Records(runs=(going,)), "log-b")
    write(tmp_path, Records(), "log-c")
    states = origin_states(open_store(str(tmp_path)))
    assert {name: (state.last_event, state.rejects) for name, state in states.items()} == {
        "log-a": (NIGHT + HOUR, 0),
        "log-b": (NIGHT + 5 * HOUR, 0),
        "log-c": (None, 0),
    }
    assert first.read_at < states["log-a"].read_at < states["log-c"].read_at


def test_a_result_of_dbt_is_an_event(tmp_path: Path) -> None:
    origin = "dbt:target#1"
    result = NodeResult("model.shop.a", "1", "run", started_at=NIGHT, origin=origin)
    found = tables(
        Records(),
        {},
        node_results=table(NodeResult, [result]),
        origins=table(ReadLog, [ReadLog(origin, "1", 1)]),
    )
    commit(str(tmp_path), [found])
    assert origin_states(open_store(str(tmp_path)))[origin].last_event == NIGHT


def write(store: Path, records: Records, origin: str) -> None:
    commit(str(store), [tables(records, {origin: "1"})])
