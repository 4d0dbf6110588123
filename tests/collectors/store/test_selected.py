"""Reading the runs of some tasks: the answers are those of reading everything."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import bad_runs
from dbt_graft.analysis.dates.entity_states import entity_states
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.analysis.dates.tasks_around import tasks_of_states, tasks_of_taint
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.fold.read import read_folded
from dbt_graft.collectors.store.read import read
from dbt_graft.collectors.store.selected import read_selected, tasks_of_runs
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.model import Lineage
from tests.collectors.store.fold.test_write import fill
from tests.lineage.fold.test_runs import said
from tests.lineage.histories import chance, history

SEEDS = (2, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (3, 4)))


@cache
def every_run(place: Path) -> Lineage:
    return build(read(str(place), folded=False))


@cache
def selected(place: Path, tasks: frozenset[str]) -> Lineage:
    return build(read_selected(str(place), tasks))


@pytest.fixture(scope="module", params=SEEDS)
def seed(request: pytest.FixtureRequest) -> int:
    """The number of a random history."""
    number: int = request.param
    return number


@pytest.fixture(scope="module", params=["plain", "rare", "events"])
def place(
    request: pytest.FixtureRequest, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A store with a random history, folded now and then."""
    folder = tmp_path_factory.mktemp("store")
    variant = request.param
    found = history(2000 + seed, rare=variant == "rare", events=variant == "events")
    fill(folder, found, chance(seed))
    return folder


def test_the_lineage_is_that_of_all_and_tasks_that_are_named_have_all_runs(place: Path) -> None:
    wanted = every_run(place)
    for name, task in wanted.tasks.items():
        lineage = selected(place, frozenset({name}))
        assert said(lineage) == said(wanted)
        assert lineage.tasks[name].runs == task.runs
        assert accesses_of(lineage, name) == accesses_of(wanted, name)


def test_states_and_taints_are_those_of_all_runs(place: Path) -> None:
    wanted, folded = AccessHistory(every_run(place)), AccessHistory(build(read(str(place))))
    for dataset in wanted.lineage.datasets:
        selection = AccessHistory(selected(place, frozenset(tasks_of_states(folded, dataset))))
        assert entity_states(selection, dataset) == entity_states(wanted, dataset)
        runs = [wanted.execution(write) for write in wanted.writes(dataset)[:1]]
        tasks = {task for task, _ in runs}
        around = tasks | tasks_of_taint(folded, folded.written_by(tasks))
        assert tainted(AccessHistory(selected(place, frozenset(around))), runs) == tainted(
            wanted, runs
        )


def test_the_tasks_of_runs_are_found_by_their_ids(place: Path) -> None:
    lineage = every_run(place)
    for name, task in lineage.tasks.items():
        if task.runs:
            assert name in tasks_of_runs(str(place), [task.runs[-1].run_id])
    assert tasks_of_runs(str(place), ["no such run"]) == set()


@pytest.mark.parametrize("place", ["plain"], indirect=True)
def test_a_store_of_these_is_folded(place: Path) -> None:
    folded = read_folded(open_store(str(place)))
    assert folded is not None
    assert folded.records.run_repeats


def accesses_of(lineage: Lineage, task: str) -> list[str]:
    return sorted(repr(access) for access in lineage.history.accesses if access.task == task)


def tainted(history: AccessHistory, runs: list[tuple[str, str]]) -> Any:
    taint = spread(history, bad_runs(history, runs))
    return taint.tainted, taint.causes, dict(taint.runs), taint.superseded, taint.reads
