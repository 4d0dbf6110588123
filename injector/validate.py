"""Validation of grafted artifacts: no new defects, and dbt itself loads them.

dbt's loader takes seconds on a large manifest, so it runs only on request: `graft inject
--validate`, and in the tests.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from json import loads
from typing import Any

from dbt_graft.injector import integrity
from dbt_graft.injector.artifacts import Artifacts, dump
from dbt_graft.injector.manifest import PARTS
from dbt_graft.injector.report import Grafted

_log = logging.getLogger(__name__)

_SHOWN = 20


def faults(artifacts: Artifacts, grafted: Grafted) -> list[str]:
    """Return the faults of a graft as messages; empty if it is valid."""
    before = integrity.check(artifacts.manifest, artifacts.catalog)
    after = integrity.check(grafted.manifest, grafted.catalog)
    ours = integrity.new_defects(before, after, grafted.redirects)
    defects = [f"new defect: {d.subject}: {d.text}" for d in ours]
    return [*defects, *_loads(artifacts, grafted), *_schema(artifacts, grafted)][:_SHOWN]


def _loads(artifacts: Artifacts, grafted: Grafted) -> Iterator[str]:
    """Errors of dbt's own loader, unless dbt's own document has one too.

    Macros are left out: a graft does not change them, and dbt does not load all that it writes.
    """
    from dbt.artifacts.schemas.catalog import CatalogArtifact
    from dbt.artifacts.schemas.manifest import WritableManifest

    for name, kind, ours, original in (
        ("manifest", WritableManifest, grafted.manifest, artifacts.manifest),
        ("catalog", CatalogArtifact, grafted.catalog, artifacts.catalog),
    ):
        if (error := _refusal(kind, ours)) and not _refusal(kind, original):
            yield f"dbt does not load the {name}: {error[:300]}"


def _refusal(kind: Any, document: dict[str, Any]) -> str:
    # The loader modifies its argument.
    content = loads(dump({**document, "macros": {}} if "macros" in document else document))
    try:
        kind.upgrade_schema_version(content)
    # dbt raises whatever its parts raise.
    except Exception as error:
        _log.debug("dbt refuses an artifact", exc_info=True)
        return str(error).strip() or type(error).__name__
    return ""


def _schema(artifacts: Artifacts, grafted: Grafted) -> Iterator[str]:
    """Added or changed nodes that do not match the JSON schema of the installed dbt.

    Only v12 is checked; a node that did not match before the graft is skipped.
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
                yield f"{key} does not match the JSON schema of the manifest"
