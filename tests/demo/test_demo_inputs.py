"""The demo ran, and left the inputs of collect and inject."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
import zstandard

pytestmark = pytest.mark.demo


def events(application: Path) -> Iterator[dict[str, Any]]:
    """The events of one application, as Spark 4.3 writes them: rolling files, zstd."""
    for path in sorted(application.glob("events_*.zstd")):
        with zstandard.open(path, "rt", encoding="utf-8") as lines:
            yield from map(orjson.loads, lines)


@pytest.fixture(scope="module")
def applications(demo: Path) -> dict[str, list[dict[str, Any]]]:
    """The events of each Spark application, by its name; dbt has two of that name."""
    found = defaultdict(list)
    for folder in sorted((demo / "spark-events").iterdir()):
        log = list(events(folder))
        name = next(e["App Name"] for e in log if e["Event"] == "SparkListenerApplicationStart")
        found[name] += log
    return dict(found)


@pytest.fixture(scope="module")
def manifest(demo: Path) -> dict[str, Any]:
    """dbt's manifest, before graft."""
    loaded: dict[str, Any] = orjson.loads((demo / "target" / "manifest.json").read_bytes())
    return loaded


def test_each_task_ran_once_dbt_twice_and_replication_left_no_log(
    applications: dict[str, list[dict[str, Any]]], expected: dict[str, Any]
) -> None:
    tasks = [
        name
        for name, task in expected["tasks"].items()
        if task["engine"] == "spark" and "ran_once" not in task
    ]
    starts = Counter(
        {
            name: sum(event["Event"] == "SparkListenerApplicationStart" for event in log)
            for name, log in applications.items()
        }
    )
    assert starts == Counter([*tasks, "dbt", "dbt"])


def test_only_rebuild_returns_failed_and_by_its_data(
    applications: dict[str, list[dict[str, Any]]],
) -> None:
    errors = {
        name: {event["errorMessage"] for event in log if event.get("errorMessage")}
        for name, log in applications.items()
    }
    assert {name for name, messages in errors.items() if messages} == {"rebuild_returns"}
    assert all(message.startswith("[CAST_INVALID_INPUT]") for message in errors["rebuild_returns"])


def test_tables_hold_the_rows_that_expected_promises(demo: Path, expected: dict[str, Any]) -> None:
    promised = {
        dataset: rows
        for task in expected["tasks"].values()
        for dataset, rows in task.get("rows", {}).items()
    }
    held = {}
    for dataset in promised:
        schema, table = dataset.removeprefix("spark/").split(".")
        held[dataset] = pq.read_table(demo / "warehouse" / f"{schema}.db" / table).num_rows
    assert promised
    assert held == promised


def test_dbt_knows_the_relations_of_expected_and_no_others(
    manifest: dict[str, Any], expected: dict[str, Any]
) -> None:
    kinds = {"model": {"model"}, "seed": {"seed"}, "source": {"source", "promoted"}}
    nodes = {**manifest["nodes"], **manifest["sources"]}
    known = {
        dataset(node): kinds[node["resource_type"]]
        for node in nodes.values()
        if node["resource_type"] in kinds
    }
    roles = expected["datasets"]
    of_dbt = {
        name for name, role in roles.items() if role in {"model", "seed", "source", "promoted"}
    }
    assert known.keys() == of_dbt
    assert [name for name, kind in known.items() if roles[name] not in kind] == []


def test_dbts_own_edges_are_those_of_expected(
    manifest: dict[str, Any], expected: dict[str, Any]
) -> None:
    nodes = {**manifest["nodes"], **manifest["sources"]}
    edges = {
        (dataset(nodes[parent]), dataset(node), name)
        for name, node in nodes.items()
        if node["resource_type"] == "model"
        for parent in node["depends_on"]["nodes"]
    }
    by_edge = {(edge["from"], edge["to"], edge["by"]) for edge in expected["edges"]}
    assert edges == {edge for edge in by_edge if edge[2].startswith("model.")}


def test_catalog_describes_every_relation_of_dbt(demo: Path, manifest: dict[str, Any]) -> None:
    catalog = orjson.loads((demo / "target" / "catalog.json").read_bytes())
    described = {**catalog["nodes"], **catalog["sources"]}
    built = {
        name
        for name, node in {**manifest["nodes"], **manifest["sources"]}.items()
        if node["resource_type"] in {"model", "seed", "source"}
    }
    assert described.keys() == built
    assert all(entry["columns"] for entry in described.values())


def test_manifest_holds_what_naming_a_source_can_break(manifest: dict[str, Any]) -> None:
    tests = [n for n in manifest["nodes"].values() if n["resource_type"] == "test"]
    on_sources = [n for n in tests if n["sources"]]
    singular = [n for n in tests if "test_metadata" not in n]
    inputs = [g["input"] for n in manifest["unit_tests"].values() for g in n["given"]]
    assert on_sources
    assert singular
    assert "source('ml', 'customer_scores')" in inputs
    assert "exposure.shop.revenue_dashboard" in manifest["exposures"]
    assert len(manifest["groups"]) >= 2
    assert "doc.shop.order_status" in manifest["docs"]


@pytest.mark.usefixtures("demo")
def test_source_tree_stays_clean(root: Path) -> None:
    project = root / "dbt_project"
    strays = (
        "metastore_db",
        "derby.log",
        "spark-warehouse",
        "target",
        "dbt_packages",
        ".user.yml",
        "logs/dbt.log",
    )
    assert [name for name in strays if (project / name).exists()] == []


def dataset(node: dict[str, Any]) -> str:
    """The dataset of a dbt node."""
    identifier = node["identifier"] if node["resource_type"] == "source" else node["alias"]
    return f"spark/{node['schema']}.{identifier}"
