"""Columns of grafted nodes: from descriptions in YAML, from logs, and their column edges.

The docs page cannot show column edges: they go into `meta.graft.columns`, for tools, and into a
last line of the description of the column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, Column, ColumnEdge, EdgeType, Subtype

_SHOWN = 12
Edges = Mapping[DatasetId, list[ColumnEdge]]


def by_target(edges: Iterable[ColumnEdge]) -> Edges:
    """Return the edges by their output dataset."""
    found: dict[DatasetId, list[ColumnEdge]] = defaultdict(list)
    for edge in edges:
        found[edge.to_dataset].append(edge)
    return found


def columns(
    described: Mapping[str, Any], seen: Iterable[Column], edges: Iterable[ColumnEdge]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return `columns` and `meta.graft.columns` of a node.

    Args:
        described: The columns of the YAML files; they come first, and their values win.
        seen: The columns in logs.
        edges: The column edges that end in the dataset of the node.
    """
    upstream = _by_column(edges)
    names = {column.name.casefold(): column for column in seen}
    if not names and not described:
        names = {
            key: Column(found[0].to_column) for key, found in upstream.items() if key != ANY_COLUMN
        }
    spelled = {name.casefold(): name for name in described}
    nodes = {name: dict(column) for name, column in described.items() if isinstance(column, dict)}
    for key, column in names.items():
        name = spelled.setdefault(key, column.name)
        node = nodes.setdefault(
            name, {"name": name, "description": "", "meta": {}, "data_type": None, "tags": []}
        )
        node["data_type"] = node.get("data_type") or column.type or None
    for name, node in nodes.items():
        if found := upstream.get(name.casefold()):
            text = str(node.get("description") or "").rstrip()
            node["description"] = "\n\n".join(filter(None, (text, _line(found))))
    meta = {
        spelled.get(key, found[0].to_column): [_edge(edge) for edge in found]
        for key, found in sorted(upstream.items())
    }
    return nodes, meta


def _by_column(edges: Iterable[ColumnEdge]) -> dict[str, list[ColumnEdge]]:
    """The edges by column, one for each upstream column and subtype."""
    found: dict[str, dict[tuple[object, ...], ColumnEdge]] = defaultdict(dict)
    for edge in edges:
        upstream = (edge.from_dataset.key, edge.from_column.casefold(), edge.subtype)
        found[edge.to_column.casefold()].setdefault(upstream, edge)
    return {key: list(by_upstream.values()) for key, by_upstream in found.items()}


def _edge(edge: ColumnEdge) -> dict[str, Any]:
    return {
        "dataset": str(edge.from_dataset),
        "column": edge.from_column,
        "type": str(edge.type),
        "subtype": str(edge.subtype),
        "masking": edge.masking,
        "task": edge.task,
    }


def _line(edges: list[ColumnEdge]) -> str:
    """`From raw.orders.amount (aggregation). Decided by raw.orders.status (conditional).`"""
    parts = []
    for word, kind in (("From", EdgeType.DIRECT), ("Decided by", EdgeType.INDIRECT)):
        names = [_upstream(edge) for edge in edges if edge.type is kind]
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            parts.append(f"{word} {', '.join(names[:_SHOWN])}{more}.")
    return " ".join(parts)


def _upstream(edge: ColumnEdge) -> str:
    name = f"{edge.from_dataset.short}.{edge.from_column}"
    how = [] if edge.subtype is Subtype.IDENTITY else [edge.subtype.lower().replace("_", " ")]
    how += ["masked"] if edge.masking else []
    # In a code span only a backtick is markup.
    code = " ".join(name.replace("`", "'").split())
    return f"`{code}`" + (f" ({', '.join(how)})" if how else "")
