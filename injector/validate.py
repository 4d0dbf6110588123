"""Whether grafted artifacts are sound: no defect of ours, and dbt itself reads them.

dbt's loader takes seconds on a large manifest, so that this is asked for: by `graft inject
--validate`, and by the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from injector import integrity
from injector.artifacts import Artifacts
from injector.relations import PARTS
from injector.report import Grafted

_SHOWN = 20


def faults(artifacts: Artifacts, grafted: Grafted, folder: Path) -> list[str]:
    """What is wrong with a graft, in words; empty for a sound one.

    Args:
        folder: Where the grafted artifacts were written.
    """
    after = integrity.check(grafted.manifest, grafted.catalog)
    ours = integrity.new_findings(grafted.report.findings, after, grafted.redirects)
    told = [f"the graft made a defect: {f.subject}: {f.text}" for f in ours]
    return [*told, *_loads(artifacts, folder), *_schema(artifacts, grafted)][:_SHOWN]


def _loads(artifacts: Artifacts, folder: Path) -> Iterator[str]:
    """What dbt's own loader says; what it says of dbt's own manifest as well is not ours."""
    from dbt.artifacts.schemas.catalog import CatalogArtifact
    from dbt.artifacts.schemas.manifest import WritableManifest

    kinds = (
        ("manifest.json", WritableManifest, artifacts.manifest),
        ("catalog.json", CatalogArtifact, artifacts.catalog),
    )
    for name, kind, original in kinds:
        try:
            kind.read_and_check_versions(str(folder / name))
        # dbt raises whatever its parts raise.
        except Exception as error:
            if not _fails(kind, original):
                yield f"dbt does not load {folder / name}: {str(error).strip()[:300]}"


def _fails(kind: Any, document: dict[str, Any]) -> bool:
    try:
        kind.upgrade_schema_version(orjson.loads(orjson.dumps(document)))
    except Exception:
        return True
    return False


def _schema(artifacts: Artifacts, grafted: Grafted) -> Iterator[str]:
    """What the schema of the installed dbt says of nodes that the graft made or changed.

    Only that of v12 is at hand; what it says of dbt's own node as well is not ours.
    """
    if not str(artifacts.manifest["metadata"].get("dbt_schema_version")).endswith("/v12.json"):
        return
    from dbt.artifacts.schemas.manifest import WritableManifest
    from jsonschema import Draft202012Validator

    schema = WritableManifest.json_schema()["properties"]
    for part in (*PARTS, "groups"):
        validator = Draft202012Validator(schema[part].get("additionalProperties") or {})
        before = artifacts.manifest.get(part) or {}
        for key, node in (grafted.manifest.get(part) or {}).items():
            old = before.get(key)
            if node is old or validator.is_valid(node):
                continue
            if old is None or validator.is_valid(old):
                yield f"{key} is not as the manifest's schema has it"
