"""The columns of a dataset with their lineage, for its page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from dbt_graft.catalog.formatting import MASKED, SUBTYPE
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import description_html
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Subtype

# Upstream columns listed for each column.
_MAX_UPSTREAM = 12


@dataclass(frozen=True, slots=True)
class UpstreamColumn:
    """A column that another comes from or depends on; the dataset where `column` is empty.

    Attributes:
        usage: What is done with it, in words: `copied, filter`.
    """

    dataset: DatasetId
    column: str
    usage: str


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A column; its description is HTML.

    Attributes:
        upstream: The columns it comes from or depends on; `omitted` more are not listed.
        downstream: Number of columns of other datasets that come from it or depend on it.
    """

    name: str
    type: str
    text: Markup
    upstream: tuple[UpstreamColumn, ...] = ()
    omitted: int = 0
    downstream: int = 0


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """All columns of a dataset.

    Attributes:
        has_lineage: Any column has an upstream or downstream one.
        unmatched: Datasets that columns come from, without knowing which from which.
        row_conditions: Columns that decide which rows there are: joins, filters, groups.
    """

    rows: tuple[ColumnRow, ...]
    has_lineage: bool
    unmatched: tuple[UpstreamColumn, ...]
    row_conditions: tuple[UpstreamColumn, ...]


def column_table(index: Index, dataset: DatasetId, root: str) -> ColumnTable:
    """Columns in the order of the log or dbt's catalog, then those that only lineage names."""
    upstream: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in index.columns_to.get(dataset, ()):
        upstream[edge.to_column.casefold()].append(edge)
    downstream: dict[str, set[tuple[DatasetId, str]]] = defaultdict(set)
    for edge in index.columns_from.get(dataset, ()):
        if edge.to_column != ANY_COLUMN:
            target = (edge.to_dataset, edge.to_column.casefold())
            downstream[edge.from_column.casefold()].add(target)
    description = index.descriptions.get(dataset)
    texts = dict(description.columns) if description else {}
    folded = {name.casefold(): text for name, text in texts.items()}
    rows = []
    for key, (name, type_) in _names_and_types(index, dataset, texts).items():
        columns = _upstream_columns(upstream.get(key, ()))
        rows.append(
            ColumnRow(
                name=name,
                type=type_,
                text=description_html(folded.get(key, ""), root, has_dbt_docs=index.has_dbt_docs),
                upstream=columns[:_MAX_UPSTREAM],
                omitted=max(0, len(columns) - _MAX_UPSTREAM),
                downstream=len(downstream.get(key, ())),
            )
        )
    of_all = upstream.get(ANY_COLUMN, ())
    return ColumnTable(
        rows=tuple(rows),
        has_lineage=any(row.upstream or row.downstream for row in rows),
        unmatched=_upstream_columns(edge for edge in of_all if edge.type is EdgeType.DIRECT),
        row_conditions=_upstream_columns(edge for edge in of_all if edge.type is EdgeType.INDIRECT),
    )


def _names_and_types(
    index: Index, dataset: DatasetId, texts: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Folded name -> name and type, of every column that a schema, dbt or an edge names."""
    found = {c.name.casefold(): (c.name, c.type) for c in index.datasets[dataset].columns}
    edges = (
        *(edge.to_column for edge in index.columns_to.get(dataset, ())),
        *(edge.from_column for edge in index.columns_from.get(dataset, ())),
    )
    for name in (*texts, *edges):
        if name != ANY_COLUMN:
            found.setdefault(name.casefold(), (name, ""))
    return found


def _upstream_columns(edges: Iterable[ColumnEdge]) -> tuple[UpstreamColumn, ...]:
    """Each upstream column once, with all its usages; those that pass values on come first."""
    ranks = list(Subtype)
    found: dict[tuple[DatasetId, str], dict[str, None]] = {}
    for edge in sorted(edges, key=lambda one: ranks.index(one.subtype)):
        column = "" if edge.from_column == ANY_COLUMN else edge.from_column
        masked = edge.masking and edge.type is EdgeType.DIRECT
        usages = found.setdefault((edge.from_dataset, column), {})
        usages[MASKED if masked else SUBTYPE[edge.subtype]] = None
    return tuple(UpstreamColumn(*source, ", ".join(usages)) for source, usages in found.items())
