"""What people said of a source, carried over to the model that stands in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt_graft.injector.relations import Node


def merged(sources: Iterable[Node], field: str) -> dict[str, Any]:
    """A field of several sources on one relation; the first that has a key decides."""
    found: dict[str, Any] = {}
    for node in sources:
        told = node.get(field)
        for key, value in told.items() if isinstance(told, dict) else ():
            found.setdefault(key, value)
    return found


def meta(sources: Iterable[Node]) -> dict[str, Any]:
    """`meta` of the tables, and beneath it that of the groups they stand in."""
    told = list(sources)
    return {**merged(told, "source_meta"), **merged(told, "meta")}


def descriptions(sources: Iterable[Node]) -> list[str]:
    """What is said of the tables, then of the groups they stand in; each once."""
    told = list(sources)
    texts = [str(node.get(field) or "") for field in _TEXTS for node in told]
    return list(dict.fromkeys(texts))


_TEXTS = ("description", "source_description")


def tags(sources: Iterable[Node]) -> list[str]:
    """The tags, those that are strings: others break dbt's docs page."""
    return [tag for node in sources for tag in node.get("tags") or () if isinstance(tag, str)]


def graft_meta(
    sources: Iterable[Node], freshness: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """What a model has no field for: how fresh the source must be and was, and its loader.

    Args:
        freshness: Source id -> what sources.json says of it.
    """
    told = list(sources)
    fresh = {
        **_some(merged(told, "freshness")),
        **_some(_first(told, ("loaded_at_field", "loaded_at_query"))),
        **checked(told, freshness),
    }
    return {
        **({"freshness": fresh} if fresh else {}),
        **_some(_first(told, ("loader",))),
        **({"promoted_from": [str(node["unique_id"]) for node in told]} if told else {}),
    }


def checked(sources: Iterable[Node], freshness: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What `dbt source freshness` found: `status`, `max_loaded_at`, `snapshotted_at`, `error`."""
    for node in sources:
        if result := freshness.get(str(node.get("unique_id"))):
            told = ("status", "max_loaded_at", "snapshotted_at", "error")
            return {key: result[key] for key in told if result.get(key)}
    return {}


def _first(sources: Iterable[Node], fields: Iterable[str]) -> dict[str, Any]:
    told = list(sources)
    return {
        field: next((node[field] for node in told if node.get(field)), None) for field in fields
    }


def _some(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that say something; of thresholds those that are set."""
    kept = {}
    for key, value in values.items():
        told = isinstance(value, dict) and any(part is not None for part in value.values())
        if told or (value and not isinstance(value, dict)):
            kept[key] = value
    return kept
