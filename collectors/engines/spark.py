"""Spark as an engine: embedded, a cluster, or Spark Connect."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbt_graft.collectors.arrow_frames import to_frame, to_table
from dbt_graft.collectors.engines.engine import ArrowResults, Count, Results, Work
from dbt_graft.collectors.schema import ddl
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The records of so many bytes of logs fit into the memory of one machine.
_SMALL = 64 << 20


@frozen
class SparkEngine:
    """See `Engine`."""

    session: SparkSession

    def spread(self, rows: pa.Table, partitions: int, size: int) -> SparkRows:
        """See `Engine`."""
        return SparkRows(to_frame(self.session, rows).repartition(partitions), size)

    def count(self) -> Count | None:
        """See `Engine`; Spark passes a count on whenever a task ends."""
        # Spark Connect's sessions have no context.
        context = getattr(self.session, "_sc", None)
        return None if context is None else context.accumulator(0)


@frozen
class SparkRows:
    """A lazy data frame; see `EngineRows`."""

    frame: DataFrame
    size: int

    def map(self, work: Work, kind: type) -> SparkRows:
        """See `EngineRows`."""
        return replace(self, frame=self.frame.mapInArrow(work, ddl(kind)))

    def union(self, others: pa.Table) -> SparkRows:
        """See `EngineRows`."""
        frame = to_frame(self.frame.sparkSession, others)
        return replace(self, frame=self.frame.unionByName(frame, allowMissingColumns=True))

    def group(self, by: Sequence[str], apart: str, order: Sequence[str]) -> SparkRows:
        """See `EngineRows`."""
        from pyspark.sql import functions as sql

        key = sql.when(sql.col(by[-1]) == "", sql.col(apart))
        frame = self.frame.repartition(*by, key).sortWithinPartitions(*by, apart, *order)
        return replace(self, frame=frame)

    def gather(self) -> pa.Table:
        """See `EngineRows`."""
        return to_table(self.frame)

    def results(self) -> Results:
        """See `EngineRows`; of many logs they stay with Spark, however many they are."""
        if self.size <= _SMALL:
            return ArrowResults(self.gather())
        return SparkResults(self.frame.persist())


@frozen
class SparkResults:
    """Results that stay with Spark, in a persistent data frame; see `Results`."""

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
