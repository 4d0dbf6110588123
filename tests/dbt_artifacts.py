"""dbt's own classes of its artifacts, which take seconds to import, and its schemas of them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

Document = dict[str, Any]
_CLASSES = {
    "manifest": "manifest.WritableManifest",
    "catalog": "catalog.CatalogArtifact",
    "run_results": "run.RunResultsArtifact",
    "sources": "freshness.FreshnessExecutionResultArtifact",
}


def dbt_class(artifact: str) -> Any:
    """dbt's class of an artifact: `manifest`."""
    module, name = _CLASSES[artifact].split(".")
    return getattr(import_module(f"dbt.artifacts.schemas.{module}"), name)


@cache
def schema(artifact: str) -> Document:
    """dbt's own JSON schema of an artifact."""
    document: Document = dbt_class(artifact).json_schema()
    return document
