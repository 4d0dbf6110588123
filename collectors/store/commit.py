"""Write a batch: its data first, its `batches` rows last, which make it visible."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING

from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import column_names
from dbt_graft.collectors.store.read import batches as read_batches
from dbt_graft.collectors.store.read import positions
from dbt_graft.collectors.store.tables import TABLES, Collected, Positions
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """A batch as it was written: its logs and their events."""

    batch_id: str
    origins: int
    events: int


def commit(
    store: str,
    collected: Iterable[Collected],
    known: Positions | None = None,
    *,
    replace: bool = False,
) -> CommittedBatch | None:
    """Write everything collected as one batch, visible with its last step.

    Args:
        known: The positions in the store when the logs were read.
        replace: Remove all other batches.

    Returns:
        The batch; None if nothing was collected.

    Raises:
        GraftError: Another collect has read one of the logs meanwhile; nothing becomes visible.
    """
    parts = list(collected)
    if not parts:
        return None
    now = datetime.now(UTC)
    batch_id = f"{now:%Y%m%dT%H%M%S%fZ}-{uuid.uuid4().hex[:8]}"
    for table in TABLES:
        frames = [getattr(part, table, None) for part in parts]
        if present := [frame for frame in frames if frame is not None]:
            _write(present, store, table, batch_id)
    committed_at = f"timestamp_micros({_micros(now)}) AS committed_at"
    batches = [part.origins.selectExpr("*", committed_at).persist() for part in parts]
    for frame in batches:
        frame.count()  # the work of Spark is done before the last look at the store
    _unless_changed(store, known, batches)
    others = _other_batches(store, batch_id) if replace else []
    # Without its `batches` rows a batch is invisible: those go before ours come.
    _remove(store, "batches", others)
    _write(batches, store, "batches", batch_id)
    for table in TABLES:
        _remove(store, table, others)
    origins = positions(store, batch_id)
    committed = CommittedBatch(batch_id, len(origins), sum(n for _, n in origins.values()))
    _log.debug("batch %s: %d logs, %d events", batch_id, committed.origins, committed.events)
    return committed


def _other_batches(store: str, batch_id: str) -> list[str]:
    return sorted({row["batch_id"] for row in read_batches(store)} - {batch_id})


def _remove(store: str, table: str, batch_ids: Iterable[str]) -> None:
    files, root = filesystem(store)
    for batch_id in batch_ids:
        folder = f"{root}/{table}/batch_id={batch_id}"
        if files.get_file_info(folder).type is fs.FileType.Directory:
            files.delete_dir(folder)


def _unless_changed(store: str, known: Positions | None, batches: Iterable[DataFrame]) -> None:
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
