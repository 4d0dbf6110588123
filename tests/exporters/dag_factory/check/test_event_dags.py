"""DAGs from Airflow's OpenLineage events."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.analysis.finding import Severity
from dbt_graft.exporters.dag_factory.check.compare import compare
from dbt_graft.exporters.dag_factory.check.event_dags import event_dags
from tests.exporters.dag_factory.orders import matcher_of, order_of

CRON = {"timetable": {"expression": "0 5 * * *"}, "timetable_summary": "0 5 * * *"}
ASSET = {
    "timetable": {"asset_condition": {"__type": "asset_all", "objects": [{"uri": "x://raw"}]}},
    "timetable_summary": "Asset",
}


def task_event(
    task: str, upstream: str = "[]", dag: str = "shop", at: str = "1", **facts: Any
) -> dict[str, Any]:
    schedule = facts.pop("schedule", CRON)
    code = facts.pop("code", None)
    own = {"task_id": task, "upstream_task_ids": upstream, **facts}
    return {
        "eventTime": f"2026-11-01T00:00:0{at}Z",
        "job": {"facets": {"sourceCode": {"sourceCode": code}} if code else {}},
        "run": {
            "facets": {
                "airflow": {
                    "dag": {"dag_id": dag, "fileloc": f"/dags/{dag}.py", **schedule},
                    "task": own,
                }
            }
        },
    }


def dag_event(
    dag: str, tasks: dict[str, list[str]], at: str = "1", after: str = ""
) -> dict[str, Any]:
    upstream = [{"job": {"namespace": "airflow", "name": after}}] if after else []
    return {
        "eventTime": f"2026-11-01T00:00:0{at}Z",
        "job": {
            "facets": {
                "airflow": {
                    "tasks": {name: {"downstream_task_ids": task} for name, task in tasks.items()}
                }
            }
        },
        "run": {
            "facets": {
                "airflowDagRun": {"dag": {"dag_id": dag, **CRON}},
                "jobDependencies": {"upstream": upstream},
            }
        },
    }


def texts(*events: Any) -> list[str]:
    order = order_of("load: -> raw", "dbt stg_orders: raw -> stg", "report: stg ->")
    findings = compare(order, event_dags(events), matcher_of(order))
    return [
        f"{finding.place}: {finding.subject} {finding.problem}"
        for finding in findings
        if finding.severity is Severity.WARNING
    ]


def test_the_start_of_a_dag_s_run_has_all_its_tasks() -> None:
    right = {"load": ["m.stg_orders"], "m.stg_orders": ["report"], "report": []}
    assert texts(dag_event("shop", right)) == []
    assert texts(dag_event("shop", {**right, "load": []})) == [
        ": shop.m.stg_orders does not wait for load, its writer"
    ]


def test_tasks_events_alone_are_enough() -> None:
    wrong = [
        task_event("load", "['stg_orders']"),
        task_event("stg_orders"),
        task_event("report", "['load']"),
    ]
    assert texts(*wrong) == ["/dags/shop.py: shop.stg_orders runs before load, its writer"]
    right = [
        task_event("load"),
        task_event("stg_orders", "['load']"),
        task_event("report", "['stg_orders']"),
    ]
    assert texts(*right) == []


def test_the_newest_of_a_dag_counts_in_whatever_order_events_come() -> None:
    old = dag_event("shop", {"load": [], "stg_orders": ["report"], "report": [], "gone": []}, "1")
    new = dag_event("shop", {"load": ["stg_orders"], "stg_orders": ["report"], "report": []}, "2")
    assert texts(old, new, task_event("gone")) == texts(new, task_event("gone"), old) == []
    (dag,) = event_dags([old, new, task_event("gone")])
    assert [task.task_id for task in dag.tasks] == ["load", "report", "stg_orders"]


def test_dags_are_ordered_by_assets_and_by_what_started_them() -> None:
    rest = [task_event("stg_orders", dag="rest"), task_event("report", "['stg_orders']", "rest")]
    outlets = "[{'uri': 'x://raw', 'extra': {}, 'type': 'asset'}]"
    assert len(texts(task_event("load"), *rest)) == 1
    assert "only by the clock" in texts(task_event("load"), *rest)[0]
    by_asset = [
        task_event("stg_orders", dag="rest", schedule=ASSET),
        task_event("report", "['stg_orders']", "rest", schedule=ASSET),
    ]
    assert texts(task_event("load", outlets=outlets), *by_asset) == []
    either = [{"__type": "asset", "uri": uri} for uri in ("x://raw", "x://other")]
    by_any = {"timetable": {"asset_condition": {"__type": "asset_any", "objects": either}}}
    by_clock = {"timetable": {**ASSET["timetable"], "timetable": {"expression": "0 5 * * *"}}}
    for schedule in (by_any, by_clock):
        loose = [
            task_event("stg_orders", dag="rest", schedule=schedule),
            task_event("report", "['stg_orders']", "rest", schedule=schedule),
        ]
        assert len(texts(task_event("load", outlets=outlets), *loose)) == 1
    started = dag_event("rest", {"stg_orders": ["report"], "report": []}, after="shop.load")
    assert texts(task_event("load"), started) == []
    sensor = task_event("wait", dag="rest", external_dag_id="shop", external_task_id="load")
    waiting = [sensor, task_event("stg_orders", "['wait']", "rest"), rest[1]]
    assert texts(task_event("load"), *waiting) == []


@pytest.mark.parametrize(
    ("task", "inputs"),
    [
        ("wait", [{"namespace": "spark", "name": "raw"}]),
        ("wait_for_raw", []),
        ("g.wait_for_raw", 1),
    ],
)
def test_a_sensor_on_lineage_makes_an_order(task: str, inputs: Any) -> None:
    sensor = task_event(task, dag="rest", operator_class="LineageSensor") | {"inputs": inputs}
    rest = [
        task_event("stg_orders", f"['{task}']", "rest"),
        task_event("report", "['stg_orders']", "rest"),
    ]
    assert texts(task_event("load"), sensor, *rest) == []


def test_what_dbt_selects_is_read_from_the_start_and_never_shown() -> None:
    code = "dbt run --select stg_orders --vars 'password: hunter2'"
    start = task_event("nightly", "['load']", code=code, at="1")
    done = task_event("nightly", "['load']", at="2")
    report = task_event("report", "['nightly']")
    assert texts(task_event("load"), start, done, report) == []
    wrong = texts(task_event("load"), task_event("nightly", code=code), report)
    assert wrong == ["/dags/shop.py: shop.nightly does not wait for load, its writer"]


def test_foreign_and_damaged_events_are_passed_over() -> None:
    odd: list[Any] = [None, 3, [], {}, {"run": 1}, {"run": {"facets": {"airflow": {"dag": 1}}}}]
    odd.append(task_event("load", "['unclosed", outlets="[__import__('os')]", at="3"))
    odd.append(dag_event("x", {"a": "nothing"}))  # type: ignore[dict-item]
    dags = {dag.dag_id: dag for dag in event_dags(odd)}
    assert [task.task_id for task in dags["shop"].tasks] == ["load"]
    assert dags["shop"].tasks[0].announces == ()
