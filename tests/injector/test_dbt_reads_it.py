"""dbt's own loader and JSON schema take the grafted artifacts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dbt_graft.injector.artifacts import Artifacts, write
from dbt_graft.injector.integrity import faults
from dbt_graft.injector.report import Grafted
from tests.dbt_artifacts import dbt_class, schema


@pytest.fixture(scope="module")
def manifest_schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema("manifest"))


def _faults(validator: jsonschema.Draft202012Validator, document: dict[str, Any]) -> list[str]:
    return [f"{list(e.path)[:3]}: {e.message[:200]}" for e in validator.iter_errors(document)]


def test_the_schema_accepts_the_project_and_its_graft(
    project: Any, grafted: Grafted, manifest_schema: jsonschema.Draft202012Validator
) -> None:
    assert _faults(manifest_schema, project.manifest) == []
    assert _faults(manifest_schema, grafted.manifest) == []


def test_the_schema_check_sees_a_key_of_our_own_on_a_node(
    grafted: Grafted, manifest_schema: jsonschema.Draft202012Validator
) -> None:
    grafted.manifest["nodes"]["model.python_tasks.raw_orders"]["graft"] = {}

    assert _faults(manifest_schema, grafted.manifest)


@pytest.mark.parametrize("version", ["1.9.0", "1.10.22", "1.12.6", "2.0.9"])
def test_keys_of_other_versions_are_no_fault(
    project: Any, log: Any, run: Callable[..., Grafted], version: str
) -> None:
    """dbt 2 writes v12 with keys outside its schema; what we add has none of them."""
    project.manifest["metadata"]["dbt_version"] = version
    if version.startswith("2"):
        for node in (*project.manifest["nodes"].values(), *project.manifest["sources"].values()):
            node |= {"classifiers": [], "generated_sql_file": "target/a.sql"}
            node.setdefault("depends_on", {})["nodes_with_ref_location"] = []
    before = Artifacts(project.manifest, project.catalog, "spark", version)
    assert faults(before, run(project, log)) == ([], [])


def test_a_manifest_of_dbt_that_its_loader_refuses_is_said(
    project: Any, log: Any, run: Callable[..., Grafted]
) -> None:
    project.manifest["nodes"]["model.shop.orders"]["fqn"] = 7
    before = Artifacts(project.manifest, project.catalog, "spark", "1.11.16")
    new, (message,) = faults(before, run(project, log))
    assert new == []
    assert "reads not even dbt's own manifest" in message


def test_the_catalogs_schema_accepts_the_graft(grafted: Grafted) -> None:
    validator = jsonschema.Draft202012Validator(schema("catalog"))

    assert _faults(validator, grafted.catalog) == []


def test_dbt_loads_both(grafted: Grafted, tmp_path: Path) -> None:
    write(grafted, tmp_path)

    manifest = dbt_class("manifest").read_and_check_versions(str(tmp_path / "manifest.json"))
    catalog = dbt_class("catalog").read_and_check_versions(str(tmp_path / "catalog.json"))

    model = manifest.nodes["model.python_tasks.ml_customer_scores"]
    assert model.depends_on.nodes == ["model.shop.customers"]
    assert catalog.nodes[model.unique_id].metadata.type == "MANAGED"


def test_dbt_loads_a_view(
    project: Any,
    log: Any,
    run: Callable[..., Grafted],
    tmp_path: Path,
    manifest_schema: jsonschema.Draft202012Validator,
) -> None:
    log.task("raw.v", engine="view")
    log.statement("raw.v", ["spark/raw.orders"], ["spark/raw.v"], "CREATE VIEW")
    grafted = run(project, log)
    assert _faults(manifest_schema, grafted.manifest) == []
    write(grafted, tmp_path)
    manifest = dbt_class("manifest").read_and_check_versions(str(tmp_path / "manifest.json"))
    assert manifest.nodes["model.python_tasks.raw_v"].language == "sql"
