"""A view: columns that are promised to people's queries, and the rows behind them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from typing import Any

import pyarrow as pa

from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.frozen import frozen

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


@frozen
class ViewColumn:
    """A column of a view.

    Attributes:
        text: What it holds.
        path: Where a record has it, as `test.name`; `run.` is `run.` and the column's name.
    """

    name: str
    type: ViewType
    text: str
    path: str = ""

    @property
    def attribute(self) -> str:
        """Its attribute of a record."""
        return self.path + self.name if self.path[-1:] in ("", ".") else self.path

    def convert(self, values: Iterable[Any]) -> list[Any]:
        """Values of records as Arrow takes them; an empty text is not known."""
        if self.type is ViewType.TEXT:
            return [str(value) if value else None for value in values]
        if self.type is ViewType.TEXTS:
            return [list(map(str, value)) for value in values]
        return list(values)


class View:
    """A view of the lineage.

    Attributes:
        text: What a row is.
        records: The record of each row, sorted; None where a value is not known.
    """

    def __init__(
        self,
        name: str,
        text: str,
        records: Callable[[ViewData], Iterable[object]],
        *columns: ViewColumn,
    ) -> None:
        self.name, self.text, self.records, self.columns = name, text, records, columns

    @property
    def sql(self) -> str:
        """The statement that makes its table."""
        columns = ", ".join(f'"{column.name}" {column.type}' for column in self.columns)
        return f"CREATE TABLE {self.name} ({columns})"

    def schema(self) -> pa.Schema:
        """The schema of its Arrow table and of its Parquet file."""
        return pa.schema([(column.name, _ARROW[column.type]) for column in self.columns])

    def batches(self, data: ViewData) -> pa.RecordBatchReader:
        """Its rows as Arrow batches, made while they are read."""
        schema, records = self.schema(), self.records(data)
        if isinstance(records, ColumnEdges):
            return self._rows_of_edges(records).to_reader(_AT_ONCE)
        values_of = attrgetter(*(column.attribute for column in self.columns))
        rows = map(values_of, records)

        def read_batches() -> Iterable[pa.RecordBatch]:
            while chunk := list(islice(rows, _AT_ONCE)):
                values = zip(self.columns, schema, zip(*chunk, strict=True), strict=True)
                arrays = [
                    pa.array(column.convert(of_rows), field.type)
                    for column, field, of_rows in values
                ]
                yield pa.record_batch(arrays, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, read_batches())

    def _rows_of_edges(self, edges: ColumnEdges) -> pa.Table:
        """The rows of column edges, field by field, as there are most of them."""
        schema = self.schema()
        if not edges:
            return schema.empty_table()
        arrays = []
        for column, field in zip(self.columns, schema, strict=True):
            of_field = edges.fields[column.attribute]
            values = pa.array(column.convert(of_field.values), field.type)
            places = of_field.places or array("i", bytes(4 * len(edges)))
            content = [None, pa.py_buffer(places.tobytes())]
            arrays.append(values.take(pa.Array.from_buffers(pa.int32(), len(edges), content)))
        return pa.Table.from_arrays(arrays, schema=schema)


def seconds_between(first: datetime | None, last: datetime | None) -> float | None:
    """The seconds from a start to an end, where both are known."""
    return (last - first).total_seconds() if first and last else None


# -- columns that several views have, by the same name and meaning the same: views join by them

TEXT, TEXTS, NUMBER = ViewType.TEXT, ViewType.TEXTS, ViewType.NUMBER
FLAG, TIME, SECONDS = ViewType.FLAG, ViewType.TIME, ViewType.SECONDS

DATASET = ViewColumn("dataset", TEXT, "namespace and name as one text: `spark/raw.orders`")
TASK = ViewColumn("task", TEXT, "the name of the task")
PAGE = ViewColumn("page", TEXT, "its page, from the root of the site")
EVIDENCE = ViewColumn(
    "evidence", TEXT, "`observed` in a log, in the `code`, `declared` or `inferred`"
)
FIRST = ViewColumn("first_at", TIME, "the first time that it was seen")
LAST = ViewColumn("last_at", TIME, "the last time that it was seen")
STARTED = ViewColumn("started_at", TIME, "its start")
ENDED = ViewColumn("ended_at", TIME, "its end")
TOOK = ViewColumn("seconds", SECONDS, "from start to end")
STATUS = ViewColumn("status", TEXT, "`ok`, `failed` or `unknown`")
OWNER = ViewColumn("owner", TEXT, "its owner")
TAGS = ViewColumn("tags", TEXTS, "its tags")
DESCRIPTION = ViewColumn("description", TEXT, "its description, in Markdown")
LABEL = ViewColumn("sensitivity", TEXT, "what tags and `meta` name it: `PII`, `confidential`")
