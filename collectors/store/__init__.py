"""The lineage store: the contract between collectors and everybody else.

Parquet tables in one folder or URL, a sub-folder for each table and batch:

    <store>/accesses/batch_id=20261121T021500Z-4f1c/part-….parquet
    <store>/batches/batch_id=20261121T021500Z-4f1c/part-….parquet

One collect run writes one batch, its `batches` rows last. Readers see only batches that have
them, so a run that dies leaves nothing half-read behind. A batch lists the origins (log files,
applications) that it read and the position reached in each. What a later batch says of an origin
replaces what earlier ones said; what it adds to a log is an origin of its own.
Readers outside Spark use pyarrow and need no JVM.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import column_names, ddl, record
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Access, ColumnEdge, Dataset, Records, Reject, Run, Shape

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session of a database that goes on in the next log: its run, and what it prepared.

    Attributes:
        act: What is known of it: `running` for its run, `prepared` for a statement by its handle.
        temporaries: Its temporary tables, as the collector wrote them down.
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
    """A log that a batch read: how far, how many events it held, and how many were left out."""

    origin: str
    position: str
    events: int
    noise: int
    committed_at: datetime


# The tables of the store, each by the record that is one row of it.
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
    """What one collector found in the logs that are new to the store, as lazy data frames.

    Each data frame has the columns of `SCHEMAS[<its name>]`; `origins` has those of `batches`
    but `committed_at`. Only some engines have sessions that go on.
    """

    accesses: DataFrame
    runs: DataFrame
    shapes: DataFrame
    datasets: DataFrame
    column_edges: DataFrame
    rejects: DataFrame
    origins: DataFrame
    sessions: DataFrame | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit wrote."""

    batch_id: str
    origins: int
    events: int


def commit(
    store: str,
    collected: Iterable[Collected],
    known: Mapping[str, tuple[str, int]] | None = None,
) -> Committed | None:
    """Write one batch of all that was collected, and make it visible with its last step.

    Args:
        known: The positions from which the logs were read on.

    Returns:
        What was written; None where nothing was collected.

    Raises:
        GraftError: Somebody else has read the same logs meanwhile; nothing becomes visible.
    """
    parts = list(collected)
    if not parts:
        return None
    now = datetime.now(UTC)
    batch_id = f"{now:%Y%m%dT%H%M%S%fZ}-{uuid.uuid4().hex[:8]}"
    for table in SCHEMAS:
        frames = [getattr(part, table, None) for part in parts]
        if told := [frame for frame in frames if frame is not None]:
            _write(told, store, table, batch_id)
    committed_at = f"timestamp_micros({_micros(now)}) AS committed_at"
    batches = [part.origins.selectExpr("*", committed_at).persist() for part in parts]
    for frame in batches:
        frame.count()  # all that takes time is done before the last look
    _unless_changed(store, known, batches)
    _write(batches, store, "batches", batch_id)
    origins = positions(store, batch_id)
    return Committed(batch_id, len(origins), sum(events for _, events in origins.values()))


def _unless_changed(
    store: str, known: Mapping[str, tuple[str, int]] | None, batches: Iterable[DataFrame]
) -> None:
    if known is None:
        return
    now = positions(store)
    changed = {origin for origin in now if now[origin] != known.get(origin)}
    for frame in batches if changed else ():
        for row in frame.select("origin").distinct().toLocalIterator():
            if row["origin"] in changed:
                raise GraftError(
                    "was read by another collect meanwhile; nothing of this one was committed",
                    place=row["origin"],
                    remedy="run graft collect again: it goes on from there",
                )


def _write(frames: list[DataFrame], store: str, table: str, batch_id: str) -> None:
    columns = column_names(TABLES[table])
    union = reduce(lambda a, b: a.unionByName(b), (frame.select(*columns) for frame in frames))
    # A batch is small (its size grows with shapes, not events): one file a table.
    union.coalesce(1).write.mode("overwrite").parquet(f"{store}/{table}/batch_id={batch_id}")


def _micros(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def positions(store: str, batch_id: str | None = None) -> dict[str, tuple[str, int]]:
    """For each origin that was read the position reached and the number of events there.

    Args:
        batch_id: Only what this batch read; without it, the newest batch of each origin.
    """
    return {
        row["origin"]: (row["position"], row["events"])
        for row in batches(store)
        if batch_id in (None, row["batch_id"])
    }


def run_origins(store: str) -> dict[str, str]:
    """For each run the origin whose newest batch tells of it."""
    newest = {row["origin"]: row["batch_id"] for row in batches(store)}
    return {
        row["run_id"]: row["origin"]
        for row in _rows(store, "runs")
        if newest.get(row["origin"]) == row["batch_id"]
    }


def last_event_times(store: str) -> dict[str, datetime]:
    """For each origin the time of the last statement or run in its newest batch."""
    newest = {row["origin"]: row["batch_id"] for row in batches(store)}
    found: dict[str, datetime] = {}
    for table, column in (("accesses", "last_at"), ("runs", "ended_at")):
        for row in _rows(store, table):
            origin, at = row["origin"], row[column]
            if at and newest.get(origin) == row["batch_id"]:
                found[origin] = max(at, found.get(origin, at))
    return found


def noise(store: str) -> int:
    """How many requests were left out by rule, over the newest batch of each origin."""
    newest = {row["origin"]: row.get("noise") or 0 for row in batches(store)}
    return sum(newest.values())


def open_sessions(store: str, server: str) -> list[dict[str, Any]]:
    """What is known of a server's sessions that go on, as rows of `sessions`."""
    committed = {row["batch_id"] for row in batches(store)}
    newest: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in sorted(_rows(store, "sessions"), key=lambda row: row["batch_id"]):
        if row["batch_id"] in committed and row["server"] == server:
            told = newest.setdefault((row["session"], row["task"], row["run"]), [])
            if told and told[0]["batch_id"] != row["batch_id"]:
                told.clear()
            told.append(row)
    return [row for told in newest.values() for row in told]


def collected_at(store: str) -> datetime | None:
    """When the newest batch was committed; None for a store without one."""
    times: list[datetime] = [row["committed_at"] for row in _rows(store, "batches")]
    return max(times, default=None)


def read(store: str) -> Records:
    """All committed records; of each origin, what the newest batch says.

    Raises:
        OSError: The store is there but cannot be read.
    """
    newest: dict[str, str] = {}
    for row in _rows(store, "batches"):
        newest[row["origin"]] = max(row["batch_id"], newest.get(row["origin"], ""))
    committed = set(newest.values())

    def rows(table: str) -> Iterable[dict[str, Any]]:
        for row in _rows(store, table):
            batch_id = row.pop("batch_id")
            if newest.get(row["origin"]) == batch_id if "origin" in row else batch_id in committed:
                yield row

    def records(table: str) -> Iterator[Any]:
        return (record(TABLES[table], row) for row in rows(table))

    return Records(
        accesses=tuple(records("accesses")),
        runs=tuple(records("runs")),
        shapes={shape.shape_id: shape for shape in records("shapes")},
        datasets=tuple(records("datasets")),
        rejects=tuple(records("rejects")),
        column_edges=tuple(records("column_edges")),
    )


def batches(store: str) -> list[dict[str, Any]]:
    """The rows of `batches` with their `batch_id`, later ones behind."""
    return sorted(_rows(store, "batches"), key=lambda row: row["batch_id"])


def _rows(store: str, table: str) -> list[dict[str, Any]]:
    files, root = filesystem(store)
    folder = f"{root}/{table}"
    if files.get_file_info(folder).type is fs.FileType.NotFound:
        return []
    # Spark's `_SUCCESS` and `_temporary` are skipped by the reader's own default prefixes.
    partitioning = pads.partitioning(pa.schema([("batch_id", pa.string())]), flavor="hive")
    data = pads.dataset(folder, filesystem=files, format="parquet", partitioning=partitioning)
    if data.files:
        # Later batches may have columns that earlier ones do not.
        newest = pq.read_schema(max(data.files), filesystem=files)
        schema = newest.append(pa.field("batch_id", pa.string()))
        data = pads.dataset(
            folder, schema, filesystem=files, format="parquet", partitioning=partitioning
        )
    return list(data.to_table().cast(_aware(data.schema)).to_pylist())


def _aware(schema: pa.Schema) -> pa.Schema:
    """The schema with every time in UTC: Spark's INT96 times come without their zone."""
    return pa.schema(
        field.with_type(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(field.type) else field
        for field in schema
    )
