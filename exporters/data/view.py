"""A view: columns that are promised to people's queries, and the rows behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

import pyarrow as pa

from dbt_graft.lineage.described import DescribedLineage

# Rows that are Python objects at a time.
_AT_ONCE = 50_000


class ViewType(StrEnum):
    """Types of columns, by their names in SQL."""

    TEXT = "VARCHAR"
    TEXTS = "VARCHAR[]"
    NUMBER = "BIGINT"
    SECONDS = "DOUBLE"
    FLAG = "BOOLEAN"
    TIME = "TIMESTAMP WITH TIME ZONE"


_ARROW: Mapping[ViewType, pa.DataType] = {
    ViewType.TEXT: pa.string(),
    ViewType.TEXTS: pa.list_(pa.string()),
    ViewType.NUMBER: pa.int64(),
    ViewType.SECONDS: pa.float64(),
    ViewType.FLAG: pa.bool_(),
    ViewType.TIME: pa.timestamp("us", tz="UTC"),
}


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view; `text` says what it holds."""

    name: str
    type: ViewType
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """A view of the lineage.

    Attributes:
        text: What a row is.
        rows: Its rows, sorted, each with a value for each column; None where none is known.
    """

    name: str
    text: str
    columns: tuple[ViewColumn, ...]
    rows: Callable[[DescribedLineage], Iterable[tuple[object, ...]]]

    def schema(self) -> pa.Schema:
        """The schema of its Arrow table and of its Parquet file."""
        return pa.schema([(column.name, _ARROW[column.type]) for column in self.columns])

    def batches(self, described: DescribedLineage) -> pa.RecordBatchReader:
        """Its rows as Arrow batches, made while they are read."""
        schema, rows = self.schema(), iter(self.rows(described))

        def read_batches() -> Iterable[pa.RecordBatch]:
            while chunk := list(islice(rows, _AT_ONCE)):
                values = zip(*chunk, strict=True)
                arrays = [
                    pa.array(column, field.type)
                    for column, field in zip(values, schema, strict=True)
                ]
                yield pa.record_batch(arrays, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, read_batches())
