"""A shape -> the statement on a server: full names, kinds, columns and column edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from zlib import crc32

from dbt_graft.collectors.schema import Flat
from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver, ResolvedTable
from dbt_graft.collectors.statements.parse import ParsedShape
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Column,
    Direction,
    EdgeType,
    Evidence,
    Masking,
    Outcome,
    Shape,
    Subtype,
)


@dataclass(frozen=True, slots=True)
class ResolvedAccess:
    """A statement reads or writes a dataset."""

    table: Flat[ResolvedTable]
    direction: Direction
    operation: Operation


@dataclass(frozen=True, slots=True)
class ResolvedEdge:
    """A column edge of a statement, between datasets."""

    to_dataset: DatasetId
    to_column: str
    from_dataset: DatasetId
    from_column: str
    type: EdgeType
    subtype: Subtype
    masking: Masking


@dataclass(frozen=True, slots=True)
class ResolvedStatement:
    """A statement with the datasets that its names stand for.

    Attributes:
        writes: Whether it writes a dataset.
        evidence: INFERRED for a statement of a procedure that was called: the log does not show
            that it ran.
        procedure: That in whose text it stands, where it is inferred.
        ordinal: Its place in the text that was sent.
        times: How often it stands in that text.
        alone: Nothing else of that text touches a dataset, so that the text's rows are its rows.
    """

    shape: Flat[Shape]
    writes: bool
    evidence: Evidence
    procedure: str | None
    accesses: tuple[ResolvedAccess, ...]
    column_edges: tuple[ResolvedEdge, ...]
    ordinal: int = 0
    times: int = 1
    alone: bool = False

    @property
    def counts(self) -> bool:
        """Whether it touches a dataset, or may: it could not be read."""
        return bool(self.accesses) or self.shape.outcome is Outcome.FAILED


def resolve_statement(
    shape: ParsedShape, database: str, resolver: NameResolver, procedure: str | None = None
) -> ResolvedStatement:
    """A statement on a server, as the first of its text.

    Args:
        database: The current database.
        procedure: That in whose text the statement stands; None for one that a log shows.
    """
    accesses = []
    datasets: dict[Name, DatasetId] = {}
    for table in shape.accesses:
        resolved = resolver.table(table, database)
        if resolved is not None:
            if procedure and table.name[-1].startswith("@"):
                resolved = replace(resolved, dataset=_variable(resolved.dataset, procedure))
            datasets[table.name] = resolved.dataset
            accesses.append(_access(table, resolved))
    return ResolvedStatement(
        shape=Shape(
            shape_id=shape.shape_id,
            dialect=shape.dialect.value,
            text=shape.text,
            parser=shape.parser,
            outcome=shape.outcome,
            reason=shape.reason,
        ),
        writes=any(access.direction is Direction.WRITE for access in accesses),
        evidence=Evidence.INFERRED if procedure else Evidence.OBSERVED,
        procedure=procedure,
        accesses=tuple(accesses),
        column_edges=tuple(_column_edges(shape, datasets, is_body=procedure is not None)),
    )


def _variable(dataset: DatasetId, procedure: str) -> DatasetId:
    """A table variable of a procedure, which no other sees: `@t~` and a number."""
    number = crc32(procedure.casefold().encode())
    return DatasetId(dataset.namespace, f"{dataset.name}~{number}")


def _access(table: TableAccess, resolved: ResolvedTable) -> ResolvedAccess:
    # The types in a statement are newer than the snapshot: it made the table.
    named = tuple(Column(*column) for column in table.columns)
    typed = named if any(column.type for column in named) else ()
    columns = typed or resolved.columns or named
    return ResolvedAccess(
        replace(resolved, columns=columns), table.direction, Operation(table.operation)
    )


def _column_edges(
    shape: ParsedShape, datasets: Mapping[Name, DatasetId], *, is_body: bool
) -> Iterator[ResolvedEdge]:
    """The edges between datasets, SQL Server's own catalog left out.

    A query's result goes into the task's memory, and what it sends comes from there; the values in
    a procedure's text do not.
    """
    edges = shape.column_edges
    into = MEMORY if any(edge.subtype.type is EdgeType.DIRECT for edge in edges) else None
    for edge in edges:
        target = datasets.get(edge.table) if edge.table else into
        if edge.from_table:
            source, subtype = datasets.get(edge.from_table), edge.subtype
        else:
            source = None if is_body else MEMORY
            subtype = compose(Subtype.TRANSFORMATION, edge.subtype)
        if target and source:
            yield ResolvedEdge(
                to_dataset=target,
                to_column=edge.column,
                from_dataset=source,
                from_column=edge.from_column,
                type=subtype.type,
                subtype=subtype,
                masking=edge.masking,
            )
