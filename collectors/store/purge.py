"""Purge a store of old runs: of logs that hold no others, only what folding leaves stays.

Each run of such a log is folded for good: of its task the first and the last run of each pattern
stay with all that they read and wrote, of the others counts and figures by day. So no table, no
writer, no link between names, and no edge with its first and last time is lost. The logs are closed
from then on: what is read of them again does not count.

The batches up to the last with such a log become one: killed before, nothing has changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from dbt_graft.collectors.schema import batch
from dbt_graft.collectors.store.batches import OpenStore, open_store
from dbt_graft.collectors.store.compaction import MergeBlock, replace_batches
from dbt_graft.collectors.store.lock import committing, compacting
from dbt_graft.collectors.store.old_rows import OldRows
from dbt_graft.collectors.store.purged_rows import ClosedLogs
from dbt_graft.collectors.store.tables import PURGED, TABLES
from dbt_graft.collectors.store.upgrade import keep_copy
from dbt_graft.lineage.building.run_group import RunGroup
from dbt_graft.lineage.fold.closing import ClosingLogs
from dbt_graft.lineage.fold.days import DayTotals
from dbt_graft.lineage.fold.runs import TaskFold
from dbt_graft.lineage.fold.scope import FoldScope
from dbt_graft.lineage.fold.settled import origins_of
from dbt_graft.lineage.frozen import frozen

_log = logging.getLogger(__name__)


@frozen
class Purge:
    """The result of a purge.

    Attributes:
        logs: How many were closed.
        runs: How many runs they have; `left` of them stay.
        rows: Rows of runs and accesses that are gone.
        open: Logs with old runs that stay as they are: they hold newer ones too, or such as cannot
            be folded.
    """

    logs: int = 0
    runs: int = 0
    left: int = 0
    rows: int = 0
    open: int = 0


def purge(
    store: str,
    before: datetime,
    *,
    dry_run: bool = False,
    on_progress: Callable[[str], object] = lambda text: None,
) -> Purge:
    """Purge a store of the runs that ended before a time.

    Args:
        on_progress: Called with what is done next.

    Raises:
        StoreError: The store is damaged; nothing was changed.
    """
    if dry_run:
        return _logs_to_close(open_store(store), before, on_progress)[0]
    with compacting(store, wait=True) as hold:
        # In a bucket another machine may merge the same batches meanwhile.
        is_purged = False
        while not is_purged:
            snapshot = open_store(store)
            summary, closed, last = _logs_to_close(snapshot, before, on_progress)
            if not closed:
                break
            with committing(store):
                keep_copy(snapshot)
            parts = tuple(batch for batch in snapshot.batches if batch.sequence <= last)
            on_progress(f"writing what is left of {len(parts):,} batches")
            block = MergeBlock(parts, min(batch.first for batch in parts), last)
            _, is_purged = replace_batches(snapshot, block, closed=closed, hold=hold)
    return summary


def _logs_to_close(
    snapshot: OpenStore, before: datetime, on_progress: Callable[[str], object]
) -> tuple[Purge, ClosedLogs | None, int]:
    """The logs to be closed, and the sequence of the last batch that may have one."""
    old = OldRows(snapshot, before)
    if not old.buckets:
        return Purge(), None, 0
    scope = old.scope()
    purged = {(row["task"], row["run_id"]) for _, row in snapshot.rows("run_repeats")}
    closing = ClosingLogs(scope, before)
    for number, groups in enumerate(old.groups()):
        on_progress(f"looking for old runs: part {number + 1} of {len(old.buckets)}")
        for group in groups:
            is_known = any((group.task, run_id) in purged for run_id in group.run_ids)
            if is_known or not old.going_on.isdisjoint((*group.run_ids, group.key)):
                closing.keep_open(group)
            else:
                closing.add(group)
    origins, left_open = closing.closable_logs()
    if not origins:
        return Purge(open=left_open), None, 0
    summary, closed = _fold_closed(old, scope, origins, before, on_progress)
    return replace(summary, open=left_open), closed, old.last


def _fold_closed(
    old: OldRows,
    scope: FoldScope,
    origins: set[str],
    before: datetime,
    on_progress: Callable[[str], object],
) -> tuple[Purge, ClosedLogs]:
    """The logs that are closed, with what is left of their runs."""
    staying: set[tuple[str, str]] = set()
    tables: dict[str, list[Any]] = {name: [] for name in PURGED}
    days = DayTotals()
    runs = dropped = 0
    for number, groups in enumerate(old.groups()):
        on_progress(f"folding old runs: part {number + 1} of {len(old.buckets)}")
        folds: dict[str, TaskFold] = {}
        for group in groups:
            if origins_of(group) <= origins:
                if group.task not in folds:
                    folds[group.task] = TaskFold(scope, newest=0)
                folds[group.task].add(group)
                runs += len(group.run_ids)
                dropped += _rows(group)
        for fold in folds.values():
            of_task = fold.finish()
            for group in of_task.groups:
                staying.update((group.task, run_id) for run_id in group.run_ids)
                dropped -= _rows(group)
            tables["run_repeats"] += of_task.run_repeats
            tables["usage_repeats"] += of_task.usage_repeats
            days.merge(of_task.days)
    figures = days.figures()
    tables |= {"task_days": [*figures.tasks], "usage_days": [*figures.usages]}
    counts = {name: pa.Table.from_batches([batch(TABLES[name], tables[name])]) for name in PURGED}
    _log.debug("%d logs are closed, of %d runs %d stay", len(origins), runs, len(staying))
    return (
        Purge(len(origins), runs, len(staying), dropped),
        ClosedLogs(before, origins, staying, counts),
    )


def _rows(group: RunGroup) -> int:
    return len(group.runs) + len(group.accesses)
