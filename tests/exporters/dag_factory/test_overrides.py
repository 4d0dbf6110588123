"""Additions of people to exported DAGs."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.exporters.dag_factory.document import documents
from dbt_graft.exporters.dag_factory.overrides import added_tasks, override
from dbt_graft.exporters.dag_factory.planner import plan_dags
from tests.exporters.dag_factory.orders import SETTINGS, order_of

DOCUMENTS = documents(
    plan_dags(order_of("load: -> raw", "clean: raw -> x"), SETTINGS).dags, SETTINGS
)
NOTIFY = {"task_id": "notify", "operator": "my.Notify"}


def merged(**keys: Any) -> dict[str, Any]:
    """The DAG with these overrides, which are right."""
    dags, faults = override(DOCUMENTS, {"shop": keys})
    assert faults == []
    return dict(dags["shop"])


def tasks(**keys: Any) -> dict[str, dict[str, Any]]:
    return {task["task_id"]: task for task in merged(**keys)["tasks"]}


@pytest.mark.parametrize(
    ("keys", "name", "expected"),
    [
        pytest.param({"catchup": True}, "catchup", True, id="a value is replaced"),
        pytest.param({"tags": ["erp"]}, "tags", ["erp"], id="a key is added"),
        pytest.param({"max_active_runs": None}, "max_active_runs", None, id="null takes it out"),
        pytest.param(
            {"default_args": {"pool": "erp"}},
            "default_args",
            {"start_date": "2024-01-01", "pool": "erp"},
            id="mappings are merged",
        ),
    ],
)
def test_keys_of_a_dag(keys: dict[str, Any], name: str, expected: object) -> None:
    assert merged(**keys).get(name) == expected


def test_a_task_keeps_what_is_not_overridden() -> None:
    load, clean = tasks(tasks=[{"task_id": "load", "pool": "erp"}]).values()
    assert load == {**DOCUMENTS["shop"]["tasks"][0], "pool": "erp"}
    assert clean == DOCUMENTS["shop"]["tasks"][1]


def test_a_task_is_added_and_dependencies_that_lineage_demands_stay() -> None:
    after = {"task_id": "clean", "dependencies": ["notify"]}
    added = tasks(tasks=[{**NOTIFY, "dependencies": ["load"]}, after])
    assert added["notify"]["dependencies"] == ["load"]
    assert added["clean"]["dependencies"] == ["load", "notify"]


def test_a_task_group_is_added() -> None:
    group = {"group_name": "alerts"}
    dag = merged(task_groups=[group], tasks=[{**NOTIFY, "task_group_name": "alerts"}])
    assert dag["task_groups"] == [group]
    overrides = {"shop": {"tasks": [{**NOTIFY, "task_group_name": "alerts"}, {"task_id": "load"}]}}
    assert added_tasks(overrides) == {("shop", "alerts.notify")}


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"task_id": "laod", "pool": "erp"}, "laod is not a task of the DAG"),
        ({"task_id": "load", "dependencies": ["x"]}, "load waits for x, which is not a task"),
        ({"task_id": "load", "task_group_name": "x"}, "load is in x, which is not a task group"),
        ({"task_id": "load", "dependencies": ["clean"]}, "wait for each other: clean -> load"),
    ],
)
def test_a_dag_that_an_override_breaks_is_not_written(task: Any, expected: str) -> None:
    dags, faults = override({**DOCUMENTS, "other": DOCUMENTS["shop"]}, {"shop": {"tasks": [task]}})
    assert list(dags) == ["other"]
    (fault,) = faults
    assert (fault.code, fault.subject) == ("WRONG_OVERRIDE", "shop")
    assert expected in fault.problem


def test_an_override_of_a_dag_that_is_not_there_is_named() -> None:
    dags, faults = override(DOCUMENTS, {"shpo": {"tags": ["x"]}})
    assert list(dags) == ["shop"]
    assert [fault.problem for fault in faults] == ["there is no DAG of this id: there is shop"]
