"""Classifications in dbt's artifacts: `meta` and tags of columns, and tags of their nodes.

The lineage labels more columns than people do: what is computed of a sensitive column is sensitive.
Written into the artifacts, these labels reach all tools that read them. A label that a team wrote
in dbt stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.manifest import Node, string_tags
from dbt_graft.injector.options import LabelPlace
from dbt_graft.injector.report import Grafted
from dbt_graft.injector.undo import changes
from dbt_graft.lineage.frozen import frozen


@frozen
class ColumnLabel:
    """The classification of a column.

    Attributes:
        source: The labelled column that it follows from; empty where the column itself is labelled.
        in_dbt: dbt's project has the label already.
    """

    column: str
    classification: str
    source: str = ""
    in_dbt: bool = False


Labels = Mapping[str, Sequence[ColumnLabel]]


def label_columns(
    grafted: Grafted, original: Artifacts, labels: Labels, places: Collection[LabelPlace]
) -> Grafted:
    """The grafted artifacts with labels, and what takes them out again.

    Args:
        labels: unique_id -> the labels of its columns.
    """

    def with_them(manifest: dict[str, Any]) -> dict[str, Any]:
        return with_labels(manifest, grafted.catalog, labels, places)

    manifest = with_them(grafted.manifest)
    undo = [*changes(original.manifest, manifest), *original.repairs.get("manifest.json", ())]
    return replace(
        grafted,
        manifest=manifest,
        describe=lambda: grafted.described,
        linked_to=lambda site, is_named: with_them(grafted.linked_to(site, is_named)),
        undo={**grafted.undo, "manifest.json": undo},
    )


def with_labels(
    manifest: dict[str, Any], catalog: Node, labels: Labels, places: Collection[LabelPlace]
) -> dict[str, Any]:
    """Return a manifest with the labels of columns."""
    result = dict(manifest)
    for part in ("nodes", "sources"):
        nodes = result[part] = dict(manifest[part])
        for node_id in labels.keys() & nodes.keys():
            entry = catalog[part].get(node_id) or {}
            nodes[node_id] = _node(nodes[node_id], entry, labels[node_id], places)
    return result


def _node(
    node: Node, entry: Node, labels: Sequence[ColumnLabel], places: Collection[LabelPlace]
) -> dict[str, Any]:
    columns = dict(node.get("columns") or {})
    spelled = {
        str(name).casefold(): str(name) for name in (*(entry.get("columns") or ()), *columns)
    }
    for label in labels:
        if not label.in_dbt:
            name = spelled.get(label.column.casefold(), label.column)
            columns[name] = _column(columns.get(name), name, label, places)
    if LabelPlace.TAGS not in places:
        return {**node, "columns": columns}
    classifications = (label.classification for label in labels)
    return {**node, "columns": columns, "tags": _with_tags(node, classifications)}


def _column(
    column: Any, name: str, label: ColumnLabel, places: Collection[LabelPlace]
) -> dict[str, Any]:
    filled_column: dict[str, Any] = {"name": name, "description": "", "meta": {}, "tags": []}
    filled_column |= column if isinstance(column, dict) else {}
    config = filled_column.get("config")
    if isinstance(config, dict):  # dbt 1.10 and later have both in two places.
        filled_column["config"] = {**config, **_marks(config, label, places)}
    return {**filled_column, **_marks(filled_column, label, places)}


def _marks(inside: Node, label: ColumnLabel, places: Collection[LabelPlace]) -> dict[str, Any]:
    marks: dict[str, Any] = {}
    if LabelPlace.META in places:
        meta = inside.get("meta")
        marks["meta"] = {
            **(meta if isinstance(meta, dict) else {}),
            "classification": label.classification,
            **({"classification_from": label.source} if label.source else {}),
        }
    if LabelPlace.TAGS in places:
        marks["tags"] = _with_tags(inside, [label.classification])
    return marks


def _with_tags(node: Node, labels: Iterable[str]) -> list[str]:
    return [*dict.fromkeys((*string_tags(node), *sorted(set(labels))))]
