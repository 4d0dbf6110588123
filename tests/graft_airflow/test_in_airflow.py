"""graft_airflow in real Airflow: the events that its tasks emit, valid and as expected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import jsonschema
import pytest
from referencing import Registry, Resource

from dbt_graft.collectors.openlineage.event import read_event
from tests.airflow.environment import RUN_IN, AirflowEnvironment, airflow_environment
from tests.cases import for_each
from tests.exporters.openlineage.conformance import complaints, facets, schemas
from tests.graft_airflow.dags import DAG, SHORT
from tests.graft_airflow.lineage_file import text
from tests.graft_airflow.sensor_script import SCRIPT

pytestmark = [pytest.mark.airflow, pytest.mark.slow]
EXTRACTORS = "graft_airflow.GraftBashExtractor;graft_airflow.GraftPythonExtractor"
CRM = {"namespace": "mssql://crm:1433", "name": "Shop.dbo.Orders"}
ORDERS = {"namespace": "spark", "name": "raw.orders"}
SFTP = {"namespace": "sftp://crm", "name": "/orders.csv"}
LOADED: dict[str, Any] = {
    "inputs": [CRM, SFTP],
    "outputs": [
        {
            **ORDERS,
            "facets": {
                "graft": {"evidence": "observed", "lastAt": "2026-11-22T03:00:00Z"},
                "schema": {"fields": [{"name": "id", "type": "int"}, {"name": "mail"}]},
                "columnLineage": {
                    "fields": {
                        "id": {
                            "inputFields": [
                                {
                                    **CRM,
                                    "field": "OrderId",
                                    "transformations": [
                                        {"type": "DIRECT", "subtype": "IDENTITY", "masking": False}
                                    ],
                                }
                            ]
                        },
                        "mail": {"inputFields": [{"transformations": [{"masking": True}]}]},
                    },
                    "dataset": [
                        {
                            **CRM,
                            "field": "Status",
                            "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}],
                        }
                    ],
                },
            },
        }
    ],
    "run": {
        "facets": {
            "graft": {
                "task": "load_orders",
                "matchedBy": "task_id without group",
                "asOf": "2026-11-22T05:30:00Z",
                "lastRunAt": "2026-11-22T03:00:00Z",
                "evidence": ["observed"],
                "inputs": 1,
                "outputs": 1,
                "columns": 2,
            }
        }
    },
}
NAMED = {"run": {"facets": {"graft": {"task": "load_orders", "matchedBy": "params"}}}}
SCORED = {
    "inputs": [ORDERS],
    "outputs": [{"namespace": "spark", "name": "mart.scores"}],
    "run": {"facets": {"graft": {"task": "score_customers", "matchedBy": "job"}}},
}
UNKNOWN = {
    "inputs": [],
    "outputs": [{"namespace": "file", "name": "/declared/out"}],
    "run": {"facets": {"graft": {"inputs": 0}, "unknownSourceAttribute": {}}},
}
# `<dag>.<task>.event.<type>` -> the fields that the event must have.
EXPECTED: Mapping[str, Mapping[str, Any]] = {
    "shop.raw.load_orders.event.start": LOADED,
    "shop.raw.load_orders.event.complete": LOADED,
    "shop.ml.score.event.start": SCORED,
    "shop.ml.score.event.complete": SCORED,
    "shop.unknown.event.start": UNKNOWN,
    "shop.unknown.event.complete": UNKNOWN,
    "shop.decorated.event.complete": {
        "inputs": [ORDERS],
        "run": {"facets": {"graft": {"task": "score_customers", "matchedBy": "params"}}},
    },
    "shop.fails.event.start": NAMED,
    "shop.fails.event.fail": {**NAMED, "inputs": [CRM], "outputs": [ORDERS]},
}


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package from its wheel, as Airflow's environment has it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder)]
    copy = folder / "graft_airflow"
    copy.mkdir()
    for file in (root / "graft_airflow").iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    done = subprocess.run([*command, str(copy)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


@pytest.fixture(scope="module", params=RUN_IN)
def airflow(
    request: pytest.FixtureRequest, installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> AirflowEnvironment:
    home = tmp_path_factory.mktemp(f"airflow-{request.param}")
    (home / "lineage.json").write_bytes(text())
    (home / "config").mkdir()
    environment = airflow_environment(
        request.param,
        home,
        PYTHONPATH=os.pathsep.join([str(installed), str(home / "config")]),
        AIRFLOW__GRAFT__LINEAGE=str(home / "lineage.json"),
        AIRFLOW__OPENLINEAGE__EXTRACTORS=EXTRACTORS,
    )
    (environment.dags / "shop.py").write_text(DAG)
    (environment.dags / "short.py").write_text(SHORT)
    environment.migrate()
    return environment


@pytest.fixture(scope="module")
def events(airflow: AirflowEnvironment) -> Mapping[str, Any]:
    """The events of a run of the DAG."""
    return run(airflow, "shop", "the task that fails")


def run(airflow: AirflowEnvironment, dag: str, fails: str = "") -> Mapping[str, Any]:
    """The events of a run of a DAG, by `<dag>.<task>.event.<type>`."""
    airflow.events.unlink(missing_ok=True)
    done = airflow.run("airflow", "dags", "test", dag, "2026-11-22")
    assert fails or done.returncode == 0, done.stdout + done.stderr
    found = {}
    for line in airflow.events.read_text().splitlines():
        event = json.loads(line)
        found[f"{event['job']['name']}.event.{event['eventType'].lower()}"] = event
    assert found, done.stdout + done.stderr
    return {**found, "log": done.stdout + done.stderr}


def differences(expected: Any, actual: Any, at: str = "") -> Iterator[str]:
    """The places where an event has not what is expected; what else it has does not matter."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key, value in expected.items():
            if key in actual:
                yield from differences(value, actual[key], f"{at}.{key}")
            else:
                yield f"{at}.{key} is missing"
    elif isinstance(expected, list) and isinstance(actual, list) and expected:
        for number, value in enumerate(expected):
            if all([*differences(value, one)] for one in actual):
                yield f"{at}[{number}]: none of {actual} is {value}"
    elif expected != actual:
        yield f"{at}: {actual!r} is not {expected!r}"


@for_each("key", EXPECTED)
def test_an_event_has_the_collected_lineage(events: Mapping[str, Any], key: str) -> None:
    assert [*differences(EXPECTED[key], events[key])] == []


def test_declared_inlets_and_what_hooks_noticed_are_beside_it(events: Mapping[str, Any]) -> None:
    loaded = events["shop.raw.load_orders.event.complete"]
    assert len(loaded["outputs"]) == 1, "what is declared and collected is there once"
    scored = events["shop.ml.score.event.complete"]
    assert {one["name"] for one in scored["inputs"]} == {"raw.orders", "/noticed/by_hook.csv"}
    assert "unknownSourceAttribute" not in loaded["run"]["facets"]


def test_the_sensor_saw_that_the_dataset_was_written(events: Mapping[str, Any]) -> None:
    assert "raw.orders was last written at 2026-11-22T03:00:00+00:00, since" in events["log"]
    assert "shop.wait.event.complete" in events


def test_the_sensor_compares_the_last_write_with_the_run_s_time(
    airflow: AirflowEnvironment,
) -> None:
    done = airflow.run("python", "-c", SCRIPT)
    assert done.returncode == 0, done.stdout + done.stderr
    line = next(one for one in done.stdout.splitlines() if one.startswith("FOUND"))
    assert json.loads(line.removeprefix("FOUND")) == {
        "written since": True,
        "written before": False,
        "written at that time": True,
        "within the lookback": True,
        "by the logical date": False,
        "by the time of the run": True,
        "without any time": "the run has no data interval: name a time as `since`",
        "since a time": True,
        "since a later time": False,
        "since no time": "`since` is no time in ISO 8601: yesterday",
        "never written": False,
        "not there": False,
        "two of the name": "2 datasets have this name; write one of: "
        "mssql://crm:1433/Shop.dbo.Orders, spark/raw.orders",
        "no file": False,
        "template fields": ["dataset", "since", "dates", "graft_file"],
    }


def test_all_events_are_valid(events: Mapping[str, Any], root: Path) -> None:
    document = json.loads((root / "docs/schemas/graft-facets.schema.json").read_text())
    registry: Registry[Any] = Registry().with_resources(
        (url, Resource.from_contents(schema))
        for url, schema in [*schemas().items(), (document["$id"], document)]
    )
    checked = set()
    for event in (one for one in events.values() if isinstance(one, dict)):
        # Airflow's own facets have no schema.
        found = [one for one in complaints(event) if ": no schema " not in one]
        assert [one for one in found if not one.startswith(("airflow", "unknownSource"))] == []
        for name, facet in facets(event):
            if facet["_schemaURL"].startswith(document["$id"]):
                reference = {"$ref": facet["_schemaURL"]}
                jsonschema.Draft202012Validator(reference, registry=registry).validate(facet)
                checked.add(facet["_schemaURL"].rpartition("/")[2])
                assert name == "graft"
    assert checked == {"GraftRunFacet", "GraftDatasetFacet"}


def test_graft_reads_from_them_only_what_it_did_not_put_there(events: Mapping[str, Any]) -> None:
    event = read_event(events["shop.raw.load_orders.event.complete"])
    assert [one.name for one in event.inputs] == ["/orders.csv"]
    assert event.outputs == ()
    noticed = read_event(events["shop.ml.score.event.complete"])
    assert [one.name for one in noticed.inputs] == ["/noticed/by_hook.csv"]


def test_without_the_lineage_file_a_task_has_what_it_declares(airflow: AirflowEnvironment) -> None:
    lineage = airflow.home / "lineage.json"
    lineage.write_text('{"version": 1, "tasks": {"load_orders": ')
    try:
        found = run(airflow, "short")
    finally:
        lineage.write_bytes(text())
    event = found["short.load_orders.event.complete"]
    assert [one["name"] for one in event["inputs"]] == ["/orders.csv"]
    assert "is no valid JSON" in event["run"]["facets"]["graft"]["problem"]
    assert "write it again with `graft export airflow-lineage" in found["log"]


def test_the_policy_gives_tasks_the_lineage_without_an_extractor(
    airflow: AirflowEnvironment,
) -> None:
    """By its entry point in Airflow 3, in Airflow 2 by the file of local settings."""
    wanted = {**airflow.variables, "AIRFLOW__OPENLINEAGE__EXTRACTORS": ""}
    settings = airflow.home / "config/airflow_local_settings.py"
    if airflow.version == 3:
        wanted["AIRFLOW__GRAFT__TASK_POLICY"] = "True"
    else:
        settings.write_text("from graft_airflow import task_policy\n")
    try:
        found = run(
            AirflowEnvironment(airflow.version, airflow.home, airflow.dags, wanted), "short"
        )
    finally:
        settings.unlink(missing_ok=True)
    for kind in ("start", "complete"):
        event = found[f"short.load_orders.event.{kind}"]
        names = [(one["namespace"], one["name"]) for one in event["inputs"]]
        assert names == [("sftp://crm", "/orders.csv"), ("mssql://crm:1433", "Shop.dbo.Orders")]
        assert [output["name"] for output in event["outputs"]] == ["raw.orders"]
