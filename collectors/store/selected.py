"""Read the runs of some tasks as they are, and those of all others as they are folded.

Whoever asks for the dates of a dataset needs each run of the tasks around it, and of all others
only their lineage. Folding is exact task by task, so both together make the lineage of all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbt_graft.collectors.store.arrow_tables import select_origins
from dbt_graft.collectors.store.batch_records import StoredBatch, in_parallel
from dbt_graft.collectors.store.batches import OpenStore, open_store, reopens
from dbt_graft.collectors.store.damage import file_errors
from dbt_graft.collectors.store.fold.read import read_folded, read_unfolded
from dbt_graft.collectors.store.fold.tables import REPEATS
from dbt_graft.collectors.store.live_rows import records_of
from dbt_graft.collectors.store.logs import PART, holding_logs, values
from dbt_graft.collectors.store.node_results import read_results
from dbt_graft.collectors.store.tables import BatchFile
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Records

_RUN_IDS = ("run_id", "parent_run_id", "application_id")


@reopens
def read_selected(
    store: str,
    tasks: Collection[str],
    *,
    results: bool = False,
    rename: Rename | None = None,
    without: Collection[str] = (),
) -> Records:
    """All committed records, as `read` has them, with each run of some tasks.

    Args:
        tasks: Their names in logs. What the newest fold has of others is read as such.
    """
    snapshot = open_store(store, without)
    folded = read_folded(snapshot, rename)
    if folded is None:
        records = read_unfolded(snapshot).complete
    else:
        repeated = {repeats.task for repeats in folded.records.run_repeats}
        repeated |= {repeats.task for repeats in folded.records.usage_repeats}
        records = _unfold_tasks(snapshot, folded.complete, repeated.intersection(tasks))
    return replace(records, node_results=read_results(snapshot)) if results else records


@reopens
def tasks_of_runs(store: str, run_ids: Iterable[str]) -> set[str]:
    """The tasks with runs of these ids, or below one of them."""
    snapshot, wanted = open_store(store), pa.array(sorted({*run_ids}), pa.string())
    names: set[str] = set()
    for table, columns in (("runs", _RUN_IDS), ("accesses", ("run_id",))):
        for column in columns:
            for _, rows in _rows(snapshot, table, column, wanted, ("task",)):
                names.update(values(rows, "task"))
    return names


@reopens
def run_origins(store: str, runs: Collection[str], without: Collection[str] = ()) -> dict[str, str]:
    """Run id -> the origin whose newest batch has the run, of those of some runs."""
    snapshot, wanted = open_store(store, without), pa.array(sorted(runs), pa.string())
    tables = [*_rows(snapshot, "runs", "run_id", wanted, ("run_id", "origin"))]
    newest = _newest_origins(snapshot, [tables])
    origins: dict[str, str] = {}
    for batch, rows in tables:
        live = select_origins(rows, newest.get(batch.batch_id, []))
        origins.update(zip(values(live, "run_id"), values(live, "origin"), strict=True))
    return origins


def _unfold_tasks(snapshot: OpenStore, records: Records, tasks: Collection[str]) -> Records:
    """Records in which these tasks have all their runs."""
    if not tasks:
        return records
    wanted = pa.array(sorted(tasks), pa.string())
    tables = {name: [*_rows(snapshot, name, "task", wanted)] for name in ("runs", "accesses")}
    newest = _newest_origins(snapshot, tables.values())
    runs, accesses = (
        [
            record
            for batch, rows in tables[name]
            for record in records_of(
                snapshot.place, name, select_origins(rows, newest.get(batch.batch_id, []))
            )
        ]
        for name in ("runs", "accesses")
    )
    purged = {
        name: [
            record
            for _, rows in _rows(snapshot, name, "task", wanted)
            for record in records_of(snapshot.place, name, rows)
        ]
        for name in REPEATS
    }
    return replace(
        records,
        runs=(*(run for run in records.runs if run.task not in tasks), *runs),
        accesses=(*(access for access in records.accesses if access.task not in tasks), *accesses),
        run_repeats=(
            *(repeats for repeats in records.run_repeats if repeats.task not in tasks),
            *purged["run_repeats"],
        ),
        usage_repeats=(
            *(repeats for repeats in records.usage_repeats if repeats.task not in tasks),
            *purged["usage_repeats"],
        ),
    )


def _rows(
    snapshot: OpenStore,
    table: str,
    column: str,
    wanted: pa.Array[pa.StringScalar],
    columns: Collection[str] | None = None,
) -> Iterator[tuple[StoredBatch, pa.Table]]:
    """The rows of a table with one of some values in a column, file by file, oldest first."""
    batch_files = [
        (batch, file) for batch in snapshot.batches for file in batch.files if file.table == table
    ]

    def read_rows(batch_file: tuple[StoredBatch, BatchFile]) -> pa.Table:
        with file_errors(f"{snapshot.place}/{batch_file[1].path}"):
            return _matching_rows(snapshot.parquet(batch_file[1].path), column, wanted, columns)

    for (batch, _), matching in zip(
        batch_files, in_parallel(snapshot.files, read_rows, batch_files), strict=True
    ):
        if matching.num_rows:
            yield batch, matching


def _matching_rows(
    file: pq.ParquetFile,
    column: str,
    wanted: pa.Array[pa.StringScalar],
    columns: Collection[str] | None,
) -> pa.Table:
    """The rows of a file with one of some values; of groups without one only the column is read."""
    names = None if columns is None else [*columns]
    parts = [file.schema_arrow.empty_table().select(names or file.schema_arrow.names)]
    for group in range(file.num_row_groups if column in file.schema_arrow.names else 0):
        mask = pc.is_in(
            file.read_row_group(group, columns=[column], use_threads=False)[column],
            value_set=wanted,
        )
        if pc.any(mask).as_py():
            parts.append(file.read_row_group(group, columns=names).filter(mask))
    return pa.concat_tables(parts)


def _newest_origins(
    snapshot: OpenStore, tables: Iterable[list[tuple[StoredBatch, pa.Table]]]
) -> Mapping[str, list[str]]:
    """Batch -> those of the logs in some rows of which it is the newest."""
    rows = [part for parts in tables for _, part in parts]
    origins = {origin for part in rows for origin in pc.unique(part["origin"]).to_pylist()}
    logs = holding_logs(snapshot, sorted(filter(None, origins)))
    newest: dict[str, list[str]] = {}
    for origin, part in zip(values(logs, "origin"), values(logs, PART), strict=True):
        newest.setdefault(snapshot.batches[part].batch_id, []).append(origin)
    return newest
