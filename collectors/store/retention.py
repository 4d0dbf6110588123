"""Retention: how long a store keeps single runs and the texts of statements, and when it purges.

Take the texts of old statements out of a store; what they read and wrote stays.

A statement is old when no run used it since, as one is known. The definitions of views stay: which
table a view passes on is read from them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from dbt_graft.collectors.store.batch_records import StoredBatch
from dbt_graft.collectors.store.batches import OpenStore, open_store
from dbt_graft.collectors.store.compaction import rewrite_batches
from dbt_graft.collectors.store.fold.files import drop_texts
from dbt_graft.collectors.store.fold.read import read_folded, read_unfolded
from dbt_graft.collectors.store.lock import committing, compacting, folding
from dbt_graft.collectors.store.purge import Purge, purge
from dbt_graft.collectors.store.upgrade import COPIES, keep_copy
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation

_log = logging.getLogger(__name__)


def old_statements(snapshot: OpenStore, before: datetime) -> set[str]:
    """The shapes with a text that no run used since a time, but for definitions of views."""
    read = read_folded(snapshot) or read_unfolded(snapshot)
    views: set[str] = set()
    used: dict[str, datetime] = {}
    for access in read.records.accesses:
        if access.operation is Operation.CREATE_VIEW:
            views.add(access.shape_id)
        if access.last_at:
            used[access.shape_id] = max(access.last_at, used.get(access.shape_id, access.last_at))
    for run in read.records.runs:
        if at := run.ended_at or run.started_at:
            used |= {shape_id: max(at, used.get(shape_id, at)) for shape_id in run.gaps}
    # Of a statement that no run names, the time when its log was read.
    read_at = [(batch.first, batch.sequence, batch.committed_at) for batch in snapshot.batches]
    for shape in read.shapes:
        if shape.shape_id not in used:
            times = [at for first, last, at in read_at if first <= shape.sequence <= last]
            used[shape.shape_id] = max(times, default=before)
    return {
        shape.shape_id
        for shape in read.shapes
        if shape.text and shape.shape_id not in views and used[shape.shape_id] < before
    }


def drop_statements(store: str, before: datetime) -> int:
    """Take out the texts of statements that no run used since a time; the number of statements.

    What is killed in between is done by the next call.

    Raises:
        StoreError: The store is damaged.
    """
    with compacting(store, wait=True) as hold:
        snapshot = open_store(store)
        old = old_statements(snapshot, before)
        _remove_copies(snapshot, before)
        if not old:
            return 0
        with committing(store):
            keep_copy(snapshot)
        snapshot = rewrite_batches(
            snapshot,
            lambda snapshot: _batches_with_text(snapshot, old),
            without_text=old,
            hold=hold,
        )
        with folding(store):
            drop_texts(snapshot, old)
    _log.debug("the texts of %d statements are gone", len(old))
    return len(old)


def _batches_with_text(snapshot: OpenStore, shapes: Iterable[str]) -> list[StoredBatch]:
    wanted = pa.array(sorted(shapes), pa.string())
    ids = set()
    for batch, rows in snapshot.tables("shapes"):
        shape_rows = rows.filter(pc.is_in(rows["shape_id"], value_set=wanted))
        if any(shape_rows["text"].to_pylist()):
            ids.add(batch.batch_id)
    return [batch for batch in snapshot.batches if batch.batch_id in ids]


def _remove_copies(snapshot: OpenStore, before: datetime) -> None:
    """Remove copies from before an upgrade in which all is older."""
    top = fs.FileSelector(f"{snapshot.root}/{COPIES}", allow_not_found=True)
    for info in snapshot.files.get_file_info(top):
        below = snapshot.files.get_file_info(fs.FileSelector(info.path, recursive=True))
        times = [file.mtime for file in below if file.type is fs.FileType.File and file.mtime]
        if times and max(times) < before:
            _log.info("removing %s", info.path)
            snapshot.files.delete_dir(info.path)


# The times up to which a store was purged, of runs and of statements.
_DONE = "purged.json"
# A purge by itself waits until so much of the time has passed again.
_SHARE = 12


@frozen
class Purged:
    """The result of a purge by rules.

    Attributes:
        before: The time before which runs and statements are old; `runs`, `statements`.
        statements: How many lost their text.
    """

    before: dict[str, datetime]
    runs: Purge = field(default_factory=Purge)
    statements: int = 0


def purge_store(
    store: str,
    keep: Mapping[str, timedelta],
    now: datetime,
    *,
    dry_run: bool = False,
    on_progress: Callable[[str], object] = lambda text: None,
) -> Purged:
    """Purge a store of all that is older than the rules say.

    Args:
        keep: `runs`, `statements` -> the time for which they are kept; without one for all time.

    Raises:
        StoreError: The store is damaged.
    """
    before = {name: now - span for name, span in keep.items()}
    runs, statements = Purge(), 0
    if limit := before.get("statements"):
        on_progress("looking for old statements")
        if dry_run:
            statements = len(old_statements(open_store(store), limit))
        else:
            statements = drop_statements(store, limit)
    if limit := before.get("runs"):
        runs = purge(store, limit, dry_run=dry_run, on_progress=on_progress)
    if before and not dry_run:
        _write(open_store(store), before)
    return Purged(before, runs, statements)


def purge_if_due(store: str, keep: Mapping[str, timedelta], now: datetime) -> Purged | None:
    """Purge a store if enough time has passed since; None if it has not."""
    done = _read(open_store(store))
    due = {
        name: span
        for name, span in keep.items()
        if name not in done or now - span - done[name] >= span / _SHARE
    }
    if not due:
        return None
    return purge_store(store, due, now)


def _read(snapshot: OpenStore) -> dict[str, datetime]:
    try:
        with snapshot.files.open_input_file(f"{snapshot.root}/{_DONE}") as file:
            content = orjson.loads(file.read())
        return {
            name: datetime.fromisoformat(content[name]).astimezone(UTC)
            for name in ("runs", "statements")
            if name in content
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError):
        return {}  # a purge too many does no harm


def _write(snapshot: OpenStore, before: dict[str, datetime]) -> None:
    content = {name: at.isoformat() for name, at in (_read(snapshot) | before).items()}
    beside = f"{snapshot.root}/.{_DONE}.new"
    with snapshot.files.open_output_stream(beside) as out:
        out.write(orjson.dumps(content))
    snapshot.files.move(beside, f"{snapshot.root}/{_DONE}")
