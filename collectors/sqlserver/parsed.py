"""Statements in Arrow batches, on the executors: each folded, each distinct text parsed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from collectors.sqlserver.names import dataset_id
from collectors.statements.dialect import Dialect
from collectors.statements.parse import ParsedShape, normalise, parse
from lineage.records import Direction

_ACCESS = (
    "namespace: string, name: string, kind: string, direction: string, operation: string, "
    "columns: array<struct<name: string, type: string>>"
)
_STATEMENT = (
    "ordinal: int, shape_id: string, dialect: string, text: string, parser: string, "
    "outcome: string, reason: string, times: bigint, alone: boolean, writes: boolean, "
    f"accesses: array<struct<{_ACCESS}>>"
)
PARSED = f"text string, database string, statements array<struct<{_STATEMENT}>>"

Batches = Iterator[pa.RecordBatch]


def fold_texts(batches: Batches) -> Batches:
    """Replace the column `text` by what `normalise` makes of it: no literal goes further."""
    for batch in batches:
        place = batch.schema.get_field_index("text")
        texts = batch.column(place).to_pylist()
        folded = [None if text is None else normalise(text, Dialect.TSQL) for text in texts]
        yield batch.set_column(place, "text", pa.array(folded, pa.string()))


def parse_texts(server: str, schema: pa.Schema) -> Callable[[Batches], Batches]:
    """Texts with their databases -> `PARSED`, tables by their full names on a server."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            rows = [
                {**row, "statements": statements(row["text"], row["database"], server)}
                for row in batch.to_pylist()
            ]
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return run


def statements(text: str, database: str, server: str) -> list[dict[str, Any]]:
    """The statements of a text that touch a dataset or could not be read, equal ones once."""
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for ordinal, shape in enumerate(parse(text, Dialect.TSQL)):
        key = (shape.shape_id, shape.database)
        if key in found:
            found[key]["times"] += 1
        else:
            found[key] = _statement(ordinal, shape, shape.database or database, server)
    told = [one for one in found.values() if one["accesses"] or one["outcome"] == "failed"]
    alone = sum(one["times"] for one in told) == 1
    return [{**one, "alone": alone} for one in told]


def _statement(ordinal: int, shape: ParsedShape, database: str, server: str) -> dict[str, Any]:
    accesses = []
    for table in shape.accesses:
        dataset = dataset_id(table, server, database)
        if dataset is not None:
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
    }
