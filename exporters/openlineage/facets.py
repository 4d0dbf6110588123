"""The frame of every event and facet: its producer, the URL of its schema, its time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias

from dbt_graft import __version__
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.openlineage import REPOSITORY, JobId

Event: TypeAlias = dict[str, Any]
Facet: TypeAlias = dict[str, Any]

PRODUCER = f"{REPOSITORY}/tree/v{__version__}"
_SPEC = "https://openlineage.io/spec"
_CORE = "2-0-2"
# Schema of each facet that we write -> its version.
_VERSIONS = {
    "ColumnLineageDatasetFacet": "1-2-0",
    "DatasetTypeDatasetFacet": "1-0-1",
    "DocumentationDatasetFacet": "1-1-0",
    "DocumentationJobFacet": "1-1-0",
    "ErrorMessageRunFacet": "1-0-1",
    "ExtractionErrorRunFacet": "1-1-2",
    "InputStatisticsInputDatasetFacet": "1-0-0",
    "DatasetVersionDatasetFacet": "1-0-1",
    "InputSubsetInputDatasetFacet": "1-0-0",
    "JobTypeJobFacet": "2-0-4",
    "LifecycleStateChangeDatasetFacet": "1-0-1",
    "LineageJobFacet": "1-0-0",
    "NominalTimeRunFacet": "1-0-1",
    "OutputStatisticsOutputDatasetFacet": "1-0-2",
    "OutputSubsetOutputDatasetFacet": "1-0-0",
    "OwnershipDatasetFacet": "1-0-1",
    "OwnershipJobFacet": "1-0-1",
    "ParentRunFacet": "1-2-0",
    "ProcessingEngineRunFacet": "1-1-1",
    "SQLJobFacet": "1-1-0",
    "SchemaDatasetFacet": "1-2-0",
    "SourceCodeLocationJobFacet": "1-1-0",
    "StorageDatasetFacet": "1-0-1",
    "SymlinksDatasetFacet": "1-0-1",
    "TagsDatasetFacet": "1-0-0",
    "TagsJobFacet": "1-0-0",
    "TagsRunFacet": "1-0-0",
}
# Schemas that share a file.
_FILES = {
    "LineageJobFacet": "LineageFacet",
    "InputSubsetInputDatasetFacet": "BaseSubsetDatasetFacet",
    "OutputSubsetOutputDatasetFacet": "BaseSubsetDatasetFacet",
}
_MARKDOWN = "text/markdown"
# The run facet that tells that a lineage is collected: docs/schemas/graft-facets.schema.json.
GRAFT = "graft"
GRAFT_SCHEMA = (
    "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/schemas/"
    "graft-facets.schema.json#/$defs/GraftRunFacet"
)


def facet(schema: str, **content: Any) -> Facet:
    """A facet."""
    file = _FILES.get(schema, schema)
    url = f"{_SPEC}/facets/{_VERSIONS[schema]}/{file}.json#/$defs/{schema}"
    return {"_producer": PRODUCER, "_schemaURL": url, **without_none(content)}


def without_none(content: dict[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {key: value for key, value in content.items() if value is not None}


def event(kind: str, at: datetime, **content: Any) -> Event:
    """An event."""
    return {
        "eventTime": timestamp(at),
        "producer": PRODUCER,
        "schemaURL": f"{_SPEC}/{_CORE}/OpenLineage.json#/$defs/{kind}",
        **without_none(content),
    }


def timestamp(at: datetime) -> str:
    """A time as events have it: `2026-11-22T02:00:00Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def identity(entity: DatasetId | JobId) -> dict[str, Any]:
    """Namespace and name of a dataset or job."""
    return {"namespace": entity.namespace, "name": entity.name}


def documentation(schema: str, text: str) -> Facet | None:
    """The description of a dataset or job; None without one."""
    return facet(schema, description=text, contentType=_MARKDOWN) if text else None


def ownership(schema: str, owner: str) -> Facet | None:
    """The owner of a dataset or job; None without one."""
    return facet(schema, owners=[{"name": owner}]) if owner else None


def tag(key: str, value: str, source: str, field: str | None = None) -> dict[str, Any]:
    """A tag of a dataset, one of its columns, a job or a run."""
    return without_none({"key": key, "value": value, "source": source, "field": field})
