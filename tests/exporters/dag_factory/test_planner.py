"""From an order to a plan: dependencies, DAGs, assets, sensors, and what cannot be planned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_graft.exporters.dag_factory.operators import EMPTY, SENSOR
from dbt_graft.exporters.dag_factory.order import DemandedOrder, OrderedNode
from dbt_graft.exporters.dag_factory.plan import DagPlan
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.exporters.dag_factory.settings import (
    DagGrouping,
    DbtTasks,
    IgnoredOrder,
    TaskCommand,
    TaskGrouping,
    WaitBy,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import TaskInfo
from tests.cases import for_each
from tests.exporters.dag_factory.orders import SETTINGS, named, order_of

SHOP = (
    "load: -> raw",
    "dbt stg: raw -> stg",
    "score: stg -> scores",
    "report: stg, scores, raw ->",
)
OWNERS = {
    "load": TaskInfo(owner="Data", tags=("daily", "x"), schedule="0 3 * * *"),
    "score": TaskInfo(owner="Science", tags=("ml",), schedule="0 6 * * *"),
    "report": TaskInfo(owner="Data", tags=("daily",), schedule="0 3 * * *"),
}


def plan(*lines: str, infos: dict[str, TaskInfo] | None = None, **settings: Any) -> DagPlan:
    return plan_dags(order_of(*lines, **(infos or {})), replace(SETTINGS, **settings))


def dependencies(found: DagPlan) -> dict[str, dict[str, list[str]]]:
    return {
        dag.dag_id: {task.task_id: list(task.dependencies) for task in dag.tasks}
        for dag in found.dags
    }


def test_tasks_depend_on_their_writers_by_the_direct_edges_alone() -> None:
    assert dependencies(plan(*SHOP)) == {
        "shop": {"load": [], "dbt_stg": ["load"], "score": ["dbt_stg"], "report": ["score"]}
    }


def test_tasks_stand_in_processing_order_and_the_plan_is_the_same_every_time() -> None:
    found = plan(*SHOP)
    assert [task.task_id for task in found.dags[0].tasks] == ["load", "dbt_stg", "score", "report"]
    assert plan(*reversed(SHOP)) == found


@pytest.mark.parametrize(
    ("dags", "expected"),
    [
        (DagGrouping.ONE, {"shop": ["load", "dbt_stg", "score", "report"]}),
        (
            DagGrouping.PART,
            {"shop_alone": ["alone"], "shop_load": ["load", "dbt_stg", "score", "report"]},
        ),
    ],
)
def test_dags_by_grouping(dags: DagGrouping, expected: dict[str, list[str]]) -> None:
    lines = [*SHOP, *(["alone: a -> b"] if dags is DagGrouping.PART else [])]
    found = plan(*lines, dags=dags)
    assert {dag.dag_id: [task.task_id for task in dag.tasks] for dag in found.dags} == expected


@pytest.mark.parametrize(
    ("dags", "expected"),
    [
        (DagGrouping.OWNER, {"shop": {"model"}, "shop_Data": {"load"}, "shop_Science": {"score"}}),
        (DagGrouping.TAG, {"shop": {"model"}, "shop_daily": {"load"}, "shop_ml": {"score"}}),
        (
            DagGrouping.SCHEDULE,
            {"shop": {"model"}, "shop_0_3": {"load"}, "shop_0_6": {"score"}},
        ),
    ],
)
def test_across_dags_assets_start_what_comes_after(
    dags: DagGrouping, expected: dict[str, set[str]]
) -> None:
    found = plan(*SHOP[:3], infos=OWNERS, dags=dags, schedule="0 1 * * *")
    assert [dag.dag_id for dag in found.dags] == list(expected)
    rest, load, score = found.dags
    assert load.waits_for == ()
    assert load.schedule == ("0 3 * * *" if dags is DagGrouping.SCHEDULE else "0 1 * * *")
    assert [asset.dataset.name for asset in rest.waits_for] == ["raw"]
    assert [asset.dataset.name for asset in score.waits_for] == ["stg"]
    assert load.tasks[0].announces == rest.waits_for
    assert rest.tasks[0].announces == score.waits_for
    assert score.tasks[0].announces == ()


def test_an_asset_of_two_writers_is_one_of_each() -> None:
    infos = {"a": TaskInfo(owner="A"), "b": TaskInfo(owner="B")}
    found = plan("a: -> t", "b: -> t", "c: t ->", infos=infos, dags=DagGrouping.OWNER)
    assert [asset.writer for asset in found.dags[0].waits_for] == ["a", "b"]


def test_dags_that_would_wait_for_each_other_are_left_out_and_sensors_are_not() -> None:
    infos = {"a": TaskInfo(owner="A"), "b": TaskInfo(owner="B"), "c": TaskInfo(owner="A")}
    lines = ("a: -> x", "b: x -> y", "c: y ->")
    infos |= {"d": TaskInfo(owner="D"), "e": TaskInfo(owner="E")}
    others = ("d: y ->", "e: other -> raw")
    found = plan(*lines, *others, infos=infos, dags=DagGrouping.OWNER)
    assert [(problem.code, problem.subject) for problem in found.problems] == [
        ("DAG_CYCLE", "shop_A -> shop_B -> shop_A")
    ]
    assert dependencies(found) == {"shop_E": {"e": []}}
    assert found.left_out == {
        "a": "its DAG is in a cycle",
        "b": "its DAG is in a cycle",
        "c": "its DAG is in a cycle",
        "d": "its DAG comes after a cycle",
    }
    sensed = plan(*lines, infos=infos, dags=DagGrouping.OWNER, wait=WaitBy.SENSOR)
    assert dependencies(sensed) == {
        "shop_A": {"a": [], "wait_for_y": [], "c": ["wait_for_y"]},
        "shop_B": {"wait_for_x": [], "b": ["wait_for_x"]},
    }
    assert sensed.dags[1].tasks[0].operator == SENSOR
    assert sensed.dags[1].tasks[0].arguments == {"dataset": "spark/x"}


def test_a_cycle_and_what_comes_after_it_are_left_out_until_an_edge_is_ignored() -> None:
    lines = ("load: -> raw", "a: raw, y -> x", "b: x -> y", "c: y -> z", "d: raw -> e")
    found = plan(*lines)
    (problem,) = found.problems
    assert problem.subject == "a -> b -> a"
    assert "a writes spark/x, which b reads; b writes spark/y, which a reads" in problem.problem
    assert "{writer: b, reader: a}" in problem.remedy
    assert dependencies(found) == {"shop": {"load": [], "d": ["load"]}}
    assert found.left_out == {
        "a": "is in a cycle",
        "b": "is in a cycle",
        "c": "comes after a cycle",
    }
    assert dependencies(plan(*lines, ignore=(IgnoredOrder(writer="b", reader="a"),))) == {
        "shop": {"load": [], "a": ["load"], "d": ["load"], "b": ["a"], "c": ["b"]}
    }


def test_all_tasks_without_a_command_are_problems_and_nothing_is_planned() -> None:
    found = plan(*SHOP, commands=(TaskCommand(task="load", command="run {path}"),))
    assert found.dags == ()
    assert [(problem.code, problem.subject) for problem in found.problems] == [
        ("UNKNOWN_COMMAND", "model.shop.stg"),
        ("UNKNOWN_COMMAND", "report"),
        ("UNKNOWN_COMMAND", "score"),
        ("WRONG_COMMAND", "load"),
    ]


def test_a_schedule_in_words_is_a_problem() -> None:
    infos = {"load": TaskInfo(schedule="every night"), "score": TaskInfo(schedule="@daily")}
    found = plan(*SHOP, infos=infos, dags=DagGrouping.SCHEDULE, wait=WaitBy.SENSOR)
    assert [(problem.code, problem.subject) for problem in found.problems] == [
        ("WRONG_SCHEDULE", "every night")
    ]


def test_the_first_command_that_fits_runs_a_task() -> None:
    commands = (
        TaskCommand(task="sc*", command="one {task}", pool="p", retries=3),
        TaskCommand(engine="dbt", command="dbt run --select {model}", env={"A": "{task} of x"}),
        TaskCommand(operator="my.Own", arguments={"image": "{task}"}),
    )
    found = plan(*SHOP, commands=commands)
    tasks = {
        task.task_id: (task.operator.rpartition(".")[2], dict(task.arguments))
        for task in found.dags[0].tasks
    }
    assert tasks == {
        "load": ("Own", {"image": "load"}),
        "dbt_stg": (
            "BashOperator",
            {"bash_command": "dbt run --select stg", "env": {"A": "stg of x"}, "append_env": True},
        ),
        "score": ("BashOperator", {"bash_command": "one score", "pool": "p", "retries": 3}),
        "report": ("Own", {"image": "report"}),
    }


@pytest.mark.parametrize("version", [2, 3])
def test_an_external_task_marks_its_place_or_is_waited_for(version: int) -> None:
    marked = TaskCommand(task="score", external=True)
    found = plan(*SHOP, commands=(marked, *SETTINGS.commands), version=version)
    assert dependencies(found) == dependencies(plan(*SHOP))
    assert found.dags[0].tasks[2].operator == EMPTY[version]
    assert "waits for nothing" in found.dags[0].tasks[2].doc
    assert found.dags[0].tasks[2].writes == ()
    awaited = replace(marked, external="wait")
    found = plan(*SHOP, commands=(awaited, *SETTINGS.commands))
    assert dependencies(found) == {
        "shop": {
            "load": [],
            "wait_for_scores": [],
            "dbt_stg": ["load"],
            "report": ["dbt_stg", "wait_for_scores"],
        }
    }


def test_dbt_builds_a_level_with_the_command_that_is_for_no_node_in_particular() -> None:
    commands = (TaskCommand(task="stg", command="dbt run --select stg"), *SETTINGS.commands)
    lines = (*SHOP, "dbt orders: stg -> orders")
    found = plan(*lines, dbt=DbtTasks.LEVELS, commands=commands)
    (level,) = [task for task in found.dags[0].tasks if task.task_id == "dbt_build_1"]
    assert level.arguments["bash_command"] == "dbt build --select stg orders"
    assert level.nodes == ("model.shop.stg", "model.shop.orders")
    # What the level writes itself on the way is no input of it.
    assert [read.name for read in level.reads] == ["raw"]


def test_a_level_belongs_to_nobody_even_if_it_has_one_node() -> None:
    infos = {"stg": TaskInfo(owner="Sales"), "load": TaskInfo(owner="Data")}
    found = plan(*SHOP[:2], infos=infos, dbt=DbtTasks.LEVELS, dags=DagGrouping.OWNER)
    assert [dag.dag_id for dag in found.dags] == ["shop", "shop_Data"]


def test_cosmos_runs_each_node_by_its_operator() -> None:
    project = {"project_dir": "/shop", "profile_config": {"__type__": "cosmos.ProfileConfig"}}
    found = plan(
        *SHOP,
        dbt=DbtTasks.COSMOS,
        commands=(TaskCommand(engine="dbt", arguments=project), TaskCommand(command="run {task}")),
    )
    task = found.dags[0].tasks[1]
    assert task.operator == "cosmos.operators.local.DbtBuildLocalOperator"
    assert task.arguments == {"select": ["stg"], **project}


def test_excluded_tasks_and_those_that_moved_no_data_are_left_out_and_listed() -> None:
    found = plan(*SHOP, "idle: ->", exclude=("sc*",), dbt=DbtTasks.NONE)
    assert found.left_out == {
        "idle": "moved no data",
        "model.shop.stg": "excluded",
        "score": "excluded",
    }
    assert dependencies(found) == {"shop": {"load": [], "report": ["load"]}}


def test_task_groups_have_tasks_whose_ids_differ_from_theirs() -> None:
    found = plan("spark: -> raw", "dbt dbt: raw -> x", task_groups=TaskGrouping.ENGINE)
    groups = {task.task_id: task.group for task in found.dags[0].tasks}
    assert set(groups.values()) == set(found.dags[0].groups) == {"spark", "dbt"}
    assert not set(groups) & set(groups.values())


def test_two_groups_whose_names_sound_alike_stay_two() -> None:
    infos = {"a": TaskInfo(owner="Größe"), "b": TaskInfo(owner="Grosse")}
    found = plan("a: -> x", "b: x ->", infos=infos, task_groups=TaskGrouping.OWNER)
    assert sorted(found.dags[0].groups.values()) == ["Grosse", "Größe"]


def hostile(name: str) -> DemandedOrder:
    return named(order_of(*SHOP), "score", name)


@for_each("name", ["dbt_stg", "DBT STG", "a/b", "ö", "default", "x" * 300, "l\no\tad"])
def test_every_name_becomes_an_id_that_airflow_takes_and_no_two_share(name: str) -> None:
    found = plan_dags(hostile(name), SETTINGS)
    ids = [task.task_id for task in found.dags[0].tasks]
    assert len({one.casefold() for one in ids}) == 4
    assert all(one.isascii() and 0 < len(one) <= 250 for one in ids)
    assert all(one.replace("_", "").replace("-", "").isalnum() for one in ids)


def test_a_model_is_selected_by_what_selects_it_alone() -> None:
    order = order_of("dbt orders: -> a", "dbt other: -> b")
    orders = replace(order.nodes["model.shop.orders"], selection="shop.orders.orders")
    plan = plan_dags(DemandedOrder({**order.nodes, orders.name: orders}, {}), SETTINGS)
    commands = [task.arguments["bash_command"] for task in plan.dags[0].tasks]
    assert sorted(commands) == [
        "dbt build --select other",
        "dbt build --select shop.orders.orders",
    ]


def test_ten_thousand_tasks_are_planned() -> None:
    raw = [DatasetId("spark", f"d{number}") for number in range(10_000)]
    nodes = {
        f"t{number}": OrderedNode(f"t{number}", f"t{number}", writes=(dataset,))
        for number, dataset in enumerate(raw)
    }
    edges = {
        (f"t{number - back}", f"t{number}"): (raw[number - back],)
        for number in range(10_000)
        for back in (1, 7, 80)
        if back <= number
    }
    found = plan_dags(DemandedOrder(nodes, edges), replace(SETTINGS, dags=DagGrouping.PART))
    (dag,) = found.dags
    assert sum(len(task.dependencies) for task in dag.tasks) == 9_999
