"""Read what is committed, with pyarrow: positions, open sessions, records.

All of it raises `StoreError` where files of the store are missing or damaged, so that nothing is
made of half a store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from dbt_graft.collectors.schema import record
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, StoreError, open_store
from dbt_graft.collectors.store.node_results import read_results
from dbt_graft.collectors.store.tables import TABLES
from dbt_graft.lineage.records import Records


def positions(store: str, without: Collection[str] = ()) -> dict[str, tuple[str, int]]:
    """Origin -> the position reached in it, and the number of events up to there.

    Args:
        without: Damaged batches to do without, as `damages` names them; also below.
    """
    return open_positions(open_store(store, without))


def open_positions(found: OpenStore) -> dict[str, tuple[str, int]]:
    """As `positions`, of an open store."""
    return {row["origin"]: (row["position"], row["events"]) for _, row in found.rows("origins")}


def settings(store: str, without: Collection[str] = ()) -> dict[str, str]:
    """Origin -> the settings that it was read with; empty in format 1, which did not note them."""
    rows = open_store(store, without).rows("origins")
    return {row["origin"]: row.get("settings") or "" for _, row in rows}


def run_origins(store: str, without: Collection[str] = ()) -> dict[str, str]:
    """Run id -> the origin whose newest batch has the run."""
    found = open_store(store, without)
    newest = _newest(found)
    return {
        row["run_id"]: row["origin"]
        for batch, row in found.rows("runs", newest.values())
        if newest.get(row["origin"]) == batch.batch_id
    }


def last_event_times(store: str, without: Collection[str] = ()) -> dict[str, datetime]:
    """Origin -> the time of the last event in its newest batch, of a statement or a run."""
    found = open_store(store, without)
    newest = _newest(found)
    times: dict[str, datetime] = {}
    for table, column in (("accesses", "last_at"), ("runs", "ended_at")):
        for batch, row in found.rows(table, newest.values()):
            origin, at = row["origin"], row[column]
            if at and newest.get(origin) == batch.batch_id:
                times[origin] = max(at, times.get(origin, at))
    return times


def noise(store: str) -> int:
    """Number of requests left out by noise rules, over the newest batch of each origin."""
    rows = open_store(store).rows("origins")
    return sum({row["origin"]: row.get("noise") or 0 for _, row in rows}.values())


def open_sessions(store: str, server: str, without: Collection[str] = ()) -> list[dict[str, Any]]:
    """Rows of `sessions` for a server, of the newest batch that has each session."""
    newest: dict[tuple[str, ...], tuple[StoredBatch, list[dict[str, Any]]]] = {}
    for batch, row in open_store(store, without).rows("sessions"):
        if row["server"] == server:
            key = (row["session"], row["task"], row["run"])
            if key not in newest or newest[key][0] is not batch:
                newest[key] = (batch, [])
            newest[key][1].append(row)
    return [row for _, rows in newest.values() for row in rows]


def collected_at(store: str) -> datetime | None:
    """Time of the newest commit; None for an empty store."""
    return max((batch.committed_at for batch in batches(store)), default=None)


def batches(store: str) -> tuple[StoredBatch, ...]:
    """The committed batches, oldest first."""
    return open_store(store).batches


def read(store: str, *, results: bool = False) -> Records:
    """All committed records: of each origin those of its newest batch.

    Args:
        results: dbt's results of nodes too, the newest of each: only pages show them.
    """
    found = open_store(store)
    newest = _newest(found)
    committed = set(newest.values())

    def records(table: str) -> Iterator[Any]:
        for batch, row in found.rows(table, committed):
            if "origin" not in row or newest.get(row["origin"]) == batch.batch_id:
                try:
                    yield record(TABLES[table], row)
                except ValueError as error:
                    raise StoreError(
                        f"`{table}` has a value that this version does not know: {error}",
                        place=store,
                        remedy="install the version of dbt-graft that wrote it, or a later one",
                    ) from error

    return Records(
        accesses=tuple(records("accesses")),
        runs=tuple(records("runs")),
        shapes={shape.shape_id: shape for shape in records("shapes")},
        datasets=tuple(records("datasets")),
        rejects=tuple(records("rejects")),
        column_edges=tuple(records("column_edges")),
        node_results=read_results(found) if results else (),
    )


def _newest(found: OpenStore) -> dict[str, str]:
    """Origin -> the id of its newest batch."""
    return {row["origin"]: batch.batch_id for batch, row in found.rows("origins")}
