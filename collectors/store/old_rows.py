"""Runs and accesses of the batches that hold anything older than a time, some tasks at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import arrow
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch
from dbt_graft.collectors.store.fold.tables import stored_folds
from dbt_graft.collectors.store.live_rows import records_of
from dbt_graft.collectors.store.logs import PART, conform_columns, holding_logs
from dbt_graft.collectors.store.merge import file_chunks
from dbt_graft.collectors.store.tables import TABLES, BatchFile
from dbt_graft.lineage.building.run_group import RunGroup, run_groups
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.fold.scope import FoldScope, fold_scope
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Run

# Rows that are records at a time.
_AT_ONCE = 500_000
_TABLES = ("runs", "accesses")
_TIMES = {"runs": "started_at", "accesses": "last_at"}
_IDS = {"runs": ("run_id", "parent_run_id"), "accesses": ("run_id",)}


class OldRows:
    """Runs and accesses of the batches up to the last with anything older than a time.

    Batches that the newest fold does not cover are left out: it would be of no use any more.

    Attributes:
        last: The sequence of the last of these batches.
        buckets: Tasks whose rows are records at the same time.
        going_on: The ids of runs that later batches show too.
    """

    def __init__(self, snapshot: OpenStore, before: datetime) -> None:
        self._snapshot = snapshot
        folded = max(
            (fold.sequence for fold in stored_folds(snapshot)), default=snapshot.last_sequence
        )
        self.last = max(
            (
                batch.sequence
                for batch in snapshot.batches
                if batch.sequence <= folded and self._has_older(batch, before)
            ),
            default=-1,
        )
        logs = holding_logs(snapshot).select(["origin", PART])
        self._live = {
            batch.batch_id: pc.unique(logs.filter(pc.equal(logs[PART], pa.scalar(index)))["origin"])
            for index, batch in enumerate(snapshot.batches)
        }
        self.buckets = self._task_buckets()
        self.going_on = self._find_ongoing()

    def scope(self) -> FoldScope:
        """The scope of folding, of all batches."""
        renames = pa.array(
            [str(operation) for operation in Operation if operation.renames], pa.string()
        )
        runs: list[Run] = []
        accesses: list[Access] = []
        for batch in self._snapshot.batches:
            for rows in self._chunks(batch, "runs"):
                of_dbt = pc.equal(rows["engine"], pa.scalar(str(DefinitionKind.DBT)))
                special = rows.filter(pc.or_(of_dbt, pc.is_valid(rows["job"])))
                runs += records_of(self._snapshot.place, "runs", special)
            for rows in self._chunks(batch, "accesses"):
                renaming = rows.filter(pc.is_in(rows["operation"], value_set=renames))
                accesses += records_of(self._snapshot.place, "accesses", renaming)
        return fold_scope(runs, accesses)

    def groups(self) -> Iterator[list[RunGroup]]:
        """The groups of runs, bucket by bucket."""
        for tasks in self.buckets:
            names = pa.array(tasks, pa.string())
            records: dict[str, list[Any]] = {name: [] for name in _TABLES}
            for batch in self._old_batches:
                for name in _TABLES:
                    for rows in self._chunks(batch, name):
                        task_rows = rows.filter(pc.is_in(rows["task"], value_set=names))
                        records[name] += records_of(self._snapshot.place, name, task_rows)
            yield [*run_groups(records["runs"], records["accesses"])]

    @property
    def _old_batches(self) -> list[StoredBatch]:
        return [batch for batch in self._snapshot.batches if batch.sequence <= self.last]

    def _task_buckets(self) -> list[list[str]]:
        sizes: Counter[str] = Counter()
        for batch in self._old_batches:
            for name in _TABLES:
                for rows in self._chunks(batch, name):
                    counts: Any = pc.value_counts(rows["task"])
                    sizes.update({entry["values"]: entry["counts"] for entry in counts.to_pylist()})
        buckets: list[list[str]] = []
        left = 0
        for task in sorted(sizes):
            if not buckets or sizes[task] > left:
                buckets.append([])
                left = _AT_ONCE
            buckets[-1].append(task)
            left -= sizes[task]
        return buckets

    def _find_ongoing(self) -> set[str]:
        ids = [
            pc.unique(rows[column])
            for batch in self._old_batches
            for name, columns in _IDS.items()
            for rows in self._chunks(batch, name)
            for column in columns
        ]
        run_ids = pc.unique(pa.chunked_array(ids, pa.string()))
        ongoing: set[str] = set()
        for batch in self._snapshot.batches:
            if batch.sequence > self.last:
                for name, columns in _IDS.items():
                    for rows in self._chunks(batch, name):
                        for column in columns:
                            shared = rows.filter(pc.is_in(rows[column], value_set=run_ids))
                            ongoing.update(filter(None, pc.unique(shared[column]).to_pylist()))
        return ongoing

    def _chunks(self, batch: StoredBatch, table: str) -> Iterator[pa.Table]:
        """The rows of a table that count."""
        schema = arrow(TABLES[table])
        for file in batch.files:
            if file.table == table:
                for rows in file_chunks(self._snapshot, batch, file):
                    live = pc.is_in(rows["origin"], value_set=self._live[batch.batch_id])
                    yield conform_columns(rows.filter(live), schema)

    def _has_older(self, batch: StoredBatch, before: datetime) -> bool:
        files = [file for file in batch.files if file.table in _TIMES]
        return any(self._is_older(file, _TIMES[file.table], before) for file in files)

    def _is_older(self, file: BatchFile, column: str, before: datetime) -> bool:
        """Whether a file may have a row that is older; its rows are not read."""
        metadata = self._snapshot.parquet(file.path).metadata
        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            for number in range(row_group.num_columns):
                column_chunk = row_group.column(number)
                if column_chunk.path_in_schema == column:
                    statistics = column_chunk.statistics
                    if statistics is None or not statistics.has_min_max:
                        return True
                    if isinstance(statistics.min, datetime) and statistics.min < before:
                        return True
        return False
