"""The tables of the lineage store: a record for each, and the schemas derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from dbt_graft.collectors.schema import ddl
from dbt_graft.lineage.records import Access, ColumnEdge, Dataset, Reject, Run, Shape

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Rows: TypeAlias = DataFrame | pa.Table

# Origin -> the position reached in it, and the number of events up to there.
Positions: TypeAlias = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ReadLog:
    """A log that a batch read: its position, its events, and how many of them were noise."""

    origin: str
    position: str
    events: int
    noise: int
    committed_at: datetime


# Table -> the record that is one row of it.
TABLES: Mapping[str, type] = {
    "accesses": Access,
    "runs": Run,
    "shapes": Shape,
    "datasets": Dataset,
    "column_edges": ColumnEdge,
    "rejects": Reject,
    "sessions": OpenSession,
    "batches": ReadLog,
}
SCHEMAS: Mapping[str, str] = {table: ddl(record) for table, record in TABLES.items()}


@dataclass(frozen=True, slots=True)
class Collected:
    """The rows that one collector found in new logs, one field a table.

    Each is an Arrow table, or a lazy data frame where there may be too many rows for one machine,
    and has the columns of `SCHEMAS[<its name>]`; `origins` has those of `batches` but
    `committed_at`. Only some engines have open sessions.
    """

    accesses: Rows
    runs: Rows
    shapes: Rows
    datasets: Rows
    column_edges: Rows
    rejects: Rows
    origins: Rows
    sessions: Rows | None = None
