"""The files of an index: read, checked, and written with the schemas that they had."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from dbt_graft.lineage.errors import GraftError

Row = dict[str, Any]
_Parsed = TypeVar("_Parsed")

_TIME = pa.timestamp("us", tz="UTC")
_TEXT, _STAMP = pa.string(), "ingested_at"
# Table -> the columns without which it cannot be grafted.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "dbt.nodes": ("unique_id", "name", "resource_type"),
    "dbt.edges": ("parent_unique_id", "child_unique_id"),
    "dbt.node_columns": ("unique_id", "column_name"),
    "dbt.exposures": ("unique_id", "name"),
    "dbt.test_metadata": ("unique_id", "attached_node"),
    "dbt.groups": ("unique_id", "name"),
    "dbt.docs": ("unique_id", "name", "block_contents"),
    "dbt.column_lineage": (
        *("from_node_unique_id", "from_column_name"),
        *("to_node_unique_id", "to_column_name", "lineage_kind"),
    ),
    "dbt.catalog_tables": ("unique_id",),
    "dbt.catalog_stats": ("unique_id", "stat_id", "stat_value"),
    "dbt.source_freshness": ("unique_id", "status"),
    "dbt_rt.run_results": ("unique_id", "status"),
    "dbt_rt.invocations": ("invocation_id",),
}


def _schema(
    others: Mapping[str, pa.DataType] | None = None, *, needed: str, texts: str
) -> pa.Schema:
    """The schema of a table of texts, some of them never null, stamped as all tables are."""
    fields: list[pa.Field[Any]] = [pa.field(name, _TEXT, nullable=False) for name in needed.split()]
    types = {**dict.fromkeys(texts.split(), _TEXT), **(others or {})}
    fields += [pa.field(name, kind) for name, kind in types.items()]
    return pa.schema([*fields, pa.field("ingested_at", _TIME, nullable=False)])


# Tables that dbt may not have written, with the columns that its page asks for.
_NEW: Mapping[str, pa.Schema] = {
    "dbt.column_lineage": _schema(
        needed="from_node_unique_id from_column_name to_node_unique_id to_column_name",
        texts="lineage_kind",
    ),
    "dbt.catalog_tables": _schema(
        needed="unique_id",
        texts="table_type database_name schema_name table_name table_owner table_comment",
    ),
    "dbt.catalog_stats": _schema(
        {"include_in_stats": pa.bool_()},
        needed="unique_id stat_id",
        texts="stat_label stat_value description",
    ),
    "dbt_rt.run_results": _schema(
        {"execution_time": pa.float64(), "rows_affected": pa.int64(), "created_at": _TIME},
        needed="unique_id invocation_id",
        texts="status thread_id message relation_name",
    ),
    "dbt_rt.invocations": _schema(
        {"generated_at": _TIME, "elapsed_time": pa.float64()},
        needed="invocation_id",
        texts="command target_type",
    ),
    "dbt.docs": _schema(needed="unique_id", texts="name package_name block_contents"),
}
# What describes all of a project, whoever reads it.
PROJECT = ("dbt.generation", "dbt.project")
_OF_PROJECT = ("project_name", "dbt_version", "adapter_type", "ingested_at")


@dataclass(frozen=True)
class DbtIndex:
    """An index: its tables as found.

    Attributes:
        folder: `target/index`.
        tables: `dbt.nodes` -> its rows and schema; those that have no file are left out.
        others: The files of tables that a graft does not change, by the table's name.
    """

    folder: Path
    tables: Mapping[str, pa.Table] = field(default_factory=dict, compare=False)
    others: Mapping[str, Path] = field(default_factory=dict)

    def table(self, name: str) -> pa.Table:
        """A table; one that a graft does not change is read now.

        Raises:
            GraftError: Its file is damaged.
        """
        return self.tables[name] if name in self.tables else _read(self.others[name])

    def emptied(self) -> DbtIndex:
        """The same tables without anything of the project but its name and the version of dbt."""
        tables = {}
        for name in (*self.tables, *self.others):
            table = self.table(name)
            schema = pa.schema([item.remove_metadata() for item in table.schema])
            project_rows = table.to_pylist() if name in PROJECT else []
            rows = [{key: row.get(key) for key in _OF_PROJECT} for row in project_rows]
            tables[name] = _append(schema.empty_table(), rows)
        return DbtIndex(self.folder, tables)

    def rows(self, name: str) -> list[Row]:
        """The rows of a table; none if it has no file."""
        table = self.tables.get(name)
        return table.to_pylist() if table is not None else []

    def column(self, name: str, column: str) -> list[Any]:
        """The values of a column, nulls if it is not there; none if its table has no file."""
        table = self.tables.get(name)
        if table is None:
            return []
        is_there = column in table.column_names
        return table.column(column).to_pylist() if is_there else [None] * table.num_rows

    @property
    def ingested_at(self) -> Any:
        """The time at which dbt wrote it; None where it does not say."""
        rows = self.rows("dbt.generation")
        return rows[0].get("ingested_at") if rows else None


def read_index(target: Path) -> DbtIndex | None:
    """The index in a target folder; None if dbt wrote none.

    Raises:
        GraftError: A file is damaged, or lacks a column that we need.
    """
    folder = target / "index"
    if not (folder / "dbt.nodes.parquet").is_file():
        return None
    files = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    grafted = {*_NEEDED, *PROJECT}
    tables = {name: _read(path) for name, path in files.items() if name in grafted}
    others = {name: path for name, path in files.items() if name not in grafted}
    for path in others.values():
        _parse(path, pq.read_metadata)  # at the end of a file, so none is half written
    pa.default_memory_pool().release_unused()  # what unpacking took
    return DbtIndex(folder, tables, others)


def _parse(path: Path, parse: Callable[[Path], _Parsed]) -> _Parsed:
    try:
        return parse(path)
    except (pa.ArrowException, OSError) as error:
        raise GraftError(
            f"the file is damaged: {str(error).splitlines()[0] if str(error) else error!r}",
            place=str(path),
            remedy="write the index again: dbt compile --write-index",
        ) from error


def _read(path: Path) -> pa.Table:
    table = _parse(path, partial(pq.read_table, partitioning=None, pre_buffer=False))
    lacking = [name for name in _NEEDED.get(path.stem, ()) if name not in table.column_names]
    if lacking:
        raise GraftError(
            f"the table has no column {', '.join(lacking)}: its dbt is one that we do not know",
            place=str(path),
            remedy="report it with the version of dbt (`dbt --version`)",
        )
    return table


def table_content(table: pa.Table) -> bytes:
    """A table as a file, as dbt writes it: ZSTD, one row group."""
    content = BytesIO()
    pq.write_table(table, content, compression="zstd", row_group_size=max(table.num_rows, 1))
    return content.getvalue()


@dataclass(frozen=True)
class Edit:
    """Changes of a table.

    Attributes:
        keep: Whether each row stays; None for all.
        changes: Number of a row as found -> its new values, by column.
        added: New rows.
        columns: New rows by column, where there are many.
    """

    keep: Sequence[bool] | None = None
    changes: Mapping[int, Row] = field(default_factory=dict)
    added: Sequence[Row] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)


def edit_table(table: pa.Table | None, name: str, edit: Edit, at: Any) -> pa.Table | None:
    """A table with changes, in the schema as found; values of columns that it lacks are left out.

    Columns that an added row lacks are null, or empty where the schema wants a value.

    Args:
        table: None for one without a file, which gets the columns that dbt's page asks for.
        at: When new rows were written.
    """
    count = len(next(iter(edit.columns.values()), ()))
    if table is None:
        if not (edit.added or count) or name not in _NEW:
            return None
        table = _NEW[name].empty_table()
    touched = {column for row in edit.changes.values() for column in row}
    for column in sorted(touched.intersection(table.column_names)):
        values = table.column(column).to_pylist()
        for number, row in edit.changes.items():
            if column in row:
                values[number] = row[column]
        position = table.column_names.index(column)
        new = pa.array(values, table.schema.field(column).type)
        table = table.set_column(position, table.schema.field(column), new)
    if edit.keep is not None and not all(edit.keep):
        # In slices, which copy nothing: nodes have their code.
        runs = [(stays, len(list(rows))) for stays, rows in groupby(edit.keep)]
        ends = accumulate(length for _, length in runs)
        parts = zip(runs, ends, strict=True)
        slices = [table.slice(end - length, length) for (stays, length), end in parts if stays]
        table = pa.concat_tables([table.slice(0, 0), *slices])
    if count:
        table = _append_columns(table, edit.columns, count, at)
    return _append(table, [{**row, _STAMP: at} for row in edit.added]) if edit.added else table


def _append_columns(table: pa.Table, columns: Mapping[str, Any], count: int, at: Any) -> pa.Table:
    new = [
        columns[item.name].cast(item.type)
        if item.name in columns
        else pa.repeat(
            pa.scalar(at if item.name == _STAMP else _value(None, item), item.type), count
        )
        for item in table.schema
    ]
    return pa.concat_tables([table, pa.Table.from_arrays(new, schema=table.schema)])


def _append(table: pa.Table, rows: Sequence[Row]) -> pa.Table:
    columns = [
        pa.array([_value(row.get(item.name), item) for row in rows], item.type)
        for item in table.schema
    ]
    return pa.concat_tables([table, pa.Table.from_arrays(columns, schema=table.schema)])


def _value(value: Any, column: pa.Field[Any]) -> Any:
    if column.type == _TEXT and value is not None and not isinstance(value, str):
        return json.dumps(value, sort_keys=True)
    if value is not None or column.nullable:
        return value
    if pa.types.is_list(column.type):
        return []
    return False if pa.types.is_boolean(column.type) else "" if column.type == _TEXT else value
