"""Whether grafted artifacts are sound: no defect of ours, and dbt itself reads them.

dbt's loader takes seconds on a large manifest, so that this is asked for: by `graft inject
--validate`, and by the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import loads
from typing import Any

from dbt_graft.injector import integrity
from dbt_graft.injector.artifacts import Artifacts, dump
from dbt_graft.injector.relations import PARTS
from dbt_graft.injector.report import Grafted

_SHOWN = 20


def faults(artifacts: Artifacts, grafted: Grafted) -> list[str]:
    """What is wrong with a graft, in words; empty for a sound one."""
    before = integrity.check(artifacts.manifest, artifacts.catalog)
    after = integrity.check(grafted.manifest, grafted.catalog)
    ours = integrity.new_findings(before, after, grafted.redirects)
    told = [f"the graft made a defect: {f.subject}: {f.text}" for f in ours]
    return [*told, *_loads(artifacts, grafted), *_schema(artifacts, grafted)][:_SHOWN]


def _loads(artifacts: Artifacts, grafted: Grafted) -> Iterator[str]:
    """What dbt's own loader says; what it says of dbt's own document as well is not ours.

    Macros stay out: no graft touches them, and dbt does not load all that it writes.
    """
    from dbt.artifacts.schemas.catalog import CatalogArtifact
    from dbt.artifacts.schemas.manifest import WritableManifest

    for name, kind, ours, original in (
        ("manifest", WritableManifest, grafted.manifest, artifacts.manifest),
        ("catalog", CatalogArtifact, grafted.catalog, artifacts.catalog),
    ):
        if (said := _refusal(kind, ours)) and not _refusal(kind, original):
            yield f"dbt does not load the {name}: {said[:300]}"


def _refusal(kind: Any, document: dict[str, Any]) -> str:
    # The loader changes what it is given.
    content = loads(dump({**document, "macros": {}} if "macros" in document else document))
    try:
        kind.upgrade_schema_version(content)
    # dbt raises whatever its parts raise.
    except Exception as error:
        return str(error).strip() or type(error).__name__
    return ""


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
