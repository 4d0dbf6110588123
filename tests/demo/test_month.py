"""The demo's month of partitioned tables: dates, mappings, kinds and taints, worked out by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.store import door as store
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.dates.period import Period
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Access, Direction, Records

pytest.importorskip("dbt_graft.analysis.dates.taint")

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import bad_dates, last_good_run
from dbt_graft.analysis.dates.dataset_dates import dataset_kind
from dbt_graft.analysis.dates.entity_states import entity_states
from dbt_graft.analysis.dates.taint import Taint, spread
from dbt_graft.analysis.dates.taint_plan import taint_plan
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates, dates_of
from dbt_graft.lineage.dates.date_text import parse_dates

pytestmark = pytest.mark.demo

Expected = dict[str, Any]
TAINTS = ["the halved day", "the day of the crawler"]


@pytest.fixture(scope="module")
def month(expected: Expected) -> Expected:
    """The month of EXPECTED.yml."""
    section: Expected = expected["month"]
    return section


@pytest.fixture(scope="module")
def records(root: Path, month: Expected) -> Records:
    """The records of the store, with the month's tasks."""
    config = load(root / "dbt_project/graft.yml")
    found = store.read(config.path(config.store))
    if not any(access.task in month["tasks"] for access in found.accesses):
        pytest.skip("the demo's store is empty: run `make docs` first")
    return found


@pytest.fixture(scope="module")
def lineage(root: Path, records: Records) -> Lineage:
    """The demo's lineage."""
    assert records.accesses
    config = load(root / "dbt_project/graft.yml")
    return Project(config).grafted(LineageView(results=False)).lineage


@pytest.fixture(scope="module")
def history(lineage: Lineage) -> AccessHistory:
    """Its accesses with their dates."""
    return AccessHistory(lineage)


@pytest.fixture(scope="module", params=range(len(TAINTS)), ids=TAINTS)
def taint(
    request: pytest.FixtureRequest, month: Expected, history: AccessHistory
) -> tuple[Expected, Taint]:
    """A taint of EXPECTED.yml, and what it is by the history."""
    expected = month["taints"][request.param]
    bad = bad_dates(history, parse_dataset_id(expected["dataset"]), _dates(expected["dates"]))
    return expected, spread(history, bad)


def _dates(text: object) -> Dates:
    return ALL_DATES if text == "all dates" else parse_dates(str(text))


def _at_minute(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%dT%H:%M}" if moment else ""


def _all(periods: Iterable[tuple[Period, ...]]) -> Dates:
    dates = NO_DATES
    for period in periods:
        dates |= dates_of(period)
    return dates


def test_each_task_ran_as_often(records: Records, month: Expected) -> None:
    runs = [run.task for run in records.runs if run.task in month["tasks"]]
    assert {task: runs.count(task) for task in month["tasks"]} == {
        task: one["runs"] for task, one in month["tasks"].items()
    }


def test_runs_read_and_write_the_dates_of_expected(lineage: Lineage, month: Expected) -> None:
    by_run: dict[tuple[str, str], list[Access]] = defaultdict(list)
    starts = {
        (run.task, run.run_id): _at_minute(run.started_at)
        for task in lineage.tasks.values()
        for run in task.runs
    }
    for access in lineage.history.accesses:
        if access.periods and (start := starts.get((access.task, access.run_id))):
            by_run[access.task, start].append(access)
    for period in month["periods"]:
        for side, direction in (("reads", Direction.READ), ("writes", Direction.WRITE)):
            found: dict[DatasetId, list[tuple[Period, ...]]] = defaultdict(list)
            for access in by_run[period["task"], period["at"]]:
                if access.direction is direction:
                    found[access.dataset].append(access.periods)
            dates = {str(dataset): _all(periods) for dataset, periods in found.items()}
            expected = {dataset: _dates(text) for dataset, text in period[side].items()}
            assert dates == expected, (period["task"], period["at"], side)


def test_mappings_are_those_of_expected(
    history: AccessHistory, lineage: Lineage, month: Expected
) -> None:
    edges = {(str(flow.source), str(flow.target)): flow for flow in lineage.flows}
    for one in month["mappings"]:
        flow = edges[one["from"], one["to"]]
        mapping = history.mapping((flow.task, flow.source, flow.target))
        found = str(mapping), mapping.agreeing, mapping.of
        assert found == (one["is"], one["agreeing"], one["of"]), one["to"]


def test_kinds_are_those_of_expected(history: AccessHistory, month: Expected) -> None:
    kinds = {name: dataset_kind(history, parse_dataset_id(name)) for name in month["kinds"]}
    assert kinds == month["kinds"]


def test_states_are_those_of_expected(history: AccessHistory, month: Expected) -> None:
    october = _dates("2026-10")
    for name, expected in month["states"].items():
        states = entity_states(history, parse_dataset_id(name)).dates_by_state(october)
        found = {str(state): dates for state, dates in states.items() if dates}
        assert found == {state: _dates(text) for state, text in expected.items()}, name


def test_the_tainted_dates_are_those_of_expected(taint: tuple[Expected, Taint]) -> None:
    expected, found = taint
    tainted: dict[str, dict[str, Dates]] = defaultdict(dict)
    for (task, dataset), dates in found.tainted.items():
        tainted[task][str(dataset)] = dates
    assert tainted == {
        task: {name: _dates(text) for name, text in outputs.items()}
        for task, outputs in expected["tainted"].items()
    }


def test_those_who_read_them_are_those_of_expected(
    taint: tuple[Expected, Taint], lineage: Lineage
) -> None:
    expected, found = taint
    readers: dict[str, dict[str, Dates]] = defaultdict(dict)
    for (task, dataset), read in found.reads.items():
        if lineage.tasks[task].only_reads:
            readers[task][str(dataset)] = read.dates
    assert readers == {
        task: {name: _dates(text) for name, text in inputs.items()}
        for task, inputs in expected["readers"].items()
    }


def test_what_was_written_again_is_no_longer_bad(taint: tuple[Expected, Taint]) -> None:
    expected, found = taint
    again: dict[str, dict[str, Dates]] = defaultdict(dict)
    for one in found.superseded:
        task, dataset = one.output
        again[task][str(dataset)] = again[task].get(str(dataset), NO_DATES) | one.dates
    assert again == {
        task: {name: _dates(text) for name, text in outputs.items()}
        for task, outputs in expected["superseded"].items()
    }


def test_the_last_good_and_the_first_bad_run(
    taint: tuple[Expected, Taint], history: AccessHistory
) -> None:
    expected, _ = taint
    bad = bad_dates(history, parse_dataset_id(expected["dataset"]), _dates(expected["dates"]))
    good = last_good_run(history, bad)
    runs = {
        (task.name, run.run_id): _at_minute(run.started_at)
        for task in history.lineage.tasks.values()
        for run in task.runs
    }
    assert good
    assert runs[history.execution(good)] == expected["last_good_run"]
    assert [runs[one.execution] for one in bad] == [expected["first_bad_run"]]


def test_the_plan_has_the_tasks_in_an_order_in_which_they_can_run(
    taint: tuple[Expected, Taint], history: AccessHistory, month: Expected
) -> None:
    expected, found = taint
    bad = bad_dates(history, parse_dataset_id(expected["dataset"]), _dates(expected["dates"]))
    plan = taint_plan(history, bad, found)
    names = [rerun.name for rerun in plan.reruns]
    assert sorted(names) == sorted(expected["tainted"])
    levels = {task: number for number, tasks in enumerate(month["levels"]) for task in tasks}
    assert [levels[name] for name in names] == sorted(levels[name] for name in names)
    assert {report.name for report in plan.reports} == set(expected["readers"])
