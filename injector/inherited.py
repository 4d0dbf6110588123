"""Fields of a promoted source that its model inherits: columns, tags, meta, descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt_graft.injector.manifest import Node, string_tags


def merge_field(sources: Iterable[Node], field: str) -> dict[str, Any]:
    """Merge a field of several sources on one relation; the first source with a key wins."""
    merged_values: dict[str, Any] = {}
    for node in sources:
        values = node.get(field)
        for key, value in values.items() if isinstance(values, dict) else ():
            merged_values.setdefault(key, value)
    return merged_values


def meta(sources: Iterable[Node]) -> dict[str, Any]:
    """Merge `meta` of the tables over `source_meta`."""
    nodes = list(sources)
    return {**merge_field(nodes, "source_meta"), **merge_field(nodes, "meta")}


def descriptions(sources: Iterable[Node]) -> list[str]:
    """Return the descriptions of the tables, then of their sources, without duplicates."""
    nodes = list(sources)
    fields = ("description", "source_description")
    return list(dict.fromkeys(str(node.get(field) or "") for field in fields for node in nodes))


def tags(sources: Iterable[Node]) -> list[str]:
    """Return the tags."""
    return [tag for node in sources for tag in string_tags(node)]


def graft_meta(
    sources: Iterable[Node], freshness: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return `freshness`, `loader` and `promoted_from`, which a model has no fields for.

    Args:
        freshness: Source id -> its result in sources.json.
    """
    nodes = list(sources)
    fresh = {
        **_set(merge_field(nodes, "freshness")),
        **_set(_first(nodes, ("loaded_at_field", "loaded_at_query"))),
        **_freshness_result(nodes, freshness),
    }
    return {
        **({"freshness": fresh} if fresh else {}),
        **_set(_first(nodes, ("loader",))),
        **({"promoted_from": [str(node["unique_id"]) for node in nodes]} if nodes else {}),
    }


def _freshness_result(
    sources: Iterable[Node], freshness: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The result of `dbt source freshness` for the first source that has one."""
    for node in sources:
        if result := freshness.get(str(node.get("unique_id"))):
            fields = ("status", "max_loaded_at", "snapshotted_at", "error")
            return {field: result[field] for field in fields if result.get(field)}
    return {}


def _first(sources: Iterable[Node], fields: Iterable[str]) -> dict[str, Any]:
    nodes = list(sources)
    return {
        field: next((node[field] for node in nodes if node.get(field)), None) for field in fields
    }


def _set(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are set; an object is if any of its own values is."""
    return {
        key: value
        for key, value in values.items()
        if (any(part is not None for part in value.values()) if isinstance(value, dict) else value)
    }
