"""Metadata of datasets in events, where neither dbt nor a task's metadata has any.

Descriptions in events are text of a log: in the manifest their markup is escaped. Pages of the
catalog show Markdown without its dangers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbt_graft.injector import prose
from dbt_graft.injector.inherited import descriptions
from dbt_graft.injector.manifest import Node, owner, string_tags
from dbt_graft.injector.sensitivity import labels as node_labels
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ColumnMetadata


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


def description(dataset: DatasetId, lineage: Lineage, sources: Iterable[Node] = ()) -> str:
    """The description of a dataset as escaped Markdown; empty where dbt has one."""
    metadata = lineage.dataset_metadata.get(dataset)
    if not metadata or any(text.strip() for text in descriptions(sources)):
        return ""
    return prose.escaped_text(metadata.description)


def tags(dataset: DatasetId, lineage: Lineage, sources: Iterable[Node] = ()) -> tuple[str, ...]:
    """The tags of a dataset; none where dbt has any."""
    metadata = lineage.dataset_metadata.get(dataset)
    if not metadata or any(map(string_tags, sources)):
        return ()
    return metadata.tags


def columns(dataset: DatasetId, lineage: Lineage) -> dict[str, ColumnMetadata]:
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


def with_tag_labels(
    labels: Mapping[str, tuple[str, ...]], columns: Mapping[str, ColumnMetadata]
) -> dict[str, tuple[str, ...]]:
    """Column -> its labels; those of dbt win over the tags of events.

    Args:
        labels: dbt's.
    """
    in_dbt = {name.casefold() for name in labels}
    tagged = {
        column.name: node_labels([{"tags": column.tags}])
        for key, column in columns.items()
        if key not in in_dbt
    }
    return {**labels, **{name: texts for name, texts in tagged.items() if texts}}
