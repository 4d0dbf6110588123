"""A statement of an application, and the key that equal ones share.

It is what a user calls one: `df.write.saveAsTable("t")` is three nested executions in Spark 4
(save, create, insert) and one statement here; an `INSERT … INSERT …` over one source is one
execution and two statements. Reading a view is reading its tables, because Spark's plans have
views resolved; only `CREATE VIEW` shows the views that it reads.
"""

from __future__ import annotations

from datetime import datetime

from dbt_graft.collectors.statement import Statement
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation

# Text, operation, inputs, outputs.
StatementKey = tuple[str, Operation, tuple[DatasetId, ...], tuple[DatasetId, ...]]


@frozen(kw_only=True)
class PlanStatement(Statement):
    """A statement as plans show it; its run and shape are known when the log has been read.

    Attributes:
        sql: Its text without literals; empty where the log has none.
        gaps: The reasons why column edges or inputs (`PATHS_CUT`) are missing or not exact.
        infers_schema: Spark ran it to find the columns of files: it counts only where nothing else
            reads them.
    """

    first_at: datetime
    last_at: datetime
    sql: str = ""
    gaps: tuple[str, ...] = ()
    infers_schema: bool = False

    @property
    def operation(self) -> Operation:
        """The operation on its datasets."""
        return (self.writes or self.reads)[0].operation

    @property
    def key(self) -> StatementKey:
        """Its text, operation, inputs and outputs: equal for all runs of the same statement."""
        reads = tuple(access.dataset for access in self.reads)
        return self.sql, self.operation, reads, tuple(access.dataset for access in self.writes)
