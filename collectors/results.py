"""Results of executors, each with the records in a part of a log -> the tables of the store.

Of few logs they are brought here, and the reading is all that Spark does. Of many they stay with
Spark, however many they are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from dbt_graft.collectors.arrow_frames import to_table
from dbt_graft.collectors.store.arrow_tables import distinct, drop_origins, unnest_records
from dbt_graft.collectors.store.tables import TABLES, LogRecords

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The records of so many bytes of logs fit into the memory of one machine.
_SMALL = 64 << 20


@dataclass(frozen=True, slots=True)
class ArrowResults:
    """Results in the memory of this process."""

    rows: pa.Table

    def select(self, *columns: str) -> list[dict[str, Any]]:
        """Columns of all results."""
        return self.rows.select(list(columns)).to_pylist()

    def without(self, origins: Collection[str]) -> ArrowResults:
        """The results of other logs than these."""
        return ArrowResults(drop_origins(self.rows, origins))

    def records(self, table: str, *, once: str = "") -> pa.Table:
        """The records of a table.

        Args:
            once: A column each of whose values is wanted once.
        """
        rows = unnest_records(self.rows, table, TABLES[table])
        return distinct(rows, once) if once else rows

    def count(self, table: str) -> dict[str, int]:
        """The number of records of a table by origin."""
        counted = self.records(table).group_by("origin").aggregate([("origin", "count")])
        return {row["origin"]: row["origin_count"] for row in counted.to_pylist()}


@dataclass(frozen=True, slots=True)
class SparkResults:
    """Results that stay with Spark, in a persistent data frame; see `ArrowResults`."""

    frame: DataFrame

    def select(self, *columns: str) -> list[dict[str, Any]]:
        """Columns of all results, in the memory of this process."""
        return to_table(self.frame.select(*columns)).to_pylist()

    def without(self, origins: Collection[str]) -> SparkResults:
        """The results of other logs than these."""
        if not origins:
            return self
        rows = [(origin,) for origin in origins]
        these = self.frame.sparkSession.createDataFrame(rows, ["origin"])
        return SparkResults(self.frame.join(these.hint("broadcast"), "origin", "left_anti"))

    def records(self, table: str, *, once: str = "") -> DataFrame:
        """The records of a table, as a lazy data frame."""
        rows = self.frame.selectExpr(f"inline({table})")
        return rows.dropDuplicates([once]) if once else rows

    def count(self, table: str) -> dict[str, int]:
        """The number of records of a table by origin."""
        counted = self.records(table).groupBy("origin").count().collect()
        return {row["origin"]: row["count"] for row in counted}


Results: TypeAlias = ArrowResults | SparkResults


def read_results(frame: DataFrame, size: int) -> Results:
    """The results of reading logs of so many bytes."""
    return ArrowResults(to_table(frame)) if size <= _SMALL else SparkResults(frame.persist())


def record_tables(results: Results) -> dict[str, Any]:
    """The tables that every collector fills: name -> rows."""
    return {field.name: results.records(field.name) for field in fields(LogRecords)}
