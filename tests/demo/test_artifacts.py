"""The grafted artifacts of the demo: dbt loads them, and dbt's own schema finds nothing new."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import orjson
import pytest

from dbt_graft.graft.project.config import load
from dbt_graft.injector import integrity
from dbt_graft.injector.manifest import all_nodes
from tests.dbt_artifacts import Document, dbt_class, schema

pytestmark = pytest.mark.demo


@pytest.fixture(scope="module")
def pairs(root: Path) -> dict[str, tuple[Document, Document]]:
    """manifest.json and catalog.json as dbt wrote them and as grafted."""
    config = load(root / "dbt_project/graft.yml")
    folders = {"dbt": config.target_dir, "grafted": Path(config.path(config.artifacts))}
    if not (folders["grafted"] / "manifest.json").is_file():
        pytest.skip("run `make docs` first")
    return {
        name: tuple(
            orjson.loads((folder / f"{which}.json").read_bytes())
            for which in ("manifest", "catalog")
        )
        for name, folder in folders.items()
    }  # type: ignore[return-value]


def faults(described: Document, document: Document) -> set[tuple[str, str]]:
    validator = jsonschema.Draft202012Validator(described)
    return {
        ("/".join(map(str, error.absolute_path)), error.message[:200])
        for error in validator.iter_errors(document)
    }


def test_the_json_schema_finds_no_fault_that_dbt_did_not_write(
    pairs: dict[str, tuple[Document, Document]],
) -> None:
    for at, artifact in enumerate(("manifest", "catalog")):
        described = schema(artifact)
        assert faults(described, pairs["grafted"][at]) <= faults(described, pairs["dbt"][at])


def test_dbt_loads_the_manifest_with_every_node(
    pairs: dict[str, tuple[Document, Document]], tmp_path: Path
) -> None:
    manifest = dict(pairs["grafted"][0])
    # dbt-adapters 1.24 has macros in a language that dbt-core 1.11 cannot read back.
    manifest["macros"] = {
        key: macro
        for key, macro in manifest["macros"].items()
        if "javascript" not in (macro.get("supported_languages") or ())
    }
    path = tmp_path / "manifest.json"
    path.write_bytes(orjson.dumps(manifest))
    loaded = dbt_class("manifest").read_and_check_versions(str(path))
    assert {*loaded.nodes, *loaded.sources, *loaded.exposures} <= set(all_nodes(manifest))
    assert "model.python_tasks.ml_customer_scores" in loaded.nodes


def test_the_integrity_check_finds_nothing(pairs: dict[str, tuple[Document, Document]]) -> None:
    assert integrity.check(*pairs["grafted"]) == []
