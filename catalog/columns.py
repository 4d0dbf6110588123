"""The columns of a dataset with their lineage, for its page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from dbt_graft.catalog.formatting import SUBTYPE
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import prose
from dbt_graft.lineage.code_lines import CodeLine, code_line
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Evidence, Subtype
from dbt_graft.lineage.urls import column_anchor

# Columns listed for one column: at most, at least, and how many more in all rows together, so that
# a page of 15 columns, or of 1,000, stays small.
_MAX_LISTED, _LEAST, _SHARED = 50, 4, 60
# Columns listed on the page of a task.
_MAX_WRITTEN = 300
_SUBTYPES = {subtype: rank for rank, subtype in enumerate(Subtype)}
_EVIDENCE = {evidence: rank for rank, evidence in enumerate(Evidence)}


@frozen
class LinkedColumn:
    """A column at the other end of edges; the dataset where `column` is empty.

    Attributes:
        usage: What is done with it, in words; empty where it only decides on values or rows.
        decides: What it decides on: `filtered by`, `grouped and sorted by`; empty where it does
            not.
        evidence: The strongest evidence of all this.
        line: The line of code that does it, where one does.
    """

    dataset: DatasetId
    column: str
    usage: str = ""
    decides: str = ""
    evidence: Evidence = Evidence.OBSERVED
    line: CodeLine | None = None


@frozen
class LinkedColumns:
    """The columns that one comes from or feeds; `omitted` more are not listed.

    Attributes:
        columns: The number of all of them.
        rows: The number of datasets of which it decides on rows, or feeds columns that are not
            known.
    """

    listed: tuple[LinkedColumn, ...] = ()
    omitted: int = 0
    columns: int = 0
    rows: int = 0


@frozen
class FurtherColumns:
    """Columns beyond those that one feeds directly, and the consumers at the end of the line.

    Attributes:
        columns: Their number, as far as they were counted; that may not be all.
        steps: Those to the last one that was counted.
        is_complete: It is the number of all of them.
        consumers: The names of those at the end of the line, by kind.
    """

    columns: int = 0
    steps: int = 0
    is_complete: bool = True
    consumers: tuple[tuple[str, tuple[str, ...]], ...] = ()


@frozen
class ColumnRow:
    """A column; its description is HTML.

    Attributes:
        is_gone: The table was made anew without it; its history names it.
    """

    name: str
    anchor: str
    type: str
    is_gone: bool
    text: Markup
    upstream: LinkedColumns
    downstream: LinkedColumns
    further: FurtherColumns

    @property
    def feeds_any(self) -> bool:
        """Other columns, rows of datasets, or consumers."""
        return bool(self.downstream.listed or self.further.consumers)


@frozen
class ColumnTable:
    """All columns of a dataset.

    Attributes:
        has_lineage: Any column has an upstream or downstream one.
        unmatched: Datasets that columns come from, without knowing which from which.
        row_conditions: Columns that decide which rows there are: joins, filters, groups.
        evidence: The evidence of edges that no log shows.
        is_declared: All edges are declared.
    """

    rows: tuple[ColumnRow, ...]
    has_lineage: bool
    unmatched: tuple[LinkedColumn, ...]
    row_conditions: tuple[LinkedColumn, ...]
    evidence: tuple[Evidence, ...]
    is_declared: bool


def column_table(index: Index, dataset: DatasetId, root: str) -> ColumnTable:
    """Columns in the order of the log or dbt's catalog, then those that only lineage names."""
    upstream, downstream = index.edges_to(dataset), index.edges_from(dataset)
    description = index.descriptions.get(dataset)
    texts = dict(description.columns) if description else {}
    folded = {name.casefold(): text for name, text in texts.items()}
    columns, gone = index.columns(dataset), index.gone_columns(dataset)
    rows = tuple(
        ColumnRow(
            name=column.name,
            anchor=column_anchor(column.name),
            type=column.type,
            is_gone=key in gone,
            text=prose(folded.get(key, ""), root, index.dbt_docs),
            upstream=comes_from,
            downstream=feeds,
            further=_further_columns(index, ColumnId(dataset, column.name)),
        )
        for (key, column), comes_from, feeds in zip(
            columns.items(),
            _limit_columns([upstream_columns(index, upstream.get(key, ())) for key in columns]),
            _limit_columns(
                [_downstream_columns(index, downstream.get(key, ())) for key in columns]
            ),
            strict=True,
        )
    )
    of_all = upstream.get(ANY_COLUMN, ())
    unmatched = upstream_columns(index, (e for e in of_all if e.type is EdgeType.DIRECT))
    conditions = upstream_columns(index, (e for e in of_all if e.type is EdgeType.INDIRECT))
    listed = [
        *(column for row in rows for column in (*row.upstream.listed, *row.downstream.listed)),
        *unmatched,
        *conditions,
    ]
    evidences = {column.evidence for column in listed}
    return ColumnTable(
        rows=rows,
        has_lineage=any(row.upstream.listed or row.feeds_any for row in rows),
        unmatched=unmatched,
        row_conditions=conditions,
        evidence=tuple(
            evidence
            for evidence in Evidence
            # Of code the lines are named.
            if evidence in evidences and evidence not in (Evidence.OBSERVED, Evidence.CODE)
        ),
        is_declared=evidences == {Evidence.DECLARED},
    )


@frozen
class WrittenColumns:
    """The columns of a dataset that a task writes, with what they come from.

    Attributes:
        columns: Name and upstream columns; the name is empty for all rows or unknown columns.
        omitted: The number of columns that are not listed.
    """

    dataset: DatasetId
    columns: tuple[tuple[str, LinkedColumns], ...]
    omitted: int


def written_columns(index: Index, edges: Iterable[ColumnEdge]) -> tuple[WrittenColumns, ...]:
    """The columns that a task writes by its column edges, by dataset."""
    columns_by_dataset: dict[DatasetId, dict[str, list[ColumnEdge]]] = {}
    for edge in edges:
        columns = columns_by_dataset.setdefault(edge.to_dataset, {})
        columns.setdefault(edge.to_column.casefold(), []).append(edge)
    tables, left = [], _MAX_WRITTEN
    for dataset, columns in sorted(columns_by_dataset.items()):
        shown = sorted(columns, key=lambda name: (name == ANY_COLUMN, name))[:left]
        left -= len(shown)
        upstream = _limit_columns([upstream_columns(index, columns[name]) for name in shown])
        names = [columns[name][0].to_column for name in shown]
        pairs = (("" if n == ANY_COLUMN else n, c) for n, c in zip(names, upstream, strict=True))
        tables.append(WrittenColumns(dataset, tuple(pairs), len(columns) - len(shown)))
    return tuple(tables)


def _further_columns(index: Index, column: ColumnId) -> FurtherColumns:
    reach = index.column_reach
    names = group_by_key((consumer.kind, consumer.name) for consumer in reach.consumers(column))
    consumers = tuple((kind, tuple(names[kind])) for kind in sorted(names))
    return FurtherColumns(*reach.further(column), consumers)


def _limit_columns(rows: Sequence[Sequence[LinkedColumn]]) -> list[LinkedColumns]:
    linked_columns = []
    for columns, limit in zip(rows, _shares([len(row) for row in rows]), strict=True):
        named = sum(column.column != "" for column in columns)
        rest = len(columns) - limit
        linked_columns.append(
            LinkedColumns(tuple(columns[:limit]), rest, named, len(columns) - named)
        )
    return linked_columns


def _shares(wanted: Sequence[int]) -> list[int]:
    """The number listed in each row, of those that it has."""
    limits, shared = [], _SHARED
    for count in wanted:
        extra = max(0, min(count - _LEAST, shared, _MAX_LISTED - _LEAST))
        shared -= extra
        limits.append(min(count, _LEAST) + extra)
    return limits


def upstream_columns(index: Index, edges: Iterable[ColumnEdge]) -> tuple[LinkedColumn, ...]:
    """Each upstream column once, with all that is done with it."""
    return _link_columns(index, ((edge.from_dataset, edge.from_column, edge) for edge in edges))


def _downstream_columns(index: Index, edges: Iterable[ColumnEdge]) -> tuple[LinkedColumn, ...]:
    return _link_columns(index, ((edge.to_dataset, edge.to_column, edge) for edge in edges))


def _link_columns(
    index: Index, ends: Iterable[tuple[DatasetId, str, ColumnEdge]]
) -> tuple[LinkedColumn, ...]:
    """The columns at these ends; those to which values go, or from which they come, are first."""
    edges_by_end: dict[tuple[DatasetId, str], list[ColumnEdge]] = {}
    names: dict[tuple[DatasetId, str], tuple[DatasetId, str]] = {}
    for dataset, column, edge in sorted(ends, key=lambda end: _SUBTYPES[end[2].subtype]):
        key = dataset, column.casefold()
        names.setdefault(key, (dataset, "" if column == ANY_COLUMN else column))
        edges_by_end.setdefault(key, []).append(edge)
    return tuple(
        _link(*names[key], edges, _line(index, edges)) for key, edges in edges_by_end.items()
    )


def _line(index: Index, edges: Sequence[ColumnEdge]) -> CodeLine | None:
    """The line of code of the first edge that has one."""
    edge = next((edge for edge in edges if edge.place), None)
    return code_line(index.lineage, edge.task, edge.place) if edge else None


def _link(
    dataset: DatasetId, column: str, edges: Sequence[ColumnEdge], line: CodeLine | None
) -> LinkedColumn:
    direct = [edge for edge in edges if edge.type is EdgeType.DIRECT]
    evidence = min((edge.evidence for edge in direct or edges), key=_EVIDENCE.__getitem__)
    is_known = any(edge.evidence is not Evidence.INFERRED for edge in direct)
    usage = dict.fromkeys(
        edge.masked_by.word if edge.masking else SUBTYPE[edge.subtype]
        for edge in direct
        # Nobody needs to guess at what is known.
        if not (is_known and edge.evidence is Evidence.INFERRED)
    )
    decides = dict.fromkeys(
        SUBTYPE[edge.subtype].removesuffix(" by")
        for edge in edges
        if edge.type is EdgeType.INDIRECT
    )
    *others, last = decides or [""]
    by = f"{', '.join(others)} and {last} by" if others else f"{last} by" if last else ""
    return LinkedColumn(dataset, column, ", ".join(usage), by, evidence, line)
