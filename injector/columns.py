"""Columns of nodes: from descriptions in YAML, from logs, and their column edges.

The docs page cannot show column edges: they go into `meta.graft.columns`, for tools, and for nodes
of the graft into a last line of the description of the column. Descriptions of dbt's own nodes stay
as the team wrote them, because other tools copy those elsewhere; the docs page's own copy has the
edges in them too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

import msgspec

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.prose import escape, escaped_text
from dbt_graft.injector.undecoded import Undecoded
from dbt_graft.lineage.code_lines import place_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import ColumnEnd, DefinitionEdges
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Column,
    ColumnEdge,
    ColumnMetadata,
    EdgeType,
    Evidence,
    Subtype,
)

_SHOWN = 12
_SHOWN_FOR_ROWS = 4
# Edges of a column in `meta`: a union of hundreds of tables shall not fill the manifest.
_IN_META = 200
# What decides on rows matters to values that are computed over many of them.
_OVER_ROWS = frozenset((Subtype.AGGREGATION, Subtype.WINDOW))
_ROWS = {Subtype.FILTER: "filtered by", Subtype.GROUP_BY: "grouped by"}
_TYPES = {subtype: subtype.type for subtype in Subtype}
Edges = Mapping[DatasetId, list[ColumnEdge]]
# Column in lower case -> its edges.
ByColumn = Mapping[str, Sequence[ColumnEdge]]
FindText = Callable[[str, Callable[[], bytes]], bytes | msgspec.Raw]


class MetaEdge(msgspec.Struct, gc=False):
    """A column edge in `meta.graft.columns`.

    Attributes:
        dataset, column: Of its input.
        place: The line of the task's code that makes it; left out where none does.
    """

    dataset: str
    column: str
    type: EdgeType
    subtype: Subtype
    masking: bool
    task: str
    evidence: Evidence
    place: str | msgspec.UnsetType = msgspec.UNSET


def edges_by_target(edges: Iterable[ColumnEdge]) -> Edges:
    """Return the edges by their output dataset."""
    return group_by_key((edge.to_dataset, edge) for edge in edges)


def columns(
    yaml_columns: Mapping[str, Any],
    log_columns: Iterable[Column],
    edges: Iterable[ColumnEdge],
    event_columns: Mapping[str, ColumnMetadata] = MappingProxyType({}),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return `columns` and `meta.graft.columns` of a node.

    Args:
        yaml_columns: The columns of the YAML files; they come first, and their values win.
        log_columns: The columns in logs.
        edges: The column edges that end in the dataset of the node.
        event_columns: What events have of columns, by folded name: used where YAML has nothing.
    """
    upstream = edges_by_column(edges)
    names = {column.name.casefold(): column for column in log_columns}
    if not names and not yaml_columns:
        names = {
            key: Column(column_edges[0].to_column)
            for key, column_edges in upstream.items()
            if key != ANY_COLUMN
        }
    spelled = {name.casefold(): name for name in yaml_columns}
    nodes = {
        name: dict(column) for name, column in yaml_columns.items() if isinstance(column, dict)
    }
    for key, column in names.items():
        name = spelled.setdefault(key, column.name)
        node = nodes.setdefault(
            name, {"name": name, "description": "", "meta": {}, "data_type": None, "tags": []}
        )
        node["data_type"] = node.get("data_type") or column.type or None
    for name, node in nodes.items():
        if metadata := event_columns.get(name.casefold()):
            node["description"] = node.get("description") or escaped_text(metadata.description)
            node["tags"] = node.get("tags") or list(metadata.tags)
        node["description"] = with_origins(node.get("description"), name, upstream)
    return nodes, msgspec.to_builtins(_meta_columns(upstream, spelled))


def _meta_columns(upstream: ByColumn, spelled: Mapping[str, str]) -> dict[str, list[MetaEdge]]:
    """The first edges of each column, `*` for all rows.

    Args:
        spelled: The columns as the node spells them, by their names in lower case.
    """
    return {
        spelled.get(key, column_edges[0].to_column): [
            _meta_edge(edge) for edge in column_edges[:_IN_META]
        ]
        for key, column_edges in sorted(upstream.items())
    }


def with_origins(
    description: Any, column: str, upstream: ByColumn, usual: Evidence = Evidence.OBSERVED
) -> str:
    """Return the description of a column with a line that says where its values come from.

    Args:
        usual: The evidence that is not mentioned where all edges have it.
    """
    text = str(description or "")
    column_edges = upstream.get(column.casefold())
    line = _line(column_edges, upstream.get(ANY_COLUMN, ()), usual) if column_edges else ""
    return "\n\n".join(filter(None, (text.rstrip(), line))) if line else text


def edges_by_column(edges: Iterable[ColumnEdge]) -> ByColumn:
    """Return the edges by column, one for each upstream column and subtype."""
    edges_of_column: dict[str, list[ColumnEdge]] = {}
    for edge in edges:
        edges_of_column.setdefault(edge.to_column.casefold(), []).append(edge)
    return {
        key: column_edges if len(column_edges) == 1 else _by_upstream(column_edges)
        for key, column_edges in edges_of_column.items()
    }


def _by_upstream(edges: Iterable[ColumnEdge]) -> list[ColumnEdge]:
    by_upstream: dict[tuple[object, ...], ColumnEdge] = {}
    for edge in edges:
        upstream = (edge.from_dataset.key, edge.from_column.casefold(), edge.subtype)
        by_upstream.setdefault(upstream, edge)
    return list(by_upstream.values())


def _meta_edge(edge: ColumnEdge) -> MetaEdge:
    return MetaEdge(
        str(edge.from_dataset),
        edge.from_column,
        edge.type,
        edge.subtype,
        edge.masking,
        edge.task,
        edge.evidence,
        edge.place or msgspec.UNSET,
    )


def _line(edges: Sequence[ColumnEdge], of_rows: Sequence[ColumnEdge], usual: Evidence) -> str:
    """`From raw.orders.amount (aggregation), filtered by raw.orders.status. Inferred.`

    Args:
        of_rows: The edges that decide which rows there are.
    """
    evidences = {edge.evidence for edge in edges}
    [common] = evidences if len(evidences) == 1 else [None]
    direct = [edge for edge in edges if edge.type is EdgeType.DIRECT]
    deciding = [edge for edge in edges if edge.type is EdgeType.INDIRECT]
    parts = []
    if direct:
        computed = any(edge.subtype in _OVER_ROWS for edge in edges)
        rows = "".join(_row_inputs(of_rows)) if computed else ""
        parts.append(f"From {join_names([_upstream(e, common) for e in direct], _SHOWN)}{rows}.")
    if deciding:
        parts.append(f"Decided by {join_names([_upstream(e, common) for e in deciding], _SHOWN)}.")
    if common and common not in {Evidence.OBSERVED, Evidence.CODE, usual}:
        parts.append(f"{common.capitalize()}.")
    return " ".join(parts)


def _row_inputs(edges: Sequence[ColumnEdge]) -> Iterator[str]:
    for subtype, words in _ROWS.items():
        names = [_name(edge) for edge in edges if edge.subtype is subtype]
        if names:
            yield f", {words} {join_names(names, _SHOWN_FOR_ROWS)}"


def _upstream(edge: ColumnEdge, common: Evidence | None) -> str:
    """A column with what was done to it, and its evidence where not all edges have the same."""
    notes = [] if edge.subtype is Subtype.IDENTITY else [edge.subtype.lower().replace("_", " ")]
    notes += [edge.masked_by.word] if edge.masking else []
    if edge.place:
        notes.append(f"in {escape(place_text(edge.place))}")
    elif not common and edge.evidence is not Evidence.OBSERVED:
        notes.append(edge.evidence)
    return _name(edge) + (f" ({', '.join(notes)})" if notes else "")


def _name(edge: ColumnEdge) -> str:
    # Without a code span: dbt's page shows the text in a table, where no markup counts.
    return escape(f"{edge.from_dataset.short}.{edge.from_column}")


def with_meta(
    manifest: dict[str, Any],
    catalog: Node,
    declared: Mapping[str, Sequence[ColumnEdge]],
    logged: Edges,
    node_ids: Mapping[DatasetId, str],
    find_text: FindText = lambda _, make: make(),
) -> dict[str, Any]:
    """Return a manifest with the column edges of dbt's nodes in their `meta.graft.columns`.

    A node whose team uses `meta.graft` for something else keeps its own.

    Args:
        declared: Node -> its column edges by its own SQL.
        logged: Dataset -> other column edges that end in it.
        node_ids: Dataset -> the node that dbt builds it with.
        find_text: A digest, and what makes the text that it stands for -> the text.
    """
    nodes = dict(manifest["nodes"])
    for dataset, node_id in sorted(node_ids.items(), key=lambda item: item[1]):
        node, entry = nodes.get(node_id), catalog["nodes"].get(node_id)
        own, others = declared.get(node_id, ()), logged.get(dataset, ())
        columns: Mapping[str, Any] | None = None
        if node is not None and isinstance(own, DefinitionEdges) and not others:
            columns = _declared_json(own, node, entry, find_text)
        elif node is not None and (own or others):
            upstream = edges_by_column([*own, *others])
            columns = _json(_meta_columns(upstream, _columns(node, entry, upstream)))
        if node is None or columns is None:
            continue
        meta = node.get("meta") or {}
        ours = meta.get("graft") or {} if isinstance(meta, dict) else None
        if isinstance(ours, dict) and "columns" not in ours:
            meta = {**meta, "graft": {**ours, "columns": columns}}
            nodes[node_id] = {**node, "meta": meta}
    return {**manifest, "nodes": nodes}


def _declared_json(
    edges: DefinitionEdges, node: Node, entry: Node | None, find_text: FindText
) -> Mapping[str, Any] | None:
    """The columns of a model by its SQL, as JSON; None where nothing goes into any."""

    def make() -> bytes:
        return msgspec.json.encode(_declared_columns(edges, node, entry))

    parts = (edges.identity, *_column_names(node, entry))
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
    try:
        text = find_text(digest, make)
    except UnicodeEncodeError:
        return _json(_declared_columns(edges, node, entry))
    return Undecoded(text) if len(memoryview(text)) > len(b"{}") else None


def _declared_columns(
    edges: DefinitionEdges, node: Node, entry: Node | None
) -> dict[str, list[MetaEdge]]:
    """The columns of a model by its SQL, as `_meta_columns` of its edges, without making these."""
    upstream: dict[str, tuple[str, Sequence[ColumnEnd]]] = {}
    for name, ends in edges.columns:
        if ends:
            first, earlier = upstream.get(key := name.casefold(), (name, ()))
            upstream[key] = first, (*earlier, *ends) if earlier else ends
    spelled = _spelled_columns(node, entry) or {key: name for key, (name, _) in upstream.items()}
    texts: dict[DatasetId, str] = {}
    return {
        spelled.get(key, name): [
            MetaEdge(
                texts.get(source) or texts.setdefault(source, str(source)),
                column,
                _TYPES[subtype],
                subtype,
                bool(masking),
                edges.name,
                Evidence.DECLARED,
            )
            for source, column, subtype, masking in _distinct_ends(ends)[:_IN_META]
        ]
        for key, (name, ends) in sorted(upstream.items())
    }


def _distinct_ends(ends: Sequence[ColumnEnd]) -> Sequence[ColumnEnd]:
    """The first end of each upstream column and subtype."""
    if len(ends) == 1:
        return ends
    by_upstream: dict[tuple[object, ...], ColumnEnd] = {}
    for end in ends:
        source, column, subtype, _ = end
        by_upstream.setdefault((source.key, column.casefold(), subtype), end)
    return [*by_upstream.values()]


def _json(columns: dict[str, list[MetaEdge]]) -> Mapping[str, Any]:
    """The columns as JSON, which nobody reads before they are written."""
    try:
        return Undecoded(msgspec.json.encode(columns))
    except UnicodeEncodeError:  # a lone surrogate
        values: dict[str, Any] = msgspec.to_builtins(columns)
        return values


def with_descriptions(
    manifest: Node, catalog: Node, edges: Edges, node_ids: Mapping[DatasetId, str]
) -> dict[str, Any]:
    """Return a manifest in which the columns of dbt's nodes say where their values come from.

    Columns without a description in YAML get one, in the spelling of the catalog.

    Args:
        edges, node_ids: As for `with_meta`.
    """
    nodes = dict(manifest["nodes"])
    for dataset, node_id in node_ids.items():
        node = nodes.get(node_id)
        if node is None or dataset not in edges:
            continue
        upstream = edges_by_column(edges[dataset])
        columns = dict(node.get("columns") or {})
        spelled = _columns(node, catalog["nodes"].get(node_id), upstream)
        for name in spelled.values():
            column = columns.get(name) or {"name": name, "description": "", "meta": {}, "tags": []}
            if isinstance(column, dict):
                description = column.get("description")
                text = with_origins(description, name, upstream, usual=Evidence.DECLARED)
                if name in columns or text:
                    columns[name] = {**column, "description": text}
        nodes[node_id] = {**node, "columns": columns}
    return {**manifest, "nodes": nodes}


def _columns(node: Node, entry: Node | None, upstream: ByColumn) -> dict[str, str]:
    """The columns of a node as they are spelled, or those of its edges, where it names none."""
    return _spelled_columns(node, entry) or {
        key: edges[0].to_column for key, edges in upstream.items() if key != ANY_COLUMN
    }


def _spelled_columns(node: Node, entry: Node | None) -> dict[str, str]:
    """The columns of a node, lower case -> spelled as in YAML, else as in the catalog."""
    spelled: dict[str, str] = {}
    # Most are spelled alike in both.
    for name in dict.fromkeys(chain.from_iterable(_column_names(node, entry))):
        spelled.setdefault(name.casefold(), name)
    return spelled


def _column_names(node: Node, entry: Node | None) -> tuple[list[str], list[str]]:
    """The names of a node's columns in YAML, and in the catalog."""
    return [*(node.get("columns") or ())], [*((entry or {}).get("columns") or ())]
