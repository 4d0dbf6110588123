"""Findings of the check: a task that runs before its writer, or after it only by the clock."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import yaml

from dbt_graft.exporters.dag_factory.check.compare import compare
from dbt_graft.exporters.dag_factory.check.matching import task_matcher
from dbt_graft.exporters.dag_factory.check.scheduled import ScheduledTask
from dbt_graft.exporters.dag_factory.check.yaml_dags import read_yaml_dags
from dbt_graft.exporters.dag_factory.document import documents, files, marker
from dbt_graft.exporters.dag_factory.order import DemandedOrder, OrderedNode
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.exporters.dag_factory.settings import (
    DagGrouping,
    DagSettings,
    DbtTasks,
    TaskGrouping,
    WaitBy,
)
from dbt_graft.lineage.records import TaskInfo
from tests.cases import for_each
from tests.exporters.dag_factory.orders import SETTINGS, matcher_of, order_of

SHOP = order_of(
    "load_orders: -> raw.orders",
    "dbt stg_orders: raw.orders -> stg",
    "score: stg -> scores",
    "report: scores, raw.orders ->",
)
CRON = "0 5 * * *"
BASH = "airflow.providers.standard.operators.bash.BashOperator"


def dag(*tasks: str, schedule: Any = CRON, **keys: Any) -> dict[str, Any]:
    """A DAG of tasks as `report after score, load`."""
    entries = []
    for task in tasks:
        name, _, after = task.partition(" after ")
        waits = [one.strip() for one in after.split(",") if one.strip()]
        entries.append({"task_id": name, "operator": BASH, "dependencies": waits})
    return {"schedule": schedule, "tasks": entries, **keys}


def findings(
    order: DemandedOrder = SHOP, open_tasks: Collection[str] = (), **dags: dict[str, Any]
) -> list[str]:
    """The codes and texts of what is found, with the datasets."""
    read = read_yaml_dags(yaml.safe_dump(dags, sort_keys=False), "dags/shop.yml")
    assert read.unreadable == {}
    return [
        f"{finding.code}: {finding.subject} {finding.problem}"
        + "".join(f" ({name})" for name in finding.path[1:-1])
        for finding in compare(order, read.dags, task_matcher(order, {}), open_tasks)
    ]


def test_the_right_order_has_no_finding_also_by_other_tasks_in_between() -> None:
    tasks = (
        "load_orders",
        "start after load_orders",
        "dbt_stg_orders after start",
        "score after dbt_stg_orders",
        "report after score",
    )
    assert findings(shop=dag(*tasks)) == []


@for_each("open_task", ["load_orders", "score"])
def test_nobody_knows_that_a_wait_is_needless_of_a_task_that_may_read_more(open_task: str) -> None:
    shop = dag("score", "load_orders after score")
    needless = [text for text in findings(shop=shop) if text.startswith("DAG_NEEDLESS_WAIT")]
    assert needless == [
        "DAG_NEEDLESS_WAIT: shop.load_orders waits for score, of which it reads nothing"
    ]
    assert not [text for text in findings(open_tasks=[open_task], shop=shop) if "NEEDLESS" in text]


def test_a_reader_that_runs_before_its_writer() -> None:
    tasks = (
        "stg_orders",
        "load_orders after stg_orders",
        "score after load_orders",
        "report after score",
    )
    assert findings(shop=dag(*tasks)) == [
        "DAG_BEFORE_WRITER: shop.stg_orders runs before load_orders, its writer (spark/raw.orders)",
        "DAG_NEEDLESS_WAIT: shop.load_orders waits for stg_orders, of which it reads nothing",
    ]


def test_in_a_cycle_one_of_two_orders_is_a_warning() -> None:
    order = order_of("a: y -> x", "b: x -> y")
    assert findings(order, shop=dag("a", "b after a")) == [
        "DAG_CYCLE: shop.a runs before b, its writer, which needs its data: a cycle (spark/y)"
    ]
    assert len(findings(order, shop=dag("a", "b"))) == 2


def test_a_reader_that_waits_for_nobody() -> None:
    tasks = (
        "load_orders",
        "stg_orders",
        "score after stg_orders",
        "report after score, load_orders",
    )
    assert findings(shop=dag(*tasks)) == [
        "DAG_NOT_AFTER_WRITER: shop.stg_orders does not wait for load_orders, its writer "
        "(spark/raw.orders)"
    ]


ASSET = {"__type__": "airflow.sdk.Asset", "uri": "x-graft://raw", "name": "raw"}
LOAD = {"task_id": "load_orders", "operator": BASH}
REST = ("stg_orders", "score after stg_orders", "report after score")
AFTER_SENSOR = ("stg_orders after wait", "score after stg_orders", "report after score")


@pytest.mark.parametrize(
    ("load", "rest"),
    [
        ({"tasks": [LOAD | {"outlets": [ASSET]}]}, dag(*REST, schedule={"__and__": [ASSET]})),
        ({"tasks": [LOAD | {"outlets": [ASSET]}]}, dag(*REST, schedule=[ASSET])),
        ({"tasks": [LOAD | {"outlets": ["s3://raw"]}]}, dag(*REST, schedule=["s3://raw"])),
        (
            {
                "tasks": {
                    "load_orders": {"operator": BASH},
                    "go": {
                        "operator": "x.TriggerDagRunOperator",
                        "trigger_dag_id": "rest",
                        "dependencies": ["load_orders"],
                    },
                }
            },
            dag(*REST, schedule="none"),
        ),
    ],
)
def test_across_dags_assets_and_triggers_make_an_order(
    load: dict[str, Any], rest: dict[str, Any]
) -> None:
    assert findings(load={"schedule": CRON, **load}, rest=rest) == []


@pytest.mark.parametrize(
    "sensor",
    [
        {"operator": "graft_airflow.LineageSensor", "dataset": "spark/raw.orders"},
        {"operator": "graft_airflow.LineageSensor", "dataset": "raw.orders"},
        {"operator": "x.ExternalTaskSensor", "external_dag_id": "load"},
        {
            "operator": "x.ExternalTaskSensor",
            "external_dag_id": "load",
            "external_task_id": "load_orders",
        },
        {
            "operator": "x.ExternalTaskSensor",
            "external_dag_id": "load",
            "external_task_ids": ["load_orders"],
        },
    ],
)
def test_across_dags_sensors_make_an_order(sensor: dict[str, Any]) -> None:
    rest = dag(*AFTER_SENSOR)
    rest["tasks"].append({"task_id": "wait", **sensor})
    assert findings(load=dag("load_orders"), rest=rest) == []


OTHER = ASSET | {"uri": "x-graft://other", "name": "other"}


@pytest.mark.parametrize(
    "schedule",
    [
        {"__or__": [ASSET, OTHER]},
        {"__and__": [OTHER, {"__or__": [ASSET, OTHER]}]},
        {"__type__": "airflow.sdk.AssetAny", "__args__": [ASSET, OTHER]},
        {"__type__": "airflow.timetables.assets.AssetOrTimeSchedule", "assets": [ASSET]},
    ],
)
def test_assets_that_need_not_be_there_make_no_order(schedule: dict[str, Any]) -> None:
    load = {"schedule": CRON, "tasks": [LOAD | {"outlets": [ASSET]}]}
    assert len(findings(load=load, rest=dag(*REST, schedule=schedule))) == 2


@pytest.mark.parametrize(
    ("rule", "count"),
    [("all_done", 0), ("one_success", 1), ("TriggerRule.ONE_DONE", 1), ("always", 1)],
)
def test_by_its_trigger_rule_a_task_may_not_wait(rule: str, count: int) -> None:
    tasks = dag("load_orders", "x", "stg_orders after load_orders, x", *REST[1:])
    tasks["tasks"][2]["trigger_rule"] = rule
    tasks["tasks"][4]["dependencies"].append("load_orders")
    assert len(findings(shop=tasks)) == count


@pytest.mark.parametrize(("waits", "count"), [(True, 0), (False, 1)])
def test_a_trigger_may_wait_for_the_dag_that_it_starts(waits: bool, count: int) -> None:
    shop = dag("go", "score after go", "report after score")
    shop["tasks"][0] |= {"trigger_dag_id": "load", "wait_for_completion": waits}
    load = dag("load_orders", "stg_orders after load_orders", schedule="none")
    others = [text for text in findings(shop=shop, load=load) if "report" not in text]
    assert len(others) == count


@pytest.mark.parametrize(("group", "count"), [("raw", 0), ("other", 2)])
def test_a_sensor_may_wait_for_a_task_group(group: str, count: int) -> None:
    rest = dag(*AFTER_SENSOR)
    wait = {"operator": "x.ExternalTaskSensor", "external_dag_id": "load"}
    rest["tasks"].append({"task_id": "wait", **wait, "external_task_group_id": group})
    load = dag("load_orders", task_groups=[{"group_name": "raw"}, {"group_name": "other"}])
    load["tasks"][0]["task_group_name"] = "raw"
    assert len(findings(load=load, rest=rest)) == count


def test_a_sensor_on_another_dag_makes_none() -> None:
    rest = dag(*AFTER_SENSOR)
    rest["tasks"].append(
        {"task_id": "wait", "operator": "x.ExternalTaskSensor", "external_dag_id": "y"}
    )
    assert len(findings(load=dag("load_orders"), rest=rest)) == 2


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (
            CRON,
            "DAG_BY_CLOCK: rest.stg_orders comes after load.load_orders, its writer, only by the "
            "clock: 0 5 * * * after 0 5 * * * (spark/raw.orders)",
        ),
        (
            "none",
            "DAG_NOT_AFTER_WRITER: rest.stg_orders does not wait for load.load_orders, its writer "
            "(spark/raw.orders)",
        ),
    ],
)
def test_two_dags_with_schedules_are_ordered_only_by_the_clock(
    schedule: str, expected: str
) -> None:
    found = findings(load=dag("load_orders"), rest=dag(*REST, schedule=schedule))
    assert found[1] == expected
    assert len(found) == 2  # report reads raw.orders, too


def test_tasks_that_no_dag_runs_and_ones_that_lineage_no_longer_has() -> None:
    plan = plan_dags(SHOP, SETTINGS)
    text = files(documents(plan.dags, SETTINGS), SETTINGS.name)["shop_dag.yml"]
    assert text.startswith(marker("shop"))
    later = order_of("load_orders: -> raw.orders", "new: raw.orders ->")
    read = read_yaml_dags(text, "dags/shop_dag.yml", is_ours=True)
    found = compare(later, read.dags, task_matcher(later, {}))
    assert [f"{finding.place}: {finding.subject} {finding.problem}" for finding in found] == [
        ": new no DAG runs it",
        "dags/shop_dag.yml:13: shop.dbt_stg_orders is no longer in the lineage",
        "dags/shop_dag.yml:23: shop.report is no longer in the lineage",
        "dags/shop_dag.yml:18: shop.score is no longer in the lineage",
    ]


def test_groups_order_their_tasks() -> None:
    groups = [
        {"group_name": "raw"},
        {"group_name": "marts", "dependencies": ["raw"]},
        {"group_name": "in", "parent_group_name": "marts"},
    ]
    tasks = dag("load_orders", "stg_orders", "score after stg_orders", "report after score")
    for task, group in zip(tasks["tasks"], ("raw", "in", "in", "marts"), strict=True):
        task["task_group_name"] = group
    assert findings(shop={**tasks, "task_groups": groups}) == []
    groups[1]["dependencies"] = []
    assert len(findings(shop={**tasks, "task_groups": groups})) == 2


@for_each(
    "command, nodes",
    [
        ("cd shop && dbt run --select stg_orders orders", "orders stg_orders"),
        ("dbt build -s 'stg_orders' --target prod", "stg_orders"),
        ("dbt build --select=+orders", "orders stg_orders"),
        ("dbt run --models stg_orders+", "customers orders stg_orders"),
        ("dbt build --select stg_*", "stg_orders"),
        ("dbt build --select shop.marts.orders", "orders"),
        ("dbt build --select tag:daily", "customers"),
        ("dbt --no-use-colors build", "countries customers orders stg_orders"),
        ("dbt build --exclude customers", "countries orders stg_orders"),
        ('python run_dbt.py "build --select stg_orders"', "stg_orders"),
        ("dbt run --select other", ""),
        ("dbt deps", ""),
        ("run dbt_things", ""),
        ("dbt run --select path:models/x", ""),
        ("dbt run --select models/marts --exclude 1+customers", "stg_orders"),
        ("dbt build --select @orders", "customers orders stg_orders"),
        ("dbt build --select state:modified+ orders", ""),
        ("dbt build --exclude {{ params.without }}", ""),
        ("dbt build --select orders $MORE", ""),
        ("dbt run-operation stage_external_sources", ""),
        ("dbt run", "customers orders stg_orders"),
        ("dbt seed --select countries orders", "countries"),
        ("dbt deps && dbt run -s orders && dbt test -s customers", "orders"),
        ("dbt seed; dbt run --select stg_orders", "countries stg_orders"),
        ("dbt run -s orders; dbt run --selector nightly", ""),
        ("dbt run \\\n  --select orders \\\n  --target prod", "orders"),
        ("dbt run --select build", ""),
        ("dbt run --select 'stg_orders' \"orders\" --vars '{\"a\": 1}'", "orders stg_orders"),
        ("python -m dbt.cli.main run", "customers orders stg_orders"),
        ("bash -c 'dbt seed && dbt run -s orders'", "countries orders"),
        ("dbt build", "countries customers orders stg_orders"),
        ("dbt build --select tag:daily,orders+", "customers"),
        ("dbt build --select tag:daily,orders", ""),
        ("dbt build --selector nightly", ""),
        ("dbt build --select orders,package:shop", "orders"),
        ("dbt build --select orders,package:other customers", "customers"),
    ],
)
def test_a_task_of_dbt_is_known_by_what_it_selects(command: str, nodes: str) -> None:
    order = order_of(
        "load: -> raw",
        "dbt stg_orders: raw -> stg",
        "dbt orders: stg -> orders",
        "dbt customers: orders ->",
        customers=TaskInfo(tags=("daily",)),
    )
    seed = OrderedNode("seed.shop.countries", "countries", "seed", ("dbt",))
    order = replace(order, nodes={**order.nodes, seed.name: seed})
    matches = matcher_of(order).nodes(ScheduledTask("shop", "nightly", command=command))
    assert sorted(name.split(".")[2] for name in matches) == nodes.split()


@for_each(
    "task_id", ["orders", "dbt_orders", "marts.orders", "orders.run", "g.orders_run", "Orders"]
)
def test_a_task_is_known_by_its_id(task_id: str) -> None:
    matcher = task_matcher(order_of("dbt orders: -> x"), {})
    assert matcher.nodes(ScheduledTask("shop", task_id)) == ("model.shop.orders",)


def test_a_task_is_known_by_the_name_that_graft_yml_has_for_it() -> None:
    read = read_yaml_dags(yaml.safe_dump({"shop": dag("step1", "step2 after step1")}), "x.yml")
    order = order_of("load: -> raw", "use: raw ->")
    matcher = task_matcher(order, {"shop.step1": "use", "step2": "load", "step3": "lod"})
    finding, typo, _ = compare(order, read.dags, matcher)
    assert typo.problem == "`known_as` has lod for it, which is not in the lineage"
    assert finding.problem == "runs before step2, its writer"
    assert finding.path == ("shop.step2", "spark/raw", "shop.step1")
    assert finding.place == "x.yml:4"


def test_an_exported_task_of_an_unusual_command_is_known_by_the_export_of_today() -> None:
    order = order_of("dbt orders: -> x")
    nodes = ("model.shop.orders",)
    ours = ScheduledTask("shop", "dbt_build_1", command="./build.sh orders", is_ours=True)
    matcher = task_matcher(order, {}, {("shop", "dbt_build_1"): nodes})
    assert matcher.nodes(ours) == nodes
    assert matcher.nodes(replace(ours, is_ours=False)) == ()


@for_each(
    "dags, dbt, wait, groups",
    product(
        *(DagGrouping, [DbtTasks.MODELS, DbtTasks.LEVELS]),
        *(WaitBy, [TaskGrouping.NONE, TaskGrouping.ENGINE]),
    ),
)
def test_what_is_exported_passes_the_check(
    dags: DagGrouping, dbt: DbtTasks, wait: WaitBy, groups: TaskGrouping
) -> None:
    infos = {
        "load_orders": TaskInfo(owner="A", tags=("a",), schedule="0 1 * * *"),
        "report": TaskInfo(owner="B", tags=("b",), schedule="0 2 * * *"),
    }
    order = order_of(
        "load_orders: -> raw.orders",
        "dbt stg_orders: raw.orders -> stg",
        "dbt orders: stg -> orders",
        "report: orders, raw.orders ->",
        "l o a d: -> x",
        **infos,
    )
    settings = DagSettings(
        name="shop",
        lineage=False,
        dags=dags,
        dbt=dbt,
        wait=wait,
        task_groups=groups,
        commands=SETTINGS.commands,
    )
    plan = plan_dags(order, settings)
    assert plan.problems == ()
    read = [
        one
        for name, text in files(documents(plan.dags, settings), settings.name).items()
        if name.endswith(".yml")
        for one in read_yaml_dags(text, name, is_ours=True).dags
    ]
    assert compare(order, read, matcher_of(order)) == []
