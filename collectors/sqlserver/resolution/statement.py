"""A shape -> what it means on a server: full names, kinds, columns and column edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from zlib import crc32

from dbt_graft.collectors.sqlserver.resolution.lookup import NameResolver, ResolvedTable
from dbt_graft.collectors.statements.parse import ParsedShape
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Direction, Evidence

_ACCESS = (
    "namespace: string, name: string, kind: string, direction: string, operation: string, "
    "columns: array<struct<name: string, type: string>>, "
    "alias: struct<namespace: string, name: string>"
)
_EDGE = (
    "to_namespace: string, to_name: string, to_column: string, from_namespace: string, "
    "from_name: string, from_column: string, type: string, subtype: string, masking: boolean"
)
# `ordinal` tells the order within the text; `times` how often it says the same; `alone` that it
# says nothing else; `procedure` in which procedure the statement stands where `evidence` is
# inferred: that it ran was not seen.
STATEMENT = (
    "ordinal: int, shape_id: string, dialect: string, text: string, parser: string, "
    "outcome: string, reason: string, times: bigint, alone: boolean, writes: boolean, "
    "evidence: string, procedure: string, "
    f"accesses: array<struct<{_ACCESS}>>, column_edges: array<struct<{_EDGE}>>"
)

Row = dict[str, Any]


def statement(
    shape: ParsedShape, database: str, lookup: NameResolver, procedure: str | None = None
) -> Row:
    """A row of `STATEMENT`, as the first of its text.

    Args:
        database: The current database.
        procedure: That in whose text the statement stands; None for one that was seen.
    """
    accesses = []
    datasets: dict[Name, DatasetId] = {}
    for table in shape.accesses:
        found = lookup.table(table, database)
        if found is not None:
            if procedure and table.name[-1].startswith("@"):
                found = replace(found, dataset=_variable(found.dataset, procedure))
            datasets[table.name] = found.dataset
            accesses.append(_access(table, found))
    return {
        "ordinal": 0,
        "shape_id": shape.shape_id,
        "dialect": shape.dialect.value,
        "text": shape.text,
        "parser": shape.parser,
        "outcome": shape.outcome.value,
        "reason": shape.reason,
        "times": 1,
        "alone": False,
        "writes": any(access["direction"] == Direction.WRITE.value for access in accesses),
        "evidence": (Evidence.INFERRED if procedure else Evidence.OBSERVED).value,
        "procedure": procedure,
        "accesses": accesses,
        "column_edges": list(_column_edges(shape, datasets)),
    }


def _variable(dataset: DatasetId, procedure: str) -> DatasetId:
    """A table variable of a procedure, which no other knows: `@t~` and a number."""
    number = crc32(procedure.casefold().encode())
    return DatasetId(dataset.namespace, f"{dataset.name}~{number}")


def _access(table: TableAccess, found: ResolvedTable) -> Row:
    # What a statement says of types is newer than the snapshot: it made the table.
    said = table.columns if any(kind for _, kind in table.columns) else ()
    known = [(column.name, column.type) for column in found.columns]
    return {
        "namespace": found.dataset.namespace,
        "name": found.dataset.name,
        "kind": found.kind.value,
        "direction": table.direction.value,
        "operation": table.operation,
        "columns": [{"name": name, "type": kind} for name, kind in said or known or table.columns],
        "alias": found.alias and {"namespace": found.alias.namespace, "name": found.alias.name},
    }


def _column_edges(shape: ParsedShape, datasets: Mapping[Name, DatasetId]) -> Iterator[Row]:
    """The edges between datasets: a query's result is none, nor is SQL Server's own catalog."""
    for edge in shape.column_edges:
        target, source = datasets.get(edge.table), datasets.get(edge.from_table)
        if target and source:
            yield {
                "to_namespace": target.namespace,
                "to_name": target.name,
                "to_column": edge.column,
                "from_namespace": source.namespace,
                "from_name": source.name,
                "from_column": edge.from_column,
                "type": edge.subtype.type.value,
                "subtype": edge.subtype.value,
                "masking": edge.masking,
            }
