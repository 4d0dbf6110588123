"""dag-factory's YAML and its loader: what Airflow reads is what was planned."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest
import yaml

from dbt_graft.exporters.dag_factory.document import asset_uri, documents, files, marker
from dbt_graft.exporters.dag_factory.plan import DataAsset
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.exporters.dag_factory.settings import DagGrouping, DagSettings, TaskCommand
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import TaskInfo
from tests.cases import for_each
from tests.exporters.dag_factory.orders import SETTINGS, named, order_of

SHOP = ("load: -> raw", "dbt orders: raw -> orders")


def written(
    settings: DagSettings = SETTINGS, site_url: str = "", **infos: TaskInfo
) -> dict[str, str]:
    plan = plan_dags(order_of(*SHOP, **infos), settings, site_url)
    return files(documents(plan.dags, settings), settings.name)


def loaded(found: dict[str, str], dag: str = "shop") -> dict[str, Any]:
    """A DAG as dag-factory reads it: variables of the process are filled in first."""
    text = os.path.expandvars(found[f"{dag}_dag.yml"])
    read: dict[str, Any] = yaml.load(text, Loader=yaml.FullLoader)  # noqa: S506
    return read[dag]  # type: ignore[no-any-return]


def test_the_file_of_a_small_shop() -> None:
    settings = replace(SETTINGS, schedule="0 5 * * *", retries=1, retry_delay=300)
    text = written(settings, "https://data.example", load=TaskInfo(owner="Data", tags=("daily",)))[
        "shop_dag.yml"
    ]
    assert text == (
        marker("shop")
        + """
shop:
  default_args:
    start_date: '2024-01-01'
    retries: 1
    retry_delay: {__type__: datetime.timedelta, seconds: 300}
  description: 2 tasks and dbt nodes in the order of their lineage
  schedule: 0 5 * * *
  catchup: false
  max_active_runs: 1
  tags:
    - daily
  tasks:
    - task_id: load
      operator: airflow.providers.standard.operators.bash.BashOperator
      bash_command: run load
      owner: Data
      doc_md: '[In the catalog](https://data.example/tasks/load/)'
    - task_id: dbt_orders
      operator: airflow.providers.standard.operators.bash.BashOperator
      bash_command: dbt build --select orders
      doc_md: '[In the catalog](https://data.example/tasks/orders/)'
      dependencies:
        - load
"""
    )


def test_the_loader_has_the_words_that_airflow_looks_for_and_reports_nothing_home() -> None:
    loader = written()["shop_dag.py"]
    # Airflow's safe mode: both words, in any case.
    assert "airflow" in loader.lower()
    assert "dag" in loader.lower()
    assert loader.index("DO_NOT_TRACK") < loader.index("from dagfactory")
    assert 'with_name("shop_dag.yml")' in loader
    compile(loader, "shop_dag.py", "exec")


def test_the_same_lineage_gives_the_same_bytes() -> None:
    assert written() == written()


def test_a_variable_of_a_command_is_left_to_the_shell_of_the_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REPOS", "/of/the/scheduler\n  injected: true")
    settings = replace(
        SETTINGS, commands=(TaskCommand(command='cd "$REPOS/${REPOS}" && run {task}'),)
    )
    task = loaded(written(settings))["tasks"][0]
    assert task["bash_command"] == 'cd "$REPOS/${REPOS}" && run load'


@for_each(
    "name", ["$HOME", "a: b", "- x", "{{ 1 }}", "null", "!!python/name:os.system", "é\u2028x\x07"]
)
def test_hostile_names_are_text_in_the_file(name: str) -> None:
    plan = plan_dags(named(order_of(*SHOP), "load", name), SETTINGS)
    settings = replace(SETTINGS, lineage=True)
    info = TaskInfo(owner=name, description=f"{name}](javascript:x) <b>", tags=(name,))
    order = order_of(*SHOP, load=info)
    dag = loaded(files(documents(plan_dags(order, settings).dags, settings), settings.name))
    assert (
        dag["tasks"][0]["owner"]
        == dag["tags"][0]
        == " ".join(name.replace("\x07", " ").replace("\u2028", " ").split())
    )
    assert "](j" not in dag["tasks"][0]["doc_md"].replace("\\]", "")
    assert loaded(files(documents(plan.dags, SETTINGS), SETTINGS.name))["tasks"][0][
        "operator"
    ].endswith("BashOperator")


def test_inlets_and_outlets_are_openlineage_datasets() -> None:
    tasks = loaded(written(replace(SETTINGS, lineage=True)))["tasks"]
    kind = "airflow.providers.common.compat.openlineage.facet.Dataset"
    raw = {"__type__": kind, "namespace": "spark", "name": "raw"}
    assert tasks[0]["outlets"] == [raw] == tasks[1]["inlets"]
    assert "inlets" not in tasks[0]


@pytest.mark.parametrize(
    ("version", "asset"),
    [
        (3, {"__type__": "airflow.sdk.Asset", "uri": "x-graft://spark/raw", "name": "spark/raw"}),
        (2, {"__type__": "airflow.datasets.Dataset", "uri": "x-graft://spark/raw"}),
    ],
)
def test_assets_start_the_next_dag_in_either_version(version: int, asset: dict[str, str]) -> None:
    settings = replace(SETTINGS, version=version, dags=DagGrouping.OWNER)
    found = written(settings, load=TaskInfo(owner="Data"))
    assert loaded(found)["schedule"] == {"__and__": [asset]}
    assert loaded(found, "shop_Data")["tasks"][0]["outlets"] == [asset]
    assert loaded(found, "shop_Data")["schedule"] == "none"


@pytest.mark.parametrize(
    ("asset", "uri"),
    [
        (DataAsset(DatasetId("spark", "raw.orders")), "x-graft://spark/raw.orders"),
        (
            DataAsset(DatasetId("mssql://s:1433", "Db.dbo.Ü b")),
            "x-graft://mssql%3A//s%3A1433/Db.dbo.%C3%9C%20b",
        ),
        (
            DataAsset(DatasetId("file", "/x?a#b"), "load x"),
            "x-graft://file//x%3Fa%23b?writer=load%20x",
        ),
    ],
)
def test_uris_of_assets_are_ascii_and_one_for_each_dataset(asset: DataAsset, uri: str) -> None:
    assert asset_uri(asset) == uri
