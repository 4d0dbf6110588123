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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
from dbt_graft.collectors.files import filesystem
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    Evidence,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
    Subtype,
)
from pyarrow import fs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The tables' columns as Spark DDL; `lineage.records` says what they mean.
SCHEMAS: Mapping[str, str] = {
    "accesses": (
        "task string, run_id string, namespace string, name string, kind string, "
        "direction string, operation string, shape_id string, statements bigint, rows bigint, "
        "bytes bigint, files bigint, partitions bigint, first_at timestamp, last_at timestamp, "
        "status string, evidence string, procedure string, origin string"
    ),
    "runs": (
        "run_id string, task string, engine string, started_at timestamp, ended_at timestamp, "
        "status string, error string, application_id string, engine_version string, "
        "code_version string, parent_run_id string, origin string"
    ),
    "shapes": (
        "shape_id string, dialect string, text string, parser string, outcome string, reason string"
    ),
    "datasets": (
        "namespace string, name string, kind string, "
        "columns array<struct<name: string, type: string>>, "
        "symlinks array<struct<namespace: string, name: string>>, "
        "first_seen timestamp, last_seen timestamp, dropped_at timestamp, origin string"
    ),
    "column_edges": (
        "task string, to_namespace string, to_name string, to_column string, "
        "from_namespace string, from_name string, from_column string, type string, "
        "subtype string, masking boolean, shape_id string, origin string"
    ),
    "rejects": "origin string, position string, reason string, excerpt string",
    # Sessions of a database that go on in the next log: their runs and prepared statements.
    "sessions": (
        "server string, session string, act string, task string, run string, run_id string, "
        "handle bigint, text string, temporaries string, started timestamp, first_ended timestamp, "
        "last_ended timestamp, first_sequence bigint, origin string"
    ),
    "batches": (
        "origin string, position string, events bigint, noise bigint, committed_at timestamp"
    ),
}


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
    columns = [column.split(" ")[0] for column in _top_level(SCHEMAS[table])]
    union = reduce(lambda a, b: a.unionByName(b), (frame.select(*columns) for frame in frames))
    # A batch is small (its size grows with shapes, not events): one file a table.
    union.coalesce(1).write.mode("overwrite").parquet(f"{store}/{table}/batch_id={batch_id}")


def _top_level(ddl: str) -> list[str]:
    """The columns of a DDL string, nested ones left inside their column."""
    columns, depth, start = [], 0, 0
    for at, char in enumerate(ddl):
        depth += (char == "<") - (char == ">")
        if char == "," and not depth:
            columns.append(ddl[start:at].strip())
            start = at + 1
    return [*columns, ddl[start:].strip()]


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


def told_until(store: str) -> dict[str, datetime]:
    """For each origin up to when its newest batch tells of statements and runs."""
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

    return Records(
        accesses=tuple(_access(row) for row in rows("accesses")),
        runs=tuple(Run(**{**row, "status": Status(row["status"])}) for row in rows("runs")),
        shapes={
            row["shape_id"]: Shape(**{**row, "outcome": Outcome(row["outcome"])})
            for row in rows("shapes")
        },
        datasets=tuple(_dataset(row) for row in rows("datasets")),
        rejects=tuple(Reject(**row) for row in rows("rejects")),
        column_edges=tuple(_column_edge(row) for row in rows("column_edges")),
    )


def _access(row: dict[str, Any]) -> Access:
    dataset = DatasetId(row.pop("namespace"), row.pop("name"))
    return Access(
        **{
            **row,
            "dataset": dataset,
            "kind": Kind(row["kind"]),
            "direction": Direction(row["direction"]),
            "status": Status(row["status"]),
            "evidence": Evidence(row["evidence"]),
        }
    )


def _column_edge(row: dict[str, Any]) -> ColumnEdge:
    return ColumnEdge(
        task=row["task"],
        to_dataset=DatasetId(row["to_namespace"], row["to_name"]),
        to_column=row["to_column"],
        from_dataset=DatasetId(row["from_namespace"], row["from_name"]),
        from_column=row["from_column"],
        type=EdgeType(row["type"]),
        subtype=Subtype(row["subtype"]),
        masking=row["masking"],
        shape_id=row["shape_id"],
        origin=row["origin"],
    )


def _dataset(row: dict[str, Any]) -> Dataset:
    return Dataset(
        id=DatasetId(row["namespace"], row["name"]),
        kind=Kind(row["kind"]),
        columns=tuple(Column(c["name"], c["type"] or "") for c in row["columns"] or ()),
        symlinks=tuple(DatasetId(s["namespace"], s["name"]) for s in row["symlinks"] or ()),
        first_seen=row["first_seen"],
        last_seen=row["last_seen"],
        dropped_at=row["dropped_at"],
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
