"""Take the texts of old statements out of a store; what they read and wrote stays.

A statement is old when no run used it since, as one is known. The definitions of views stay: which
table a view passes on is read from them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from dbt_graft.collectors.store.batch_records import StoredBatch
from dbt_graft.collectors.store.batches import OpenStore, open_store
from dbt_graft.collectors.store.compaction import rewritten
from dbt_graft.collectors.store.fold.files import drop_texts
from dbt_graft.collectors.store.fold.read import read_folded, read_unfolded
from dbt_graft.collectors.store.lock import committing, compacting, folding, writing
from dbt_graft.collectors.store.upgrade import COPIES, keep_copy
from dbt_graft.lineage.operations import Operation

_log = logging.getLogger(__name__)


def old_statements(found: OpenStore, before: datetime) -> set[str]:
    """The shapes with a text that no run used since a time, but for definitions of views."""
    read = read_folded(found) or read_unfolded(found)
    views: set[str] = set()
    used: dict[str, datetime] = {}
    for access in read.records.accesses:
        if access.operation is Operation.CREATE_VIEW:
            views.add(access.shape_id)
        if access.last_at:
            used[access.shape_id] = max(access.last_at, used.get(access.shape_id, access.last_at))
    # Of a statement that no access names, the time when its log was read.
    read_at = [(one.first, one.sequence, one.committed_at) for one in found.batches]
    for shape in read.shapes:
        if shape.shape_id not in used:
            times = [at for first, last, at in read_at if first <= shape.sequence <= last]
            used[shape.shape_id] = max(times, default=before)
    return {
        shape.shape_id
        for shape in read.shapes
        if shape.text and shape.shape_id not in views and used[shape.shape_id] < before
    }


def drop_statements(place: str, before: datetime) -> int:
    """Take out the texts of statements that no run used since a time; the number of statements.

    What is killed in between is done by the next call.

    Raises:
        StoreError: The store is damaged.
    """
    with writing(place), compacting(place, wait=True) as lock:
        found = open_store(place)
        old = old_statements(found, before)
        _remove_copies(found, before)
        if not old:
            return 0
        with committing(place):
            keep_copy(found)
        found = rewritten(
            found,
            lambda found: _with_text(found, old),
            without_text=old,
            is_locked=lock.is_held,
        )
        with folding(place):
            drop_texts(found, old)
    _log.debug("the texts of %d statements are gone", len(old))
    return len(old)


def _with_text(found: OpenStore, shapes: Iterable[str]) -> list[StoredBatch]:
    """The batches with the text of any of these shapes."""
    wanted = pa.array(sorted(shapes), pa.string())
    ids = set()
    for batch, rows in found.tables("shapes"):
        own = rows.filter(pc.is_in(rows["shape_id"], value_set=wanted))
        if any(own["text"].to_pylist()):
            ids.add(batch.batch_id)
    return [batch for batch in found.batches if batch.batch_id in ids]


def _remove_copies(found: OpenStore, before: datetime) -> None:
    """Remove copies from before an upgrade in which all is older."""
    top = fs.FileSelector(f"{found.root}/{COPIES}", allow_not_found=True)
    for info in found.files.get_file_info(top):
        below = found.files.get_file_info(fs.FileSelector(info.path, recursive=True))
        times = [one.mtime for one in below if one.type is fs.FileType.File and one.mtime]
        if times and max(times) < before:
            _log.info("removing %s", info.path)
            found.files.delete_dir(info.path)
