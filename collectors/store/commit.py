"""Write a batch: its data first, its `batches` rows last, which make it visible."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import arrow, column_names
from dbt_graft.collectors.store.read import batches as read_batches
from dbt_graft.collectors.store.read import positions
from dbt_graft.collectors.store.tables import TABLES, Collected, Positions, ReadLog
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from dbt_graft.collectors.store.tables import Rows

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
        rows = [getattr(part, table, None) for part in parts]
        if present := [one for one in rows if one is not None]:
            _write(present, store, table, batch_id)
    # The work of Spark is done before the last look at the store.
    batches = [_with_time(_as_table(part.origins), now) for part in parts]
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


def _as_table(rows: Rows) -> pa.Table:
    return rows if isinstance(rows, pa.Table) else rows.toArrow()


def _with_time(origins: pa.Table, now: datetime) -> pa.Table:
    schema = arrow(ReadLog)
    times = pa.array([now] * origins.num_rows, schema.field("committed_at").type)
    return origins.append_column("committed_at", times).select(schema.names).cast(schema)


def _unless_changed(store: str, known: Positions | None, batches: Iterable[pa.Table]) -> None:
    if known is None:
        return
    now = positions(store)
    changed = {origin for origin in now if now[origin] != known.get(origin)}
    for table in batches if changed else ():
        for origin in table["origin"].to_pylist():
            if origin in changed:
                raise GraftError(
                    "was read by another collect meanwhile; nothing of this one was committed",
                    place=origin,
                    remedy="run graft collect again: it goes on from there",
                )


def _write(rows: Sequence[Rows], store: str, table: str, batch_id: str) -> None:
    frames = [one for one in rows if not isinstance(one, pa.Table)]
    tables = [one for one in rows if isinstance(one, pa.Table)]
    folder = f"{table}/batch_id={batch_id}"
    if frames:
        columns = column_names(TABLES[table])
        union = reduce(lambda a, b: a.unionByName(b), (one.select(*columns) for one in frames))
        # A batch is small (its size grows with shapes, not events): one file a table.
        union.coalesce(1).write.mode("overwrite").parquet(f"{store}/{folder}")
    if tables:
        schema = arrow(TABLES[table])
        union = pa.concat_tables([one.select(schema.names).cast(schema) for one in tables])
        files, root = filesystem(store)
        files.create_dir(f"{root}/{folder}", recursive=True)
        # A file whose name begins with an underscore is not read.
        hidden, place = (f"{root}/{folder}/{name}" for name in ("_rows", "rows.parquet"))
        pq.write_table(union, hidden, filesystem=files)
        files.move(hidden, place)
