"""The DAGs that the tests run in real Airflow, 2 and 3 alike."""

DAG = """
from datetime import datetime

from airflow import DAG
from airflow.decorators import task
from airflow.providers.common.compat.assets import Asset
from airflow.providers.common.compat.lineage.hook import get_hook_lineage_collector
from airflow.providers.common.compat.openlineage.facet import Dataset
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.utils.task_group import TaskGroup

from graft_airflow import LineageSensor


def score():
    hooks = get_hook_lineage_collector()
    hooks.add_input_asset(score, uri="file:///noticed/by_hook.csv", asset_kwargs=None)


with DAG("shop", schedule=None, start_date=datetime(2026, 1, 1), catchup=False) as dag:
    wait = LineageSensor(
        task_id="wait", dataset="raw.orders", since="{{ ds }}", poke_interval=1, timeout=60
    )
    with TaskGroup("raw"):
        load = BashOperator(
            task_id="load_orders",
            bash_command="echo loaded",
            inlets=[Dataset(namespace="sftp://crm", name="/orders.csv"), Asset("x-other://a/b")],
            outlets=[Dataset(namespace="spark", name="raw.orders")],
        )
    with TaskGroup("ml"):
        scored = PythonOperator(task_id="score", python_callable=score)
    unknown = BashOperator(
        task_id="unknown",
        bash_command="true",
        outlets=[Dataset(namespace="file", name="/declared/out")],
    )

    @task.bash(params={"graft_task": "score_customers"})
    def decorated():
        return "true"

    fails = BashOperator(
        task_id="fails", bash_command="exit 1", params={"graft_task": "load_orders"}
    )
    # One process runs them all: what hooks noticed of one is there for those after it.
    wait >> load >> unknown >> decorated() >> scored >> fails
"""

SHORT = """
from datetime import datetime

from airflow import DAG
from airflow.providers.common.compat.openlineage.facet import Dataset
from airflow.providers.standard.operators.bash import BashOperator

with DAG("short", schedule=None, start_date=datetime(2026, 1, 1), catchup=False) as dag:
    BashOperator(
        task_id="load_orders",
        bash_command="true",
        inlets=[Dataset(namespace="sftp://crm", name="/orders.csv")],
    )
"""
