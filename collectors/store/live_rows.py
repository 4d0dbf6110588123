"""The rows that count in a range of batches: of each origin those of its newest batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import arrow, column_edges, records
from dbt_graft.collectors.store.batch_records import StoredBatch, in_parallel
from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.collectors.store.logs import is_closed
from dbt_graft.collectors.store.tables import TABLES
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.records import ColumnEdge

# The tables of which one file may have a million rows.
_LARGE = ("accesses", "column_edges")


class LiveRows:
    """The rows of batches after one, filtered before any object is made of them.

    Args:
        after: The sequence of the last batch that is left out; -1 for none.
    """

    def __init__(self, snapshot: OpenStore, after: int = -1) -> None:
        self._snapshot = snapshot
        self.batches = [batch for batch in snapshot.batches if batch.sequence > after]
        self._origins: dict[str, list[str]] = {}
        self._closed: set[str] = set()
        newest: dict[str, str] = {}
        for batch, rows in self._tables("origins", self.batches):
            listed: list[Any] = rows["origin"].to_pylist()
            self._origins.setdefault(batch.batch_id, []).extend(listed)
            if "closed" in rows.column_names:
                closed: list[Any] = rows.filter(is_closed(rows))["origin"].to_pylist()
                if batch.purged_before:
                    self._closed.update(closed)
                else:
                    listed = rows.filter(pc.invert(is_closed(rows)))["origin"].to_pylist()
            newest.update(dict.fromkeys(listed, batch.batch_id))
        self._newest = newest
        self._live: dict[str, list[str]] = defaultdict(list)
        for origin, batch_id in newest.items():
            self._live[batch_id].append(origin)

    @property
    def origins(self) -> set[str]:
        """The logs that these batches read."""
        return set(self._newest)

    def sequences(self) -> dict[str, int]:
        """Origin -> the sequence of its newest batch, of all that are not closed."""
        numbers = {batch.batch_id: batch.sequence for batch in self.batches}
        return {
            origin: numbers[batch_id]
            for origin, batch_id in self._newest.items()
            if origin not in self._closed
        }

    def tables(self, table: str) -> Iterator[tuple[StoredBatch, pa.Table]]:
        """The rows of a table that count, file by file, oldest first."""
        live = [batch for batch in self.batches if batch.batch_id in self._live]
        for batch, rows in self._tables(table, live, coded=table in _LARGE):
            live_origins = self._live[batch.batch_id]
            if "origin" not in rows.column_names or len(live_origins) == len(
                {*self._origins[batch.batch_id]}
            ):
                yield batch, rows
            else:
                names = pa.array(live_origins, pa.string())
                rows = _with_plain_texts(rows)
                yield batch, rows.filter(pc.is_in(rows["origin"], value_set=names))

    def records(self, table: str) -> Sequence[Any]:
        """The records of a table that count, oldest first."""
        return concat_records(batch_records for _, batch_records in self.records_by_batch(table))

    def records_by_batch(self, table: str) -> Iterator[tuple[StoredBatch, Sequence[Any]]]:
        """The records of a table that count, file by file, oldest first."""
        for batch, rows in self.tables(table):
            yield batch, records_of(self._snapshot.place, table, rows)

    def _tables(
        self, table: str, batches: Sequence[StoredBatch], *, coded: bool = False
    ) -> Iterator[tuple[StoredBatch, pa.Table]]:
        batch_files = [
            (batch, file) for batch in batches for file in batch.files if file.table == table
        ]
        tables = in_parallel(
            self._snapshot.files,
            lambda batch_file: self._snapshot.table(*batch_file, coded=coded),
            batch_files,
        )
        for (batch, _), rows in zip(batch_files, tables, strict=True):
            yield batch, rows


def _with_plain_texts(rows: pa.Table) -> pa.Table:
    """Rows whose texts are no numbers and a dictionary."""
    return rows.cast(
        pa.schema(
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
            for field in rows.schema
        )
    )


def concat_records(parts: Iterable[Sequence[Any]]) -> Sequence[Any]:
    """The records of all parts, which are of one table."""
    listed = [*parts]
    if listed and isinstance(listed[0], ColumnEdges):
        return ColumnEdges.join(map(ColumnEdges.of, listed))
    return (*chain.from_iterable(listed),)


def records_of(store: str, table: str, rows: pa.Table) -> Sequence[Any]:
    """The records of a table's rows.

    Raises:
        StoreError: A value is none that this version knows.
    """
    kind = TABLES[table]
    names = [name for name in arrow(kind).names if name in rows.column_names]
    try:
        selected = rows.select(names)
        return column_edges(selected) if kind is ColumnEdge else records(kind, selected)
    except ValueError as error:
        raise StoreError(
            f"`{table}` has a value that this version does not know: {error}",
            place=store,
            remedy="install the version of dbt-graft that wrote it, or a later one",
        ) from error
