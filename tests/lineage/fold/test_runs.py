"""Folding: the lineage of what stays is that of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.entity_states import entity_states
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.run_group import RunGroup
from dbt_graft.lineage.fold.days import DayFigures, DayTotals, unsettled_days
from dbt_graft.lineage.fold.runs import fold
from dbt_graft.lineage.fold.scope import fold_scope
from dbt_graft.lineage.fold.settled import changing_keys, renames_settled, settled_keys
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.records import Records, Run
from tests.cases import for_each
from tests.lineage.histories import History, chance, history, joined_records, together

NEWEST = 4

RULES = [
    NameRules(),
    NameRules((NameRule("mssql://db/stage.*", "mssql://db/raw.*"),)),
    NameRules((NameRule("mssql://db/dm.x", "mssql://db/dm.y"),)),
    NameRules((NameRule("mssql://db/raw.b", "mssql://db/dm.swap"),)),
]


class Fold:
    """A fold that goes on from batch to batch, as a store keeps it."""

    def __init__(self) -> None:
        self.records = Records()
        self.days = DayTotals()
        self.keys: set[str] = set()
        self.namespaces: tuple[str, ...] = ()
        self.folds = 0

    def read(self, new: Sequence[dict[str, Records]]) -> Records | None:
        """Folded records and those since; None where the fold is of no use."""
        later = together(new)
        origins = {origin for batch in new for origin in batch}
        if not self.keys.isdisjoint(changing_keys(later, origins, self.namespaces)):
            return None
        gone = {(r.task, r.run_id) for r in self.records.runs if r.origin in origins}
        if not gone <= {(r.task, r.run_id) for r in later.runs}:
            return None
        records = joined_records([without(self.records, origins), later])
        return None if renames_settled(records, NameRules()) else records

    def go_on(self, records: Records) -> None:
        scope = fold_scope(records.runs, records.accesses)
        self.namespaces = scope.namespaces
        settled: list[RunGroup] = []
        self.records, days = fold(records, settled.append, newest=NEWEST)
        self.days.merge(days)
        for group in settled:
            self.keys.update(settled_keys(group, self.namespaces))
        self.folds += 1


def without(records: Records, origins: set[str]) -> Records:
    return replace(
        records,
        accesses=tuple(access for access in records.accesses if access.origin not in origins),
        runs=tuple(run for run in records.runs if run.origin not in origins),
        datasets=tuple(dataset for dataset in records.datasets if dataset.origin not in origins),
        column_edges=tuple(edge for edge in records.column_edges if edge.origin not in origins),
    )


def read_folded(found: History, random: Random) -> tuple[Fold, Records]:
    """The records of a history as a reader gets them whose store folds now and then."""
    state = Fold()
    since: list[dict[str, Records]] = []
    for number, batch in enumerate(found.batches):
        since.append(batch)
        records = state.read(since)
        if records is None:
            state, records = Fold(), together(found.batches[: number + 1])
            since = [*found.batches[: number + 1]]
        if random.random() < 0.5:
            state.go_on(records)
            since = []
    records = state.read(since)
    if records is None:
        return Fold(), together(found.batches)
    return state, records


def said(lineage: Lineage) -> dict[str, Any]:
    """All that a lineage says but for lists of runs; names as they are spelled."""
    return {
        "datasets": [
            (str(key), repr(replace(dataset, origin="")))
            for key, dataset in lineage.datasets.items()
        ],
        "tasks": {name: task_said(task) for name, task in lineage.tasks.items()},
        "flows": [repr(flow) for flow in lineage.flows],
        "edges": [repr(edge) for edge in lineage.column_edges],
        "aliases": repr(lineage.names.aliases),
        "former": repr(lineage.names.former),
        "definitions": repr(lineage.definitions),
        "shapes": dict(lineage.shapes),
        "orchestrated": dict(lineage.history.orchestrator_runs),
    }


# The lists of runs of a usage, of which folds leave the newest.
NO_RUNS: dict[str, Any] = dict.fromkeys(("run_ids", "run_rows", "failed_runs", "idle_runs"), ())


def task_said(task: Task) -> dict[str, Any]:
    by_usage = {
        str(usage): runs_said(task, task.runs_of(found))
        for found in task.usages
        if (usage := repr(replace(found, **NO_RUNS)))
    }
    rows = [
        sorted(
            (run_id, counted)
            for run_id, counted in zip(usage.run_ids, usage.run_rows, strict=False)
            if run_id in {run.run_id for run in task.runs_of(usage)[:NEWEST]}
        )
        for usage in task.usages
    ]
    return {
        "engines": task.engines,
        "usages": by_usage,
        "rows": rows if any(any(one is not None for _, one in row) for row in rows) else [],
        "runs": runs_said(task, task.runs),
        "failed": task.count([run for run in task.runs if run.status == "failed"]),
    }


def runs_said(task: Task, runs: Sequence[Run]) -> tuple[int, list[str]]:
    return task.count(runs), [repr(run) for run in runs[:NEWEST]]


def counted(lineage: Lineage) -> dict[str, Any]:
    """All that a lineage says but for single runs."""
    return {**said(lineage), "tasks": {name: counts(task) for name, task in lineage.tasks.items()}}


def counts(task: Task) -> dict[str, Any]:
    return {
        "engines": task.engines,
        "usages": {
            repr(replace(usage, **NO_RUNS)): task.count(task.runs_of(usage))
            for usage in task.usages
        },
        "runs": task.count(task.runs),
        "failed": task.count([run for run in task.runs if run.status == "failed"]),
    }


def days_of(records: Records, state: Fold | None = None) -> DayFigures:
    totals = DayTotals()
    if state:
        totals.merge(state.days.figures())
    totals.merge(unsettled_days(records))
    return totals.figures()


def dated_states(lineage: Lineage) -> dict[str, Any]:
    """The states of all datasets whose dates are known, but for lists of runs."""
    past = AccessHistory(lineage)
    states = [entity_states(past, dataset) for dataset in lineage.datasets]
    return {
        str(state.dataset): repr(replace(state, last_runs={})) for state in states if state.is_dated
    }


@pytest.mark.parametrize("variant", ["plain", "rare", "events", "dated"])
@for_each("first_seed", range(0, 250, 5), quick=1)
def test_the_lineage_of_folded_and_new_records_is_that_of_all(
    variant: str, first_seed: int
) -> None:
    for seed in range(first_seed, first_seed + 5):
        found = history(
            seed,
            runs=50 if seed % 8 else 200,
            rare=variant == "rare",
            events=variant == "events",
            dated=variant == "dated",
        )
        state, records = read_folded(found, chance(seed))
        whole = together(found.batches)
        assert days_of(records, state) == days_of(whole), seed
        if variant == "dated":
            assert dated_states(build(records)) == dated_states(build(whole)), seed
        for number, rules in enumerate(RULES):
            if not renames_settled(records, rules):
                assert said(build(records, rules)) == said(build(whole, rules)), (seed, number)
