"""Read what is committed, with pyarrow: positions, open sessions, records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import record
from dbt_graft.collectors.store.tables import TABLES
from dbt_graft.lineage.records import Records


def positions(store: str, batch_id: str | None = None) -> dict[str, tuple[str, int]]:
    """Origin -> the position reached in it, and the number of events up to there.

    Args:
        batch_id: Return only what this batch read, else the newest batch of each origin.
    """
    return {
        row["origin"]: (row["position"], row["events"])
        for row in batches(store)
        if batch_id in (None, row["batch_id"])
    }


def run_origins(store: str) -> dict[str, str]:
    """Run id -> the origin whose newest batch has the run."""
    newest = {row["origin"]: row["batch_id"] for row in batches(store)}
    return {
        row["run_id"]: row["origin"]
        for row in _rows(store, "runs")
        if newest.get(row["origin"]) == row["batch_id"]
    }


def last_event_times(store: str) -> dict[str, datetime]:
    """Origin -> the time of the last event in its newest batch, of a statement or a run."""
    newest = {row["origin"]: row["batch_id"] for row in batches(store)}
    found: dict[str, datetime] = {}
    for table, column in (("accesses", "last_at"), ("runs", "ended_at")):
        for row in _rows(store, table):
            origin, at = row["origin"], row[column]
            if at and newest.get(origin) == row["batch_id"]:
                found[origin] = max(at, found.get(origin, at))
    return found


def noise(store: str) -> int:
    """Number of requests left out by noise rules, over the newest batch of each origin."""
    newest = {row["origin"]: row.get("noise") or 0 for row in batches(store)}
    return sum(newest.values())


def open_sessions(store: str, server: str) -> list[dict[str, Any]]:
    """Rows of `sessions` for a server, of the newest batch that has each session."""
    committed = {row["batch_id"] for row in batches(store)}
    newest: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in sorted(_rows(store, "sessions"), key=lambda row: row["batch_id"]):
        if row["batch_id"] in committed and row["server"] == server:
            rows = newest.setdefault((row["session"], row["task"], row["run"]), [])
            if rows and rows[0]["batch_id"] != row["batch_id"]:
                rows.clear()
            rows.append(row)
    return [row for rows in newest.values() for row in rows]


def collected_at(store: str) -> datetime | None:
    """Time of the newest commit; None for an empty store."""
    times: list[datetime] = [row["committed_at"] for row in _rows(store, "batches")]
    return max(times, default=None)


def read(store: str) -> Records:
    """All committed records: of each origin those of its newest batch.

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
    """The rows of `batches` with their `batch_id`, oldest first."""
    return sorted(_rows(store, "batches"), key=lambda row: row["batch_id"])


def _rows(store: str, table: str) -> list[dict[str, Any]]:
    files, root = filesystem(store)
    folder = f"{root}/{table}"
    if files.get_file_info(folder).type is fs.FileType.NotFound:
        return []
    # pyarrow skips Spark's `_SUCCESS` and `_temporary`: their names begin with an underscore.
    partitioning = pads.partitioning(pa.schema([("batch_id", pa.string())]), flavor="hive")
    data = pads.dataset(folder, filesystem=files, format="parquet", partitioning=partitioning)
    if data.files:
        # Later batches may have more columns.
        newest = pq.read_schema(max(data.files), filesystem=files)
        schema = newest.append(pa.field("batch_id", pa.string()))
        data = pads.dataset(
            folder, schema, filesystem=files, format="parquet", partitioning=partitioning
        )
    return list(data.to_table().cast(_aware(data.schema)).to_pylist())


def _aware(schema: pa.Schema) -> pa.Schema:
    """The schema with all times in UTC: Spark's INT96 times have no zone."""
    return pa.schema(
        field.with_type(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(field.type) else field
        for field in schema
    )
