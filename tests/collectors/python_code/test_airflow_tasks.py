"""A file with several tasks of Airflow: each task's code is what its own operator calls."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.python_code.code_cache import CodeCache
from dbt_graft.collectors.python_code.task_code import task_code
from dbt_graft.lineage.code import name_text

_DAG = """\
import pandas as pd
from airflow import DAG
from airflow.decorators import task
from airflow.operators.python import PythonOperator
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

def _copy(source, target, **context):
    df = pd.read_csv(source)
    df[["id"]].to_parquet(target)

def _stats(templates_dict, **context):
    df = pd.read_parquet(templates_dict["source"])
    df.groupby("id").agg(n=("a", "sum")).reset_index().to_parquet("lake/stats")

def _log():
    pd.read_csv("lake/log.csv")[["at"]].to_csv("lake/times.csv")

with DAG("shop") as dag:
    PythonOperator(
        task_id="clean",
        python_callable=_copy,
        op_kwargs={"source": "lake/{{ ds }}/orders.csv", "target": "lake/orders"},
    )
    PythonOperator(
        task_id="copy", python_callable=_copy, op_args=["lake/items.csv", "lake/items"]
    )
    PythonOperator(
        task_id="stats", python_callable=_stats, templates_dict={"source": "lake/orders"}
    )
    for day in ("monday", "friday"):
        PythonOperator(task_id=f"log_{day}", python_callable=_log)
    SQLExecuteQueryOperator(task_id="load", conn_id="dwh", sql="INSERT INTO a (b) SELECT b FROM c")

    @task
    def extract():
        return pd.read_parquet("lake/stats")[["id", "n"]]

    @task(task_id="report", retries=2)
    def make_report(stats):
        stats["share"] = stats["n"] / 2
        stats[["share"]].to_csv("lake/report.csv")

    @task.virtualenv(requirements=["pandas"])
    def never_called(path):
        pd.read_csv("lake/x.csv")[["x"]].to_csv("lake/y.csv")

    make_report(extract())
"""
_TASKS = ["clean", "copy", "stats", "log_monday", "log_friday", "load", "report", "shop"]
_ORDERS = "lake/orders.id < lake/…/orders.csv.id"
_ITEMS = "lake/items.id < lake/items.csv.id"
_STATS = {"lake/stats.id < lake/orders.id", "lake/stats.n < lake/orders.a"}
_TIMES = "lake/times.csv.at < lake/log.csv.at"
_REPORT = "lake/report.csv.share < lake/stats.n"
_LOAD = "a.b < c.b"
_Y = "lake/y.csv.x < lake/x.csv.x"


@pytest.mark.parametrize(
    ("task", "edges"),
    [
        ("clean", {_ORDERS}),
        ("shop.clean", {_ORDERS}),
        ("shop.group.copy", {_ITEMS}),
        ("stats", _STATS),
        ("log_monday", {_TIMES}),
        ("log_friday", {_TIMES}),
        ("load", {_LOAD}),
        ("extract", set()),
        ("report", {_REPORT}),  # of what another task hands it
        ("never_called", {_Y}),
        ("shop", {_ORDERS, _ITEMS, *_STATS, _TIMES, _REPORT, _LOAD, _Y}),  # no task of this file
    ],
)
def test_the_code_of_a_task_is_that_of_its_operator(task: str, edges: set[str]) -> None:
    code = task_code("dag.py", {"dag.py": _DAG.encode()}.get, task)

    assert {
        f"{name_text(edge.to_table)}.{edge.to_column} < "
        f"{name_text(edge.from_table)}.{edge.from_column}"
        for edge in code.edges
        if edge.to_column != "*"
    } == edges
    assert code.gaps == ()


def test_ids_that_a_run_makes_are_those_that_fit() -> None:
    dag = b"""\
import os
import pandas as pd
from airflow.operators.python import PythonOperator

def load(name):
    pd.read_csv("in.csv")[["a"]].to_csv("out.csv")

def stop():
    pd.read_csv("x.csv")[["a"]].to_csv("y.csv")

for name in os.environ["TABLES"].split(","):
    PythonOperator(task_id=f"load_{name}", python_callable=load, op_args=[name])
PythonOperator(task_id="load_none", python_callable=stop)
"""
    targets = {
        name: {write.table[0] for write in task_code("d.py", {"d.py": dag}.get, name).writes}
        for name in ("load_orders", "load_none", "other")
    }

    assert targets == {
        "load_orders": {"./out.csv"},
        "load_none": {"./y.csv"},
        "other": {"./out.csv", "./y.csv"},
    }


def test_a_task_that_pushes_a_value_may_change_all_others() -> None:
    dag = """\
import pandas as pd
from airflow.operators.python import PythonOperator

def count(ti):
    ti.xcom_push("limit", LIMIT)

def load(ti):
    df = pd.read_csv("x.csv").head(ti.xcom_pull("count"))
    df[["a"]].to_csv("y.csv")

PythonOperator(task_id="count", python_callable=count)
PythonOperator(task_id="load", python_callable=load)
"""
    digests = [
        CodeCache(None, {"d.py": dag.replace("LIMIT", limit).encode()}.get).code("d.py", "load")
        for limit in ("1", "2")
    ]

    assert digests[0].syntax != digests[1].syntax


def test_a_function_that_a_task_mentions_counts_for_it_however_it_is_called() -> None:
    dag = """\
import pandas as pd
import runner
from airflow.operators.python import PythonOperator

def clean(path):
    pd.read_csv(path)[["a"]].head(LIMIT).to_csv("y.csv")

def load():
    setattr(runner, "step", clean)

def stop():
    pass

PythonOperator(task_id="clean", python_callable=clean, op_args=["x.csv"])
PythonOperator(task_id="load", python_callable=load)
PythonOperator(task_id="stop", python_callable=stop)
"""
    changed = {
        name
        for name in ("clean", "load", "stop")
        if len(
            {
                CodeCache(None, {"d.py": dag.replace("LIMIT", n).encode()}.get)
                .code("d.py", name)
                .syntax
                for n in "12"
            }
        )
        == 2
    }

    assert changed == {"clean", "load"}


def test_lines_that_are_not_followed_are_gaps_of_their_task() -> None:
    dag = b"""\
import pandas as pd
from airflow.operators.python import PythonOperator

def load():
    eval("x")

def stop():
    pd.read_csv("x.csv")[["a"]].to_csv("y.csv")

PythonOperator(task_id="load", python_callable=load)
PythonOperator(task_id="stop", python_callable=stop)
"""
    lines = {
        name: [gap.place.line for gap in task_code("d.py", {"d.py": dag}.get, name).gaps]
        for name in ("load", "stop")
    }

    assert lines == {"load": [5], "stop": []}


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ('stats["n"] / 2', 'stats["n"] / 3', {"report", "shop"}),
        ('"lake/log.csv"', '"lake/logs.csv"', {"log_monday", "log_friday", "shop"}),
        ('df[["id"]]', 'df[["id", "at"]]', {"clean", "copy", "shop"}),  # both call it
        ('"lake/items"]', '"lake/parts"]', {*_TASKS}),  # an operator is all tasks'
        ('[["id", "n"]]', '[["n", "id"]]', {*_TASKS}),  # what is handed on may be of any
        ("# ", "", set()),
    ],
)
def test_another_function_changes_the_tasks_that_call_it(
    before: str, after: str, changed: set[str]
) -> None:
    digests = [
        {
            name: CodeCache(None, {"d.py": text.encode()}.get).code("d.py", name).syntax
            for name in _TASKS
        }
        for text in (_DAG, _DAG.replace(before, after))
    ]

    assert {name for name in _TASKS if digests[0][name] != digests[1][name]} == changed
