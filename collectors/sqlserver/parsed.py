"""Statements in Arrow batches, on the executors: each distinct text is parsed once.

Parsing happens in a child process (`workers`), so that a text can cost itself and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from collectors.sqlserver.names import dataset_id
from collectors.statements.dialect import Dialect
from collectors.statements.names import Name
from collectors.statements.parse import ParsedShape, failure, parse
from collectors.statements.workers import SECONDS, Worker
from lineage.dataset import DatasetId
from lineage.records import Direction

_ACCESS = (
    "namespace: string, name: string, kind: string, direction: string, operation: string, "
    "columns: array<struct<name: string, type: string>>"
)
_EDGE = (
    "to_namespace: string, to_name: string, to_column: string, from_namespace: string, "
    "from_name: string, from_column: string, type: string, subtype: string, masking: boolean"
)
_STATEMENT = (
    "ordinal: int, shape_id: string, dialect: string, text: string, parser: string, "
    "outcome: string, reason: string, times: bigint, alone: boolean, writes: boolean, "
    f"accesses: array<struct<{_ACCESS}>>, column_edges: array<struct<{_EDGE}>>"
)
PARSED = f"text string, database string, statements array<struct<{_STATEMENT}>>"

Batches = Iterator[pa.RecordBatch]
Row = dict[str, Any]
Parse = Callable[[str, Dialect], Sequence[ParsedShape]]


def parse_texts(
    server: str, schema: pa.Schema, parse: Parse = parse, seconds: float = SECONDS
) -> Callable[[Batches], Batches]:
    """Texts with their databases -> `PARSED`, tables by their full names on a server.

    Args:
        parse: What gives the shapes of a text.
        seconds: The longest that one text may take.
    """

    def work(row: Row) -> Row:
        shapes = parse(row["text"], Dialect.TSQL)
        return {**row, "statements": statements(shapes, row["database"], server)}

    def failed(row: Row, reason: str) -> Row:
        shape = failure(row["text"], Dialect.TSQL, reason)
        return {**row, "statements": statements((shape,), row["database"], server)}

    def run(batches: Batches) -> Batches:
        with Worker(work, failed, seconds) as worker:
            for batch in batches:
                rows = worker.map(batch.to_pylist())
                yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return run


def statements(shapes: Iterable[ParsedShape], database: str, server: str) -> list[Row]:
    """The statements of a text that touch a dataset or could not be read, equal ones once."""
    found: dict[tuple[str, str | None], Row] = {}
    for ordinal, shape in enumerate(shapes):
        if shape.module is not None:
            continue  # it was defined, not run
        key = (shape.shape_id, shape.database)
        if key in found:
            found[key]["times"] += 1
        else:
            found[key] = _statement(ordinal, shape, shape.database or database, server)
    told = [one for one in found.values() if one["accesses"] or one["outcome"] == "failed"]
    alone = sum(one["times"] for one in told) == 1
    return [{**one, "alone": alone} for one in told]


def _statement(ordinal: int, shape: ParsedShape, database: str, server: str) -> Row:
    accesses = []
    datasets: dict[Name, DatasetId] = {}
    for table in shape.accesses:
        dataset = dataset_id(table, server, database)
        if dataset is not None:
            datasets[table.name] = dataset
            accesses.append(
                {
                    "namespace": dataset.namespace,
                    "name": dataset.name,
                    "kind": table.kind.value,
                    "direction": table.direction.value,
                    "operation": table.operation,
                    "columns": [{"name": name, "type": kind} for name, kind in table.columns],
                }
            )
    return {
        "ordinal": ordinal,
        "shape_id": shape.shape_id,
        "dialect": shape.dialect.value,
        "text": shape.text,
        "parser": shape.parser,
        "outcome": shape.outcome.value,
        "reason": shape.reason,
        "times": 1,
        "writes": any(access["direction"] == Direction.WRITE.value for access in accesses),
        "accesses": accesses,
        "column_edges": list(_column_edges(shape, datasets)),
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
