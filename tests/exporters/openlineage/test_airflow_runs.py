"""Events after the fact: under the run ids and jobs that Airflow itself has."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.openlineage.event import read_event
from dbt_graft.collectors.openlineage.jobs import job_of
from dbt_graft.exporters.openlineage.airflow_runs import AirflowRun, airflow_events, airflow_run_of
from dbt_graft.exporters.openlineage.events import EventSelection, event_key
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.records import Run, Status
from tests.cases import for_each
from tests.exporters.openlineage.conformance import complaints
from tests.exporters.openlineage.shop import DAG_RUN, NIGHT, TASK_INSTANCE, records, snapshot

SAMPLES = Path(__file__).resolve().parents[4] / "shared/samples/openlineage/events"
COMPUTED = "01a19467-e800-763a-bbc9-7f14e359d112"


def made_events(**changes: Any) -> list[Any]:
    made = airflow_events(snapshot(**changes))
    return [orjson.loads(orjson.dumps(one.event)) for one in made]


def test_a_run_s_lineage_is_an_event_of_the_task_instance_that_did_it() -> None:
    (event,) = made_events()
    assert [text for text in complaints(event) if not text.startswith("graft: no schema")] == []
    assert event["run"]["runId"] == TASK_INSTANCE
    assert event["job"]["namespace"] == "airflow-shop"
    assert event["job"]["name"] == "shop.load"
    assert (event["eventType"], event["eventTime"]) == ("COMPLETE", "2026-11-22T02:01:00Z")
    assert [one["name"] for one in event["inputs"]] == ["landing/orders"]
    (output,) = event["outputs"]
    assert output["facets"]["columnLineage"]["fields"]["id"]
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 7


def test_airflow_s_own_facets_stay_as_airflow_emitted_them() -> None:
    (event,) = made_events()
    assert set(event["run"]["facets"]) == {"graft", "extractionError"}
    assert event["run"]["facets"]["graft"]["matchedBy"] == "run"
    assert set(event["job"]["facets"]) == {"jobType", "lineage", "sql"}


def test_what_is_read_again_is_a_task_of_airflow_too() -> None:
    (event,) = made_events()
    job = job_of(read_event(event))
    assert (job.engine, job.task, job.name) == ("airflow", "load", "airflow-shop/shop.load")


def test_a_task_that_failed_in_airflow_stays_failed() -> None:
    made = snapshot()
    runs = made.lineage.history.orchestrator_runs
    failed = replace(runs[TASK_INSTANCE], status=Status.FAILED)
    lineage = replace(
        made.lineage,
        history=replace(made.lineage.history, orchestrator_runs={**runs, TASK_INSTANCE: failed}),
    )
    assert [event["eventType"] for event in made_events(lineage=lineage)] == ["FAIL"]


def test_two_runs_that_one_task_of_airflow_started_are_one_event() -> None:
    (before,) = made_events()
    found = records()
    runs = [
        replace(run, parent_run_id=TASK_INSTANCE) if run.task == "daily" else run
        for run in found.runs
    ]
    lineage = build(replace(found, runs=tuple(runs)))
    (event,) = made_events(lineage=lineage)
    assert [one["name"] for one in event["inputs"]] == ["Shop.dbo.Orders", "landing/orders"]
    assert [output["name"] for output in event["outputs"]] == ["Shop.dbo.Daily", "Shop.dbo.Orders"]
    assert {entry["name"] for entry in event["job"]["facets"]["lineage"]["entries"]} == {
        *("Shop.dbo.Daily", "Shop.dbo.Orders")
    }
    assert event_key(event) != event_key(before), "what another log shows is news"
    later = {**before, "outputs": [{**output, "facets": {}} for output in before["outputs"]]}
    assert event_key(later) == event_key(before)


def test_only_since_a_time() -> None:
    wanted = EventSelection(since=NIGHT.replace(day=23))
    assert [*airflow_events(snapshot(), wanted)] == []
    assert [*airflow_events(snapshot(), EventSelection(tasks=["daily"]))] == []


@for_each(
    "parent, run_id, expected",
    [
        (None, "default/shop.raw.load/" + COMPUTED, ("default", "shop.raw.load")),
        ("prod/shop.raw.load/" + COMPUTED, "x", ("prod", "shop.raw.load")),
        ("kube://a/shop.raw.load/" + COMPUTED, "x", ("kube://a", "shop.raw.load")),
        (COMPUTED, "x", None),
        ("default/shop/" + COMPUTED, "x", None),
        ("//" + COMPUTED, "x", None),
        ("shop/raw.load/1/2026-11-01", "x", None),
        ("shop/raw.load/1/2026-13-01T00:00:00Z", "x", None),
        ("shop/raw.load/manual__2026-11-01T00:00:00+00:00", "x", None),
        (None, "app-20261101-0001", None),
    ],
)
def test_a_task_names_its_run_in_airflow(
    parent: str | None, run_id: str, expected: tuple[str, str] | None
) -> None:
    run = airflow_run_of(Run(run_id, "load", "spark", parent_run_id=parent), {})
    assert (run and tuple(run.job)) == expected
    assert run is None or str(run.run_id) == COMPUTED


def test_the_run_of_a_dag_is_none_of_a_task() -> None:
    runs = snapshot().lineage.history.orchestrator_runs
    assert airflow_run_of(Run("x", "x", "spark", parent_run_id=DAG_RUN), runs) is None
    dotted = replace(
        runs[DAG_RUN], job="airflow-shop/team.shop", application_id="team.shop/manual__1"
    )
    assert airflow_run_of(Run(DAG_RUN, "x", "spark"), {DAG_RUN: dotted}) is None


@pytest.mark.parametrize("file", ["airflow-3.3-dagfactory.jsonl", "airflow-2.11-dagfactory.jsonl"])
def test_a_run_id_made_of_dag_task_try_and_date_is_the_one_that_airflow_emitted(file: str) -> None:
    if not (SAMPLES / file).exists():
        pytest.skip("the samples of Airflow's events are not here")
    compared = 0
    for line in (SAMPLES / file).read_text().splitlines():
        event = orjson.loads(line)
        airflow = event["run"]["facets"].get("airflow")
        if airflow and "task" in airflow:
            date = airflow["dagRun"]["logical_date"]
            attempt, index = (airflow["taskInstance"].get(k) for k in ("try_number", "map_index"))
            name = f"{airflow['dag']['dag_id']}/{airflow['task']['task_id']}/{attempt}/{date}"
            assert index in (None, -1)
            run = airflow_run_of(Run(name, "x", "spark"), {}, event["job"]["namespace"])
            assert run
            assert str(run.run_id) == event["run"]["runId"]
            assert tuple(run.job) == (event["job"]["namespace"], event["job"]["name"])
            compared += 1
    assert compared > 2


def test_a_mapped_task_has_a_run_for_each_index() -> None:
    names = [f"shop/load/1/2026-11-01T00:00:00Z{suffix}" for suffix in ("", "/0", "/1")]
    found = {airflow_run_of(Run(name, "x", "spark"), {}) for name in names}
    assert len(found) == 3
    assert None not in found
    assert all(name and name.job.name == "shop.load" for name in found)


def test_what_is_not_known_of_a_run_in_airflow() -> None:
    run = airflow_run_of(Run("shop/load/1/2026-11-01T00:00:00Z", "x", "spark"), {})
    assert run
    assert run == AirflowRun(run.run_id, run.job, Status.UNKNOWN, None)
    assert run.run_id.version == 7
    assert datetime.fromtimestamp((run.run_id.int >> 80) / 1000, UTC).year == 2026
