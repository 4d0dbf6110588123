"""A statement of an application, and the key that equal ones share.

It is what a user calls one: `df.write.saveAsTable("t")` is three nested executions in Spark 4
(save, create, insert) and one statement here; an `INSERT … INSERT …` over one source is one
execution and two statements. Reading a view is reading its tables, because Spark's plans have
views resolved; only `CREATE VIEW` shows the views that it reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dbt_graft.collectors.spark.application.accesses import DatasetAccess
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ColumnEdge, Status

# Text, operation, inputs, outputs.
StatementKey = tuple[str, Operation, tuple[DatasetId, ...], tuple[DatasetId, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of an application: its operation, inputs, outputs, times and outcome.

    Attributes:
        sql: Its text without literals; empty where the log has none.
        edges: Its column edges, without task, shape and origin.
        gaps: The reasons why column edges or inputs (`PATHS_CUT`) are missing or not exact.
        times: How often it ran.
        infers_schema: Spark ran it to find the columns of files: it counts only where nothing else
            reads them.
    """

    operation: Operation
    reads: tuple[DatasetAccess, ...]
    writes: tuple[DatasetAccess, ...]
    status: Status
    started_at: datetime
    ended_at: datetime
    sql: str = ""
    edges: tuple[ColumnEdge, ...] = ()
    gaps: tuple[str, ...] = ()
    times: int = 1
    infers_schema: bool = False

    @property
    def key(self) -> StatementKey:
        """Its text, operation, inputs and outputs: equal for all runs of the same statement."""
        reads = tuple(access.dataset for access in self.reads)
        return self.sql, self.operation, reads, tuple(access.dataset for access in self.writes)
