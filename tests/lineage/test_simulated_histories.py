"""Simulated warehouses: what is bad, or incomplete, in truth is never called clean or completed."""

from __future__ import annotations

from collections import Counter
from random import Random

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import bad_dates, bad_runs
from dbt_graft.analysis.dates.entity_states import EntityState, entity_states, unmapped_inputs
from dbt_graft.analysis.dates.reached_dates import reached_dates
from dbt_graft.analysis.dates.taint import Taint, spread
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates, dates_between
from tests.cases import for_each
from tests.lineage.simulated_histories import ALWAYS, Content, Unit, Warehouse, warehouse

HISTORIES = 1_000
_GROUP = 8


def dates(unit: Unit) -> Dates:
    return ALL_DATES if unit == ALWAYS else dates_between(*unit)


def certain(taint: Taint, dataset: DatasetId) -> Dates:
    found = NO_DATES
    for (_, named), of_output in taint.certain.items():
        found |= of_output if named == dataset else NO_DATES
    return found


@for_each("group", range(HISTORIES // _GROUP), quick=1)
def test_what_is_bad_in_truth_is_bad_or_may_be(group: int) -> None:
    counted = Counter[str]()
    for seed in range(group * _GROUP, (group + 1) * _GROUP):
        random = Random(seed)  # noqa: S311
        built = warehouse(random)
        loads = [run for run in built.plan if run.job.source == "outside" and not run.failed]
        bad = {run.run_id: run.job.name for run in random.sample(loads, random.randint(1, 3))}
        built.run({*bad})
        history = AccessHistory(build(built.records()))
        taint = spread(history, bad_runs(history, [(task, run) for run, task in bad.items()]))
        for name, table in built.tables.items():
            counted[_compare(seed, DatasetId("wh", name), table, taint)] += 1
    assert counted["equal"] > 4 * counted["may be"]


@for_each("group", range(HISTORIES // _GROUP), quick=1)
def test_what_is_made_of_dates_that_change_is_reached(group: int) -> None:
    counted = Counter[str]()
    for seed in range(group * _GROUP, (group + 1) * _GROUP):
        random = Random(seed)  # noqa: S311
        built = warehouse(random)
        source = "days" if any(run.job.source == "days" for run in built.plan) else "hours"
        loads = [run for run in built.plan if run.job.target == source and not run.failed]
        units = sorted({unit for run in loads for unit in run.units})
        first = random.randrange(len(units))
        changed = units[first : first + random.randint(1, 3)]
        built.run(set(), {(source, unit) for unit in changed})
        history, named = AccessHistory(build(built.records())), DatasetId("wh", source)
        window = dates_between(changed[0][0], changed[-1][1])
        reached = reached_dates(history, named, window, ChangeType.ROWS)
        wrong = reached_dates(history, named, window, ChangeType.DATA_INCORRECT)
        taint = spread(history, bad_dates(history, named, window))
        for name, table in built.tables.items():
            dataset = DatasetId("wh", name)
            called, truth = reached.of([dataset]), _bad_dates(table)
            assert called.covers(truth), (seed, dataset, truth - called)
            assert wrong.of([dataset]) == taint.of_dataset(dataset)
            assert called.covers(wrong.of([dataset]))
            counted["equal" if called == truth else "wider"] += 1
    assert counted["equal"] > 3 * counted["wider"]


def _bad_dates(table: dict[Unit, Content]) -> Dates:
    truth = NO_DATES
    for unit, content in table.items():
        truth |= dates(unit) if content.bad else NO_DATES
    return truth


def _compare(seed: int, dataset: DatasetId, table: dict[Unit, Content], taint: Taint) -> str:
    """The difference of what is called bad of a table and what is."""
    truth = _bad_dates(table)
    called, sure = taint.of_dataset(dataset), certain(taint, dataset)
    assert called.covers(truth), (seed, dataset, truth - called)
    assert truth.covers(sure), (seed, dataset, sure - truth)
    return "equal" if called == truth else "may be"


@for_each("group", range(HISTORIES // _GROUP), quick=1)
def test_what_is_incomplete_in_truth_is_not_completed(group: int) -> None:
    counted = Counter[str]()
    for seed in range(group * _GROUP, (group + 1) * _GROUP):
        built: Warehouse = warehouse(Random(seed))  # noqa: S311
        built.run(set())
        history = AccessHistory(build(built.records()))
        for name, table in built.tables.items():
            dataset = DatasetId("wh", name)
            states = entity_states(history, dataset)
            if not states.is_dated:
                continue
            is_mapped = not unmapped_inputs(history, dataset)
            called = states.dates_by_state(ALL_DATES)[EntityState.COMPLETED]
            for unit, content in table.items():
                is_called = called.covers(dates(unit))
                assert content.complete or not is_called, (seed, dataset, unit)
                if is_mapped:
                    counted[f"{content.complete} {is_called}"] += 1
    assert counted["True True"] > 4 * counted["True False"]
