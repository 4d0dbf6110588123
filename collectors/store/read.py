"""Read what is committed, with pyarrow: open sessions, records.

All of it raises `StoreError` where files of the store are missing or damaged, so that nothing is
made of half a store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.store.batch_records import with_utc_times
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, open_store, reopens
from dbt_graft.collectors.store.damage import file_errors
from dbt_graft.collectors.store.fold.read import read_folded, read_unfolded
from dbt_graft.collectors.store.logs import PART, forgotten_sequences, holding_logs, values
from dbt_graft.collectors.store.node_results import read_results
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Records


@reopens
def last_event_times(store: str, without: Collection[str] = ()) -> dict[str, datetime]:
    """Origin -> the time of the last event in its newest batch, of a statement or a run."""
    return newest_times(open_store(store, without), (("accesses", "last_at"), ("runs", "ended_at")))


def newest_times(snapshot: OpenStore, columns: Iterable[tuple[str, str]]) -> dict[str, datetime]:
    """Origin -> the newest time in some columns of its rows that count.

    Args:
        columns: Tables, each with a column.
    """
    logs = holding_logs(snapshot)
    times: dict[str, datetime] = {}
    for index, batch in enumerate(snapshot.batches):
        live = pc.unique(logs.filter(pc.equal(logs[PART], pa.scalar(index)))["origin"])
        for table, column in columns:
            for file in batch.files:
                if file.table == table and len(live):
                    with file_errors(f"{snapshot.place}/{file.path}"):
                        rows = snapshot.parquet(file.path).read(["origin", column])
                    rows = rows.filter(pc.is_in(rows["origin"], value_set=live))
                    newest = rows.group_by("origin").aggregate([(column, "max")])
                    newest = newest.cast(with_utc_times(newest.schema))
                    for origin, at in zip(
                        values(newest, "origin"), values(newest, f"{column}_max"), strict=True
                    ):
                        if at:
                            times[origin] = max(at, times.get(origin, at))
    return times


@reopens
def open_sessions(store: str, server: str, without: Collection[str] = ()) -> list[dict[str, Any]]:
    """Rows of `sessions` for a server, of the newest batch that has each session."""
    newest: dict[tuple[str, ...], tuple[StoredBatch, list[dict[str, Any]]]] = {}
    snapshot = open_store(store, without)
    forgotten = forgotten_sequences(snapshot)
    for batch, row in snapshot.rows("sessions"):
        if row["server"] == server and forgotten.get(row["origin"], -1) <= batch.sequence:
            key = (row["session"], row["task"], row["run"])
            if key not in newest or newest[key][0] is not batch:
                newest[key] = (batch, [])
            newest[key][1].append(row)
    return [row for _, rows in newest.values() for row in rows]


@reopens
def read(
    store: str,
    *,
    results: bool = False,
    results_until: datetime | None = None,
    folded: bool = True,
    newest: bool = True,
    rename: Rename | None = None,
    without: Collection[str] = (),
) -> Records:
    """All committed records: of each origin those of its newest batch.

    What is folded (`lineage.fold`) is read as such, and the batches since.

    Args:
        results: dbt's results of nodes too, the newest of each: only pages show them.
        results_until: The newest of each that this moment knows.
        folded: Use what is folded; without it, each run is a record.
        newest: With the newest runs of each task, which only pages show; without them if possible.
        rename: The name rules of the lineage that is built of them: where they make a folded table
            one that is renamed, nothing is read as folded.
    """
    snapshot = open_store(store, without)
    batches_read = read_folded(snapshot, rename, newest=newest) if folded else None
    records = (batches_read or read_unfolded(snapshot)).complete
    return (
        replace(records, node_results=read_results(snapshot, results_until)) if results else records
    )
