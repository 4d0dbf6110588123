"""Processes of this machine as an engine."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pytest

from dbt_graft.collectors.engines.engine import Batches
from dbt_graft.collectors.engines.local import LocalEngine
from dbt_graft.collectors.schema import arrow
from dbt_graft.lineage.errors import GraftError

MUCH = 1 << 30


@dataclass(frozen=True)
class Numbered:
    """A segment of a run, and the process that worked on it."""

    task: str
    run: str
    session: str
    place: int
    process: int = 0


def with_process(batches: Batches) -> Batches:
    for rows in batches:
        number = rows.schema.get_field_index("process")
        process = pa.array([os.getpid()] * rows.num_rows, pa.int64())
        yield rows.set_column(number, "process", process)


def end_by(number: signal.Signals, batches: Batches) -> Batches:
    os.kill(os.getpid(), number)
    yield from batches


def fail(batches: Batches) -> Batches:
    raise ValueError("no luck")
    yield from batches


def numbered(*keys: tuple[str, str, str]) -> pa.Table:
    rows = [Numbered(*key, place) for place, key in enumerate(keys)]
    return pa.Table.from_pylist([vars(row) for row in rows], arrow(Numbered))


def test_little_is_read_in_this_process() -> None:
    rows = LocalEngine(2).spread(numbered(("a", "", "1"), ("b", "", "2")), 2, 1_000)
    assert {*rows.map(with_process, Numbered).gather()["process"].to_pylist()} == {os.getpid()}


def test_much_is_read_in_others_and_all_of_it_once() -> None:
    keys = [("a", "", str(number)) for number in range(7)]
    rows = LocalEngine(2).spread(numbered(*keys), 3, MUCH).map(with_process, Numbered).gather()
    assert sorted(rows["place"].to_pylist()) == [*range(7)]
    assert os.getpid() not in rows["process"].to_pylist()


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
def test_a_named_run_and_a_session_without_one_are_in_one_partition_in_order(
    processes: int,
) -> None:
    keys = [
        *(("load", "r1", str(number % 3)) for number in range(9)),
        *(("load", "", str(number % 2)) for number in range(8)),
        *(("make", "", "0") for _ in range(5)),
    ]
    table = numbered(*keys[::-1])
    grouped = LocalEngine(processes, small=0).spread(table, 4, MUCH)
    partitions = grouped.group(("task", "run"), "session", ("place",)).partitions
    groups = [
        {(row["task"], row["run"], row["run"] or row["session"]) for row in rows.to_pylist()}
        for rows in partitions
    ]
    assert sum(map(len, groups)) == len({group for part in groups for group in part}) == 4
    assert len(partitions) == min(processes, 4)
    for rows in partitions:
        order = [tuple(row.values())[:4] for row in rows.to_pylist()]
        assert order == sorted(order)


def test_rows_of_different_classes_are_united_by_name() -> None:
    rows = LocalEngine().spread(pa.table({"a": [1], "b": ["x"]}), 1, 0)
    united = rows.union(pa.table({"b": ["y"], "c": [True]})).gather().to_pylist()
    assert united == [{"a": 1, "b": "x", "c": None}, {"a": None, "b": "y", "c": True}]


def test_a_process_that_the_system_ends_is_an_error_with_a_way_on() -> None:
    rows = LocalEngine(2).spread(numbered(("a", "", "1"), ("b", "", "2")), 2, MUCH)
    with pytest.raises(GraftError, match="ended by the system") as raised:
        rows.map(partial(end_by, signal.SIGKILL), Numbered)
    assert "engine: spark" in raised.value.remedy


def test_an_error_of_the_work_is_raised_here() -> None:
    rows = LocalEngine(2).spread(numbered(("a", "", "1"), ("b", "", "2")), 2, MUCH)
    with pytest.raises(ValueError, match="no luck"):
        rows.map(fail, Numbered)


def test_where_a_system_cannot_fork_processes_are_started_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on Windows."""
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    rows = LocalEngine(2).spread(numbered(("a", "", "1"), ("b", "", "2")), 2, MUCH)
    worked = rows.map(with_process, Numbered).gather()
    assert sorted(worked["place"].to_pylist()) == [0, 1]
    assert os.getpid() not in worked["process"].to_pylist()
