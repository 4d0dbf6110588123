"""The differences between two times: consistent with the builds as of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from dbt_graft.analysis.history.changes import Change, ChangeKind
from dbt_graft.analysis.history.diff import (
    Difference,
    PastState,
    differences,
    past_state,
    state_changes,
)
from dbt_graft.analysis.history.presence import GoneRule
from dbt_graft.lineage.building.as_of import as_of
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Column, Dataset, Direction, Records, Run, Status
from tests.cases import for_each
from tests.lineage.past_histories import START, TABLES, history, times
from tests.notation import access

A, B, C, *_ = TABLES
DAY = timedelta(days=1)
Facts = tuple[set[object], ...]


def _past(records: Records, at: datetime) -> Lineage:
    return build(as_of(records, at))


def _facts(state: PastState) -> Facts:
    """A state as sets: datasets, columns, tasks, edges."""
    names = state.names
    return (
        {dataset.id for dataset in names.datasets},
        {(dataset.id, column.name) for dataset in names.datasets for column in dataset.columns},
        set(names.tasks),
        {(*ways, task) for ways, tasks in state.carriers.items() for task in tasks},
    )


def _applied(state: PastState, changes: Iterable[Change], now: PastState) -> Facts:  # noqa: C901
    """A state after changes. What a new dataset or edge brings along is looked up."""
    datasets, columns, tasks, edges = _facts(state)
    _, later_columns, _, later_edges = _facts(now)
    for change in changes:
        ways = (change.dataset, change.other)
        match change.kind:
            case ChangeKind.GONE_DATASET:
                datasets.discard(change.dataset)
                columns = {column for column in columns if column[0] != change.dataset}
            case ChangeKind.NEW_DATASET:
                datasets.add(change.dataset)
                columns |= {column for column in later_columns if column[0] == change.dataset}
            case ChangeKind.GONE_TASK:
                tasks.discard(change.name)
            case ChangeKind.NEW_TASK:
                tasks.add(change.name)
            case ChangeKind.GONE_EDGE:
                edges = {edge for edge in edges if edge[:2] != ways}
            case ChangeKind.NEW_EDGE:
                edges |= {edge for edge in later_edges if edge[:2] == ways}
            case ChangeKind.OTHER_TASKS:
                edges = {edge for edge in edges if edge[:2] != ways}
                edges |= {(*ways, task) for task in change.now.split(", ")}
            case ChangeKind.GONE_COLUMN:
                columns.discard((change.dataset, change.name))
            case ChangeKind.NEW_COLUMN:
                columns.add((change.dataset, change.name))
            case kind:
                pytest.fail(f"{kind} is in no such history")
    return datasets, columns, tasks, edges


@for_each("seed", range(80), quick=20)
def test_the_differences_turn_one_state_into_the_other(seed: int) -> None:
    records, rule = history(seed).records(), GoneRule(runs=1, intervals=1)
    past = [_past(records, at) for at in times(seed)]
    states = [past_state(one, rule) for one in past]
    for at, before in enumerate(past):
        for later, now in enumerate(past[at:], at):
            changes = [difference.change for difference in differences(before, now, rule)]
            assert _applied(states[at], changes, states[later]) == _facts(states[later])
            assert changes == list(state_changes(states[at], states[later]))
        assert not differences(before, before, rule)


def _run(
    number: int, day: float, *pairs: tuple[DatasetId, DatasetId], task: str = "load"
) -> Records:
    """A run that inserts from one table into another for each pair."""
    at, run_id, origin = START + day * DAY, f"{task}{number}", f"log{number}"
    known = {"at": at, "task": task, "run_id": run_id, "origin": origin}
    accesses = [
        access("INSERT", dataset, direction=side, shape_id=f"{source}>{target}", **known)
        for source, target in pairs
        for dataset, side in ((source, Direction.READ), (target, Direction.WRITE))
    ]
    run = Run(run_id, task, "spark", at, at + timedelta(minutes=5), Status.OK, origin=origin)
    return Records(tuple(accesses), (run,))


def _together(*parts: Records) -> Records:
    return Records(
        tuple(access for part in parts for access in part.accesses),
        tuple(run for part in parts for run in part.runs),
        datasets=tuple(dataset for part in parts for dataset in part.datasets),
    )


def _kinds(records: Records, first: float, last: float, rule: GoneRule | None = None) -> list[str]:
    before, now = (_past(records, START + day * DAY) for day in (first, last))
    return [str(difference.change.kind) for difference in differences(before, now, rule)]


@pytest.mark.parametrize(("runs", "gone"), [(2, False), (3, True), (9, True)])
def test_an_edge_is_gone_after_three_runs_without_it(runs: int, gone: bool) -> None:
    first = _run(0, 0, (A, B), (A, C))
    later = [_run(number, number, (A, C)) for number in range(1, runs + 1)]
    records = _together(first, *later)
    found = differences(_past(records, START + DAY / 2), _past(records, START + 60 * DAY))
    assert [difference.change for difference in found] == (
        [Change(ChangeKind.GONE_EDGE, A, B)] if gone else []
    )
    if gone:
        assert found[0].at == START + 3 * DAY + timedelta(minutes=5)
        assert found[0].reason == f"load ran {runs} times without it since 1 Sep 2026"


def test_runs_that_failed_or_have_no_end_say_nothing_of_an_edge() -> None:
    parts = [_run(0, 0, (A, B))]
    for number in range(1, 7):
        part = _run(number, number, (A, C))
        odd = {"status": Status.FAILED} if number % 2 else {"ended_at": None}
        parts.append(replace(part, runs=(replace(part.runs[0], **odd),)))
    assert "gone edge" not in _kinds(_together(*parts), 0.5, 30)


def test_an_edge_that_comes_back_is_new_again() -> None:
    parts = [_run(0, 0, (A, B)), *(_run(n, n, (A, C)) for n in range(1, 5)), _run(5, 5, (A, B))]
    assert "new edge" in _kinds(_together(*parts), 4.5, 5.5)


def test_what_comes_back_has_the_reason_for_which_it_was_gone() -> None:
    daily = [_run(number, number, (A, B)) for number in range(5)]
    other = [_run(9, 9, (A, C), task="other")]
    records = _together(*daily, *other, _run(20, 20, (A, B)))
    changes = differences(_past(records, START + 9.5 * DAY), _past(records, START + 21 * DAY))
    again = "again: load last ran 5 Sep 2026, usually every day"
    assert [(str(change.change.kind), change.at, change.reason) for change in changes] == [
        ("new task", START + 20 * DAY, again),
        ("new edge", None, f"by load, {again}"),
    ]


@pytest.mark.parametrize(("pause", "gone"), [(2.9, False), (3.5, True)])
def test_a_task_is_gone_after_three_of_its_usual_intervals(pause: float, gone: bool) -> None:
    daily = [_run(number, number, (A, B)) for number in range(5)]
    other = _run(9, 4 + pause, (A, C), task="other")
    kinds = _kinds(_together(*daily, other), 4.5, 30)
    assert ("gone task" in kinds) == gone
    assert ("gone edge" in kinds) == gone


def test_a_task_that_paused_as_long_before_is_not_gone() -> None:
    days = [0, 1, 2, 9, 10, 11]
    weekly = [_run(number, day, (A, B)) for number, day in enumerate(days)]
    other = _run(9, 17, (A, C), task="other")
    assert "gone task" not in _kinds(_together(*weekly, other), 11.5, 30)


def test_no_task_is_gone_because_logs_are_not_collected_any_more() -> None:
    daily = [_run(number, number, (A, B)) for number in range(5)]
    assert _kinds(_together(*daily), 4.5, 400) == []


def test_a_dropped_dataset_is_gone_with_its_edges_and_the_task_that_dropped_it() -> None:
    at = START + 2 * DAY
    drop = Access(
        *("clean", "c1", B, Kind.TABLE, Direction.WRITE, Operation.DROP, "drop"),
        first_at=at,
        last_at=at,
    )
    records = _together(_run(0, 0, (A, B)), Records((drop,)))
    found = differences(_past(records, START + DAY), _past(records, START + 3 * DAY))
    assert [(difference.change.kind, difference.reason) for difference in found] == [
        ("gone dataset", "dropped by clean"),
        ("new task", ""),
        ("gone edge", "spark/shop.b was dropped 3 Sep 2026"),
    ]
    assert {difference.at for difference in found} == {at}


def test_an_edge_that_another_task_carries_now_is_no_new_edge() -> None:
    parts = [_run(n, n, (A, B)) for n in range(3)]
    parts += [_run(n, n, (A, C)) for n in range(3, 7)]
    parts += [_run(n, n, (A, B), task="other") for n in range(3, 7)]
    before, now = (_past(_together(*parts), START + day * DAY) for day in (2.5, 7))
    [change] = [
        difference.change
        for difference in differences(before, now)
        if difference.change.kind is ChangeKind.OTHER_TASKS
    ]
    assert (change.dataset, change.other, change.before, change.now) == (A, B, "load", "other")


def test_a_renamed_dataset_is_neither_new_nor_gone() -> None:
    at = START + 2 * DAY
    rename = [
        Access(
            *("clean", "c1", dataset, Kind.TABLE, side, Operation.RENAME, "rename"),
            first_at=at,
            last_at=at,
        )
        for dataset, side in ((B, Direction.READ), (C, Direction.WRITE))
    ]
    records = _together(_run(0, 0, (A, B)), Records(tuple(rename)))
    before, now = (_past(records, START + day * DAY) for day in (1, 3))
    assert [difference.change for difference in differences(before, now)] == [
        Change(ChangeKind.RENAMED_DATASET, B, C),
        Change(ChangeKind.NEW_TASK, name="clean"),
    ]


@for_each(
    "first, reason",
    [
        (Operation.CREATE_TABLE_AS, ""),
        (Operation.INSERT, "or used for the first time: no log before names all columns"),
    ],
)
def test_a_column_is_new_for_certain_where_all_columns_were_known(
    first: Operation, reason: str
) -> None:
    changes = _column_differences(first, Operation.INSERT)
    assert [(change.change.name, change.reason) for change in changes] == [("z", reason)]


@pytest.mark.parametrize(("operation", "expected"), [
    (Operation.CREATE_TABLE_AS, ["gone column", "new column"]),
    (Operation.INSERT, ["new column"]),
])  # fmt: skip
def test_columns_are_gone_where_a_table_is_made_without_them(
    operation: Operation, expected: list[str]
) -> None:
    changes = _column_differences(Operation.CREATE_TABLE_AS, operation)
    assert [str(difference.change.kind) for difference in changes] == expected


def _column_differences(first: Operation, second: Operation) -> tuple[Difference, ...]:
    """The differences from a table with x and y, after a statement that names x and z."""
    parts = []
    for number, (made, names) in enumerate(((first, "xy"), (second, "xz"))):
        run = _run(number, number, (A, B))
        at = START + number * DAY
        columns = tuple(map(Column, names))
        schema = Dataset(
            B, columns=columns, first_seen=at, last_seen=at, has_all_columns=made.defines
        )
        accesses = tuple(replace(one, operation=made) for one in run.accesses)
        known = (replace(schema, origin=f"log{number}"),)
        parts.append(replace(run, accesses=accesses, datasets=known))
    records = _together(*parts)
    return differences(_past(records, START + DAY / 2), _past(records, START + 1.5 * DAY))
