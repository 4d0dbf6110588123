"""The few verbs that reading logs needs of an engine, whatever it is.

What is made of a log is decided by the functions that an engine is given, and they are the same on
each. Engines differ in how they divide rows, send them about and gather them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa

from dbt_graft.collectors.store.arrow_tables import distinct, drop_origins, unnest_records
from dbt_graft.collectors.store.tables import TABLES, LogRecords
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    from dbt_graft.collectors.store.tables import Rows


class Results(Protocol):
    """Results of reading logs, wherever they are."""

    def select(self, *columns: str) -> list[dict[str, Any]]:
        """Columns of all results."""
        ...

    def without(self, origins: Collection[str]) -> Results:
        """The results of other logs than these."""
        ...

    def records(self, table: str, *, once: str = "") -> Rows:
        """The records of a table.

        Args:
            once: A column each of whose values is wanted once.
        """
        ...

    def count(self, table: str) -> dict[str, int]:
        """The number of records of a table by origin."""
        ...


@frozen
class ArrowResults:
    """Results in the memory of this process."""

    rows: pa.Table

    def select(self, *columns: str) -> list[dict[str, Any]]:
        """See `Results`."""
        return self.rows.select(list(columns)).to_pylist()

    def without(self, origins: Collection[str]) -> ArrowResults:
        """See `Results`."""
        return ArrowResults(drop_origins(self.rows, origins))

    def records(self, table: str, *, once: str = "") -> pa.Table:
        """See `Results`."""
        rows = unnest_records(self.rows, table, TABLES[table])
        return distinct(rows, once) if once else rows

    def count(self, table: str) -> dict[str, int]:
        """See `Results`."""
        counted = self.records(table).group_by("origin").aggregate([("origin", "count")])
        return {row["origin"]: row["origin_count"] for row in counted.to_pylist()}


def record_tables(results: Results) -> dict[str, Any]:
    """The tables that every collector fills: name -> rows."""
    return {field.name: results.records(field.name) for field in fields(LogRecords)}


Batches: TypeAlias = Iterator[pa.RecordBatch]
# Work on the rows of one partition; it can be pickled.
Work: TypeAlias = Callable[[Batches], Batches]


class Count(Protocol):
    """A number that workers add to and this process reads."""

    @property
    def value(self) -> int:
        """The sum so far."""
        ...

    def add(self, number: int) -> None:
        """Add a number."""
        ...


class EngineRows(Protocol):
    """Rows in partitions."""

    def map(self, work: Work, kind: type) -> EngineRows:
        """The batches of records of a class that work makes of each partition."""
        ...

    def union(self, others: pa.Table) -> EngineRows:
        """These and other rows, by the names of columns; one that is missing is null."""
        ...

    def group(self, by: Sequence[str], apart: str, order: Sequence[str]) -> EngineRows:
        """Rows in other partitions, in order.

        Args:
            by: Rows that are equal in these columns are in one partition; where the last of them is
                empty, only those that are equal in `apart` too.
            order: Within equal rows.
        """
        ...

    def gather(self) -> pa.Table:
        """All rows, in the memory of this process."""
        ...

    def results(self) -> Results:
        """The results of reading logs, each with the records in a part of a log."""
        ...


class Engine(Protocol):
    """Works on rows, with as many processes as it has."""

    def spread(self, rows: pa.Table, partitions: int, size: int) -> EngineRows:
        """Rows for workers, divided.

        Args:
            size: The bytes of the logs that the rows name.
        """
        ...

    def count(self) -> Count | None:
        """A new count; None where workers cannot pass one on."""
        ...
