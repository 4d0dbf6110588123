"""The tables of the lineage store: a record for each, and the schemas derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from dbt_graft.collectors.schema import ddl
from dbt_graft.lineage.fold.days import TaskDay, UsageDay
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    DatasetMetadata,
    NodeResult,
    Reject,
    Run,
    RunRepeats,
    Shape,
    TaskMetadata,
    UsageRepeats,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Rows: TypeAlias = DataFrame | pa.Table

# Origin -> the position reached in it, and the number of events up to there.
Positions: TypeAlias = Mapping[str, tuple[str, int]]


@frozen
class OpenSession:
    """A session of a database that was open at the end of a log: its run or a prepared statement.

    Attributes:
        act: `running` for a run, `prepared` for a statement with its handle.
        temporaries: Its temporary tables, serialised by the collector.
    """

    server: str
    session: str
    act: str
    task: str
    run: str
    run_id: str
    handle: int | None
    text: str | None
    temporaries: str
    started: datetime
    first_ended: datetime
    last_ended: datetime
    first_sequence: int
    origin: str


@frozen
class ReadLog:
    """A log that a batch read.

    Attributes:
        position: Empty where it could not be read.
        noise: How many of its events were left out by noise rules.
        settings: A digest of the settings that it was read with; empty where there are none.
        sequence, committed_at: Those of the batch that read it, in a batch that was merged of
            several; else None.
        forgotten: It was taken out of the store: it has no rows any more, nor a position.
        closed: A purge has folded its runs for good. In a batch without a purge: one before it did,
            so the rows of this batch do not count.
    """

    origin: str
    position: str
    events: int = 0
    noise: int = 0
    settings: str = ""
    sequence: int | None = None
    committed_at: datetime | None = None
    forgotten: bool | None = None
    closed: bool | None = None


@frozen
class BatchFile:
    """A file of a batch.

    Attributes:
        path: Below the store.
        rows, bytes: None in format 1, which did not note them.
    """

    table: str
    path: str
    rows: int | None = None
    bytes: int | None = None


@frozen
class Batch:
    """A batch: the record that makes it visible.

    Attributes:
        sequence: Its place in the order of batches, from 1 on. No clock decides on it. One that was
            merged of several has the last of theirs; 0 for batches of format 1.
        format: The format of the store that it was written in.
        version: The version of dbt-graft that wrote it.
        gives_up: Damaged batches that count no more since this one: ids, or `#` and sequences:
            `#2`, `#17-32`.
        first_sequence: The first of the batches that it was merged of; None for one that was not.
        replaces: The ids of these batches, which count no more.
        purged_before: It was purged of runs that ended before; None for one that was not.
    """

    sequence: int
    format: int
    version: str
    committed_at: datetime
    files: tuple[BatchFile, ...]
    gives_up: tuple[str, ...] = ()
    first_sequence: int | None = None
    replaces: tuple[str, ...] = ()
    purged_before: datetime | None = None


@frozen
class LogRecords:
    """The records in a log, or in several: the tables that every collector fills."""

    accesses: tuple[Access, ...] = ()
    runs: tuple[Run, ...] = ()
    shapes: tuple[Shape, ...] = ()
    datasets: tuple[Dataset, ...] = ()
    column_edges: tuple[ColumnEdge, ...] = ()
    rejects: tuple[Reject, ...] = ()


# Of the store. Raise it with every new column or value, which earlier versions cannot read.
FORMAT = 12
# The file that holds a batch's record.
RECORD = "batch.parquet"

# Table -> the record that is one row of it.
TABLES: Mapping[str, type] = {
    "accesses": Access,
    "runs": Run,
    "shapes": Shape,
    "datasets": Dataset,
    "column_edges": ColumnEdge,
    "rejects": Reject,
    "node_results": NodeResult,
    "task_metadata": TaskMetadata,
    "dataset_metadata": DatasetMetadata,
    "sessions": OpenSession,
    "origins": ReadLog,
    "run_repeats": RunRepeats,
    "usage_repeats": UsageRepeats,
    "task_days": TaskDay,
    "usage_days": UsageDay,
    "batches": Batch,
}
# What a purge left of the runs of logs that it closed: of no log in particular.
PURGED = ("run_repeats", "usage_repeats", "task_days", "usage_days")
SCHEMAS: Mapping[str, str] = {table: ddl(record) for table, record in TABLES.items()}


@frozen
class Collected:
    """The rows that one collector found in new logs, one field a table.

    Each is an Arrow table, or a lazy data frame where there may be too many rows for one machine,
    and has the columns of `SCHEMAS[<its name>]`. Only some engines have open sessions, only dbt
    has results of nodes, only events have metadata of tasks and datasets.

    Attributes:
        pending: Logs that could not be read; the next collect reads them again.
        other_clients: Name -> events of clients that are not tasks, which the store does not have.
    """

    accesses: Rows
    runs: Rows
    shapes: Rows
    datasets: Rows
    column_edges: Rows
    rejects: Rows
    origins: Rows
    sessions: Rows | None = None
    node_results: Rows | None = None
    task_metadata: Rows | None = None
    dataset_metadata: Rows | None = None
    pending: tuple[Reject, ...] = ()
    other_clients: Mapping[str, int] = field(default_factory=dict)
