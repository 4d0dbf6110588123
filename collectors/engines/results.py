"""Results of workers, each with the records in a part of a log -> the tables of the store."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from dbt_graft.collectors.store.arrow_tables import distinct, drop_origins, unnest_records
from dbt_graft.collectors.store.tables import TABLES, LogRecords

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


@dataclass(frozen=True, slots=True)
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
