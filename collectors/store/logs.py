"""The logs (origins) of a store: of each its row in the newest batch that read it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import arrow
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, open_store, reopens
from dbt_graft.collectors.store.tables import ReadLog

PART = "part"
# Some logs: their names, or what returns for rows of `origins` which are wanted. An expression is
# worked out by an engine that takes 10 ms to import: where an array is as simple, it is none.
SomeLogs: TypeAlias = Collection[str] | Callable[[pa.Table], Any]


def all_logs(
    snapshot: OpenStore, parts: Sequence[StoredBatch], only: SomeLogs | None = None
) -> pa.Table:
    """The rows of `origins` of some batches in order, each with its batch's place among them.

    `sequence` and `committed_at` are those of the batch that read the log, merged since or not.

    Args:
        only: Only of these logs; there may be millions of others.
    """
    indexes = {batch.batch_id: index for index, batch in enumerate(parts)}
    wanted = only if only is None or callable(only) else _origin_filter(only)
    tables = [_empty_logs()]
    schema = arrow(ReadLog)

    def read(rows: pa.Table) -> pa.Table:
        rows = conform_columns(rows, schema)
        return rows if wanted is None else rows.filter(wanted(rows))

    for batch, rows in snapshot.tables("origins", indexes, read):
        for name, value in (("sequence", batch.sequence), ("committed_at", batch.committed_at)):
            filled = _fill_nulls(rows[name], value)
            rows = rows.set_column(rows.column_names.index(name), rows.field(name), filled)
        part = pa.array([indexes[batch.batch_id]] * rows.num_rows, pa.int64())
        tables.append(rows.append_column(PART, part))
    return pa.concat_tables(tables)


def last_logs(snapshot: OpenStore, only: SomeLogs | None = None) -> pa.Table:
    """Of each log its last row, as in `all_logs`; those that were forgotten are left out."""
    rows = last_of_each(all_logs(snapshot, snapshot.batches, only))
    return rows.filter(pc.invert(is_forgotten(rows)))


@reopens
def noise(store: str, without: Collection[str] = ()) -> int:
    """Number of requests left out by noise rules, over the newest batch of each origin."""
    snapshot = open_store(store, without)
    noisy = last_logs(snapshot, lambda rows: pc.greater(rows["noise"], pa.scalar(0)))
    logs = last_logs(snapshot, values(noisy, "origin"))
    return sum(number or 0 for number in values(logs, "noise"))


def holding_logs(snapshot: OpenStore, only: SomeLogs | None = None) -> pa.Table:
    """Of each log its row in the batch whose rows of it count, else as `last_logs`."""
    logs = all_logs(snapshot, snapshot.batches, only)
    rows = last_of_each(drop_closed(logs, snapshot.batches))
    return rows.filter(pc.invert(is_forgotten(rows)))


def closed_logs(snapshot: OpenStore, only: Collection[str]) -> set[str]:
    """Those of some logs that are closed."""
    if not any(batch.purged_before for batch in snapshot.batches):
        return set()
    rows = last_logs(snapshot, only)
    return set(values(rows.filter(is_closed(rows)), "origin"))


def drop_closed(logs: pa.Table, parts: Sequence[StoredBatch]) -> pa.Table:
    """The rows of `all_logs` without batches that read a log after it was closed."""
    purged = [index for index, batch in enumerate(parts) if batch.purged_before]
    in_purge = pc.is_in(logs[PART], value_set=pa.array(purged, pa.int64()))
    return logs.filter(pc.or_(pc.invert(is_closed(logs)), in_purge))


def last_of_each(rows: pa.Table) -> pa.Table:
    """The rows that are the last of their origin."""
    numbered = rows.append_column("row", pa.array(range(rows.num_rows), pa.int64()))
    last = numbered.group_by("origin").aggregate([("row", "max")])
    return rows.take(last["row_max"].sort())


def is_forgotten(rows: pa.Table) -> pa.ChunkedArray[pa.BooleanScalar]:
    """For each row of `origins` whether the log was taken out of the store."""
    flags: Any = rows["forgotten"]
    return cast("pa.ChunkedArray[pa.BooleanScalar]", pc.fill_null(flags, False))


def is_closed(rows: pa.Table) -> pa.ChunkedArray[pa.BooleanScalar]:
    """For each row of `origins` whether the log was closed."""
    flags: Any = rows["closed"]
    return cast("pa.ChunkedArray[pa.BooleanScalar]", pc.fill_null(flags, False))


def mark_closed(rows: pa.Table, origins: Collection[str]) -> pa.Table:
    """Rows of `origins` in which some more logs are closed."""
    wanted = pa.array(sorted(origins), pa.string())
    closed = pc.or_(is_closed(rows), pc.is_in(rows["origin"], value_set=wanted))
    closed = pc.if_else(closed, pa.scalar(True), pa.scalar(None, pa.bool_()))
    return rows.set_column(rows.column_names.index("closed"), "closed", closed)


def values(rows: pa.Table, column: str) -> list[Any]:
    """The values in a column."""
    return rows[column].to_pylist()


def forgotten_sequences(snapshot: OpenStore) -> dict[str, int]:
    """Forgotten log -> the sequence of the newest batch that says so."""
    rows = all_logs(snapshot, snapshot.batches)
    rows = rows.filter(is_forgotten(rows))
    return dict(zip(values(rows, "origin"), values(rows, "sequence"), strict=True))


def conform_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the columns of a schema: those that they lack are null, others are dropped."""
    if rows.schema.equals(schema):
        return rows
    columns = [
        rows[field.name].cast(field.type)
        if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _origin_filter(origins: Collection[str]) -> Callable[[pa.Table], Any]:
    wanted = pa.array(origins, pa.string())
    return lambda rows: pc.is_in(rows["origin"], value_set=wanted)


def _fill_nulls(column: Any, value: int | datetime) -> pa.ChunkedArray[Any]:
    return pc.fill_null(column, pa.scalar(value, column.type))


def _empty_logs() -> pa.Table:
    return arrow(ReadLog).empty_table().append_column(PART, pa.array([], pa.int64()))
