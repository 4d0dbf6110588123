"""Records -> Arrow tables for the store, and tables out of rows that nest them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import arrow, batch
from dbt_graft.collectors.store.tables import TABLES, Collected, LogRecords, ReadLog
from dbt_graft.lineage.records import Records, Reject

# Of what is collected, what is no table.
_PLAIN = ("pending", "other_clients")


def table(kind: type, records: Iterable[Any]) -> pa.Table:
    """Records of one class as a table."""
    return pa.Table.from_batches([batch(kind, records)])


def unnest_records(rows: pa.Table, column: str, kind: type) -> pa.Table:
    """The records that a column of a table holds in arrays."""
    structs = cast("pa.StructArray", pc.list_flatten(rows[column].combine_chunks()))
    flat = pa.Table.from_batches([pa.RecordBatch.from_struct_array(structs)])
    return flat.cast(arrow(kind))


def distinct(rows: pa.Table, *keys: str) -> pa.Table:
    """The rows of a table that are the first with their values in these columns."""
    numbered = rows.append_column("row", pa.array(range(rows.num_rows), pa.int64()))
    first = numbered.group_by(list(keys)).aggregate([("row", "min")])
    return rows.take(first["row_min"].sort())


def select_origins(rows: pa.Table, origins: Collection[str]) -> pa.Table:
    """The rows of these logs."""
    return rows.filter(pc.is_in(rows["origin"], value_set=pa.array(origins, pa.string())))


def drop_origins(rows: pa.Table, origins: Collection[str]) -> pa.Table:
    """The rows of other origins than these."""
    names = pa.array(origins, pa.string())
    return rows.filter(pc.invert(pc.is_in(rows["origin"], value_set=names)))


def tables(
    records: Records,
    positions: Mapping[str, str],
    *,
    node_results: pa.Table | None = None,
    origins: pa.Table | None = None,
    pending: tuple[Reject, ...] = (),
) -> Collected:
    """Records as tables.

    Args:
        positions: Origin -> the position reached in it. Datasets without an origin get the first.
        node_results, origins, pending: What is known as a table already.
    """
    origin = next(iter(positions), "")
    datasets = (replace(dataset, origin=dataset.origin or origin) for dataset in records.datasets)
    replacements = {"shapes": records.shapes.values(), "datasets": datasets}
    names = [field.name for field in fields(LogRecords)]
    columns: dict[str, Any] = {
        name: table(TABLES[name], replacements.get(name, getattr(records, name))) for name in names
    }
    return Collected(
        **columns,
        origins=origins or table(ReadLog, (ReadLog(*entry) for entry in positions.items())),
        node_results=node_results,
        pending=pending,
    )


def union(a: Collected, b: Collected) -> Collected:
    """The rows of both, all of them tables."""
    columns: dict[str, Any] = {}
    for field in fields(Collected):
        if field.name in _PLAIN:
            continue
        parts = [getattr(part, field.name) for part in (a, b)]
        present = [cast("pa.Table", part) for part in parts if part is not None]
        columns[field.name] = pa.concat_tables(present) if present else None
    pending = (*a.pending, *b.pending)
    clients = Counter(a.other_clients) + Counter(b.other_clients)
    return Collected(**columns, pending=pending, other_clients=clients)
