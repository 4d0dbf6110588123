"""Fields that a node of the graft takes from the sources that it replaces, else from events.

Descriptions in events are text of a log: in the manifest their markup is escaped. Pages of the
catalog show Markdown without its dangers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt_graft.injector import prose
from dbt_graft.injector.manifest import Node, owner, string_tags
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ColumnMetadata


def merge_field(sources: Iterable[Node], field: str) -> dict[str, Any]:
    """Merge a field of several sources on one relation; the first source with a key wins."""
    merged_values: dict[str, Any] = {}
    for node in sources:
        values = node.get(field)
        for key, value in values.items() if isinstance(values, Mapping) else ():
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
            values = {field: result[field] for field in fields if result.get(field)}
            if str(values.get("max_loaded_at")).startswith("0001-"):  # it has no rows
                del values["max_loaded_at"]
            return values
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


def owners(
    dataset: DatasetId,
    tasks: Iterable[str],
    lineage: Lineage,
    manifest: Node,
    sources: Iterable[Node] = (),
) -> list[str]:
    """The owners of a dataset: those of its tasks, else the one in events.

    Args:
        manifest, sources: The dbt project, and what it has of the dataset, which may have an owner.
    """
    infos = (lineage.tasks[name].info for name in tasks)
    task_owners = list(dict.fromkeys(info.owner for info in infos if info.owner))
    if task_owners or any(owner(source, manifest) for source in sources):
        return task_owners
    metadata = lineage.dataset_metadata.get(dataset)
    return [metadata.owner] if metadata and metadata.owner else []


def event_description(dataset: DatasetId, lineage: Lineage, sources: Iterable[Node] = ()) -> str:
    """The description of a dataset as escaped Markdown; empty where dbt has one."""
    metadata = lineage.dataset_metadata.get(dataset)
    if not metadata or any(text.strip() for text in descriptions(sources)):
        return ""
    return prose.escaped_text(metadata.description)


def event_tags(
    dataset: DatasetId, lineage: Lineage, sources: Iterable[Node] = ()
) -> tuple[str, ...]:
    """The tags of a dataset; none where dbt has any."""
    metadata = lineage.dataset_metadata.get(dataset)
    if not metadata or any(map(string_tags, sources)):
        return ()
    return metadata.tags


def event_columns(dataset: DatasetId, lineage: Lineage) -> dict[str, ColumnMetadata]:
    """The columns of a dataset with a description or tags, by folded name."""
    metadata = lineage.dataset_metadata.get(dataset)
    return {column.name.casefold(): column for column in metadata.columns} if metadata else {}


def column_texts(
    texts: Mapping[str, str], metadata: Mapping[str, ColumnMetadata]
) -> dict[str, str]:
    """Column -> its description; dbt's own text wins.

    Args:
        texts: dbt's.
    """
    names = {name.casefold(): name for name in texts}
    filled = dict(texts)
    for key, column in metadata.items():
        name = names.get(key, column.name)
        if column.description and not filled.get(name, "").strip():
            filled[name] = column.description
    return filled
