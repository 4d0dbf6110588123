"""Runs of each kind in events that real Airflow wrote: by the clock, by hand, backfilled, of an
asset; of a deferred task, and of a mapped one whose second instance fails.

`airflow/runs-*.ndjson` has the events without what is not about runs. The DAGs: `orders` is
`wait >> load >> part >> after`, daily; `report` runs when `load` has written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.analysis.history.dag_runs import DagRun, dag_runs
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Direction
from tests.collectors.openlineage.events import (
    FLOW,
    IN,
    OUT,
    Document,
    event,
    flows,
    parent,
    records,
    records_in,
    results_of,
)
from tests.lineage.shown_periods import shown

EVENTS = Path(__file__).with_name("airflow")
PARTS = {"part[0]": "ok", "part[1]": "failed", "part[2]": "ok"}
BEFORE = {"wait": "ok", "load": "ok"}
# Version -> beginning of a run's id -> its state, its date, and the states of its tasks.
RUNS: dict[str, dict[str, tuple[str, str, dict[str, str]]]] = {
    "3.3": {
        # The trigger of the deferred task had no answer in time: it never started.
        "scheduled__": ("failed", "2026-11-26", {"wait": "failed"}),
        # No logical date: it is for no date.
        "manual__": ("failed", "", {**BEFORE, **PARTS}),
        "backfill__": ("failed", "2026-10-03", {**BEFORE, **PARTS}),
        "asset_triggered__": ("ok", "", {"count": "ok"}),
    },
    "2.11": {
        "scheduled__2026-11-25": (
            "ok",
            "2026-11-25",
            {**BEFORE, "part[0]": "ok", "part[1]": "ok", "part[2]": "ok", "after": "ok"},
        ),
        # The backfill ended with the second part; its DAG sends no end.
        "backfill__": ("failed", "2026-10-03", {**BEFORE, "part[0]": "ok", "part[1]": "failed"}),
        # Those of the run whose task wrote the dataset.
        "dataset_triggered__2026-11-26T09:36": ("ok", "2026-11-25", {"count": "ok"}),
        "dataset_triggered__2026-11-26T09:42": ("ok", "2026-10-03", {"count": "ok"}),
    },
}
# Version -> the dates of raw.orders and of report.counts that runs wrote.
WRITTEN = {
    "3.3": {
        "load": [[], ["2026-10-03 2026-10-04 day interval"]],
        "count": [[]],
    },
    "2.11": {
        "load": [
            ["2026-10-03 2026-10-04 day interval"],
            ["2026-11-25 2026-11-26 day interval"],
        ],
        "count": [
            ["2026-10-03 2026-10-04 day interval"],
            ["2026-11-25 2026-11-26 day interval"],
        ],
    },
}


@pytest.fixture(scope="module", params=list(RUNS))
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def lineage(version: str) -> Lineage:
    return build(records(results_of(EVENTS / f"runs-{version}.ndjson")))


def state(run: DagRun) -> tuple[str, str, dict[str, str]]:
    return run.status.value, run.date, {name: one.status.value for name, one in run.tries.items()}


def test_each_run_has_its_state_its_date_and_its_tasks(version: str, lineage: Lineage) -> None:
    expected = RUNS[version]
    runs = {run.name: state(run) for run in dag_runs(lineage.history.orchestrator_runs)}
    begins = {name: begin for name in runs for begin in expected if name.startswith(begin)}
    assert {begins.get(name, name): run for name, run in runs.items()} == expected


def test_what_a_run_did_not_get_to_is_a_task_not_its_instances(lineage: Lineage) -> None:
    """Of Airflow 2 there is a good run before the failed one."""
    missing = {run.name: [*run.missing] for run in dag_runs(lineage.history.orchestrator_runs)}
    assert {name: tasks for name, tasks in missing.items() if tasks} in (
        {},
        {"backfill__2026-10-03T00:00:00+00:00": ["after"]},
    )


def test_writes_are_of_the_date_that_a_run_is_for(version: str, lineage: Lineage) -> None:
    found = {
        task: sorted(
            shown(access.periods)
            for access in lineage.history.accesses
            if access.task == task and access.direction is Direction.WRITE
        )
        for task in ("load", "count")
    }
    assert found == WRITTEN[version]


def _run(job: str, run: int, above: int, **facets: object) -> list[Document]:
    """The events of one run in Airflow; `shop` is the DAG."""
    part_of = parent(above, "shop" if above == 1 else "shop.load_orders") if above else {}
    return [
        event(state, job, run, by="airflow", run_facets={**part_of, **facets})
        for state in ("START", "COMPLETE")
    ]


def _query(number: int, state: str, output: str) -> list[Document]:
    """The events of a query that a hook of `load_orders` ran, as the provider writes them."""
    facets = {"jobType": {"jobType": "QUERY", "integration": "AIRFLOW"}}
    return [
        event(
            *(each, f"shop.load_orders.query.{number}", 2 + number),
            by="airflow",
            inputs=[IN],
            outputs=[output],
            run_facets=parent(2, "shop.load_orders"),
            job_facets=facets,
        )
        for each in ("START", state)
    ]


def test_a_query_of_a_task_is_part_of_the_tasks_run(tmp_path: Path) -> None:
    run = {"dag": {"dag_id": "shop"}, "dagRun": {"run_id": "manual__1"}}
    joined = build(
        records_in(
            tmp_path,
            [
                *_run("shop", 1, 0, airflowDagRun=run),
                *_run(
                    "shop.load_orders", 2, 1, airflow={**run, "task": {"task_id": "load_orders"}}
                ),
                *_query(1, "COMPLETE", OUT),
                *_query(2, "FAIL", "spark raw.failed"),
            ],
        )
    )
    assert flows(joined) == [FLOW]
    assert [len(task.runs) for task in joined.tasks.values()] == [1]
    [dag_run] = dag_runs(joined.history.orchestrator_runs)
    assert state(dag_run)[2] == {"load_orders": "ok"}


def test_a_task_with_the_name_of_its_dag_is_a_run_of_its_own(tmp_path: Path) -> None:
    run = {"dag": {"dag_id": "shop"}, "dagRun": {"run_id": "manual__1"}}
    task = _run("shop.shop", 2, 1, airflow={**run, "task": {"task_id": "shop"}})
    task[-1]["outputs"] = [{"namespace": "spark", "name": "raw.orders"}]
    joined = build(records_in(tmp_path, [*_run("shop", 1, 0, airflowDagRun=run), *task]))
    assert {task_run.run_id for task_run in joined.tasks["shop"].runs} == {task[0]["run"]["runId"]}
