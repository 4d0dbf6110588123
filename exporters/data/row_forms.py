"""Rows of a query -> a table, CSV, JSON or JSON lines."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import IO, Any

import orjson
import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dbt_graft.analysis.render.terminal import one_line

# Rows that a table shows.
SHOWN = 100
_AS_FILE = 10_000  # characters in a line where nobody wraps it


def write_rows(rows: pa.RecordBatchReader, form: str, stream: IO[str]) -> None:
    """Write rows as `table`, `csv`, `json` or `ndjson`."""
    if form == "table":
        _write_table(rows, stream)
    elif form == "csv":
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(rows.schema.names)
        writer.writerows([_cell(value) for value in row] for row in _values(rows))
    elif form == "ndjson":
        for row in _objects(rows):
            stream.write(f"{_json(row)}\n")
    else:
        stream.write("[")
        for number, row in enumerate(_objects(rows)):
            stream.write(f"{',' if number else ''}\n  {_json(row)}")
        stream.write("\n]\n")


def _write_table(rows: pa.RecordBatchReader, stream: IO[str]) -> None:
    names, count = rows.schema.names, 0
    table = Table(*(one_line(name) for name in names), box=SIMPLE_HEAD)
    for column in table.columns:
        column.no_wrap = not stream.isatty()
    for count, row in enumerate(_values(rows), 1):
        if count <= SHOWN:
            table.add_row(*(Text(one_line(_cell(value))) for value in row))
    width = None if stream.isatty() else _AS_FILE
    console = Console(file=stream, width=width, highlight=False)
    console.print(table)
    noun = "row" if count == 1 else "rows"
    note = f", the first {SHOWN} shown; --format csv writes all" if count > SHOWN else ""
    console.print(f"{count:,} {noun}{note}")


def _values(rows: pa.RecordBatchReader) -> Iterator[tuple[Any, ...]]:
    for batch in rows:
        # Columns may share a name.
        yield from zip(*map(_list, batch.columns), strict=True)


def _list(column: pa.Array[Any]) -> list[Any]:
    values = column.to_pylist()
    # DuckDB's sum of integers is wider than 64 bits.
    return [int(v) if isinstance(v, Decimal) and v == v.to_integral() else v for v in values]


def _objects(rows: pa.RecordBatchReader) -> Iterator[dict[str, Any]]:
    names = rows.schema.names
    for row in _values(rows):
        yield dict(zip(names, row, strict=True))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _json(row: dict[str, Any]) -> str:
    return orjson.dumps(row, default=str, option=orjson.OPT_NAIVE_UTC).decode()
