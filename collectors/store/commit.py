"""Write a batch: its data first, its record in `batches` last, which makes it visible."""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from datetime import UTC, datetime
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from dbt_graft import __version__
from dbt_graft.collectors.arrow_frames import to_table
from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import arrow, column_names
from dbt_graft.collectors.store.batch_files import batch_files, put_record, put_rows
from dbt_graft.collectors.store.batches import OpenStore, open_store
from dbt_graft.collectors.store.compaction import compact, is_due
from dbt_graft.collectors.store.lock import committing
from dbt_graft.collectors.store.logs import closed_logs
from dbt_graft.collectors.store.node_results import is_invocation
from dbt_graft.collectors.store.positions import of_logs, open_positions
from dbt_graft.collectors.store.secrets import redact_folder, redact_rows
from dbt_graft.collectors.store.tables import FORMAT, TABLES, Batch, Collected, Positions
from dbt_graft.collectors.store.upgrade import keep_copy
from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.errors import FREE_SPACE, FULL_DISK, GraftError
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dbt_graft.collectors.store.tables import Rows

_log = logging.getLogger(__name__)
# The tables of a collector; `origins` is written when all others are.
COLLECTED = tuple(
    field.name
    for field in fields(Collected)
    if field.name not in ("origins", "pending", "other_clients")
)
# A collect takes hours at most: older leftovers are swept.
_LEFT_BEHIND = 24 * 3600 * 1_000_000_000


@frozen
class CommittedBatch:
    """A batch as it was written: its logs and their events.

    Attributes:
        closed: Logs whose runs a purge has folded: what was read of them again does not count.
    """

    batch_id: str
    origins: int
    events: int
    given_up: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()


def commit(
    store: str,
    collected: Iterable[Collected],
    positions: Positions | None = None,
    *,
    give_up: Sequence[str] = (),
    settings: Callable[[str], str] = lambda origin: "",
) -> CommittedBatch | None:
    """Write everything collected as one batch, visible with its last step.

    Args:
        collected: Taken one by one, so that not all of it need be in memory at once.
        known: The positions in the store when the logs were read.
        give_up: Damaged batches that count no more from now on.
        settings: Returns the settings that an origin was read with.

    Returns:
        The batch; None if nothing was collected.

    Raises:
        GraftError: Another collect has read one of the logs meanwhile, or the store is damaged or
            cannot be written; nothing becomes visible.
    """
    parts = iter(collected)
    first = next(parts, None)
    if first is None:
        return None
    batch_id = uuid.uuid4().hex
    origins: list[dict[str, Any]] = []
    with _errors(store):
        frames: dict[str, list[DataFrame]] = defaultdict(list)
        for number, part in enumerate(chain([first], parts)):
            for table in COLLECTED:
                rows = getattr(part, table)
                if isinstance(rows, pa.Table):
                    _write_rows(rows, store, table, batch_id, number)
                elif rows is not None:
                    frames[table].append(rows)
            read = _as_table(part.origins).to_pylist()
            origins += ({**row, "settings": settings(row["origin"])} for row in read)
        if not origins:
            return None
        for table, table_frames in frames.items():
            _write_frames(table_frames, store, table, batch_id)
        with committing(store) as ensure_held:
            snapshot = open_store(store, give_up)
            _check_unchanged(snapshot, positions, {row["origin"] for row in origins})
            keep_copy(snapshot)
            closed = closed_logs(snapshot, {row["origin"] for row in origins})
            origins = [{**row, "closed": row["origin"] in closed or None} for row in origins]
            ensure_held()
            record_batch(snapshot, batch_id, origins, give_up)
            snapshot = open_store(store, give_up)
            sweep(snapshot)
    if is_due(snapshot):
        _compact(store)
    events = sum(row["events"] for row in origins)
    _log.debug("batch %s: %d logs, %d events", batch_id, len(origins), events)
    # An invocation of dbt is in a file that counts already.
    logs = {
        row["origin"] for row in origins if row["position"] and not is_invocation(row["origin"])
    }
    return CommittedBatch(batch_id, len(logs), events, (*give_up,), (*sorted(closed),))


def _compact(store: str) -> None:
    """Compact a store; the batch is committed, whatever comes of it."""
    try:
        compaction = compact(store, wait=False)
        _log.debug("compaction: %d batches merged into %d", compaction.merged, compaction.made)
    except (GraftError, OSError, pa.ArrowException):
        _log.debug("the store was not compacted", exc_info=True)


@contextmanager
def _errors(store: str) -> Iterator[None]:
    """Arrow's errors about a store that cannot be written, as errors with its place."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in FULL_DISK
        if error.errno and not is_full:
            raise
        remedy = "check that it exists, and that this account may write there"
        raise GraftError(
            f"cannot be written: {system_reason(error)}",
            place=store,
            remedy=FREE_SPACE if is_full else remedy,
        ) from error


def _check_unchanged(snapshot: OpenStore, positions: Positions | None, origins: set[str]) -> None:
    if positions is None:
        return
    now = open_positions(snapshot, origins)
    positions = of_logs(positions, origins)
    for origin in sorted(now):
        if now[origin] != positions.get(origin):
            raise GraftError(
                "was read by another collect meanwhile; nothing of this one was committed",
                place=origin,
                remedy="run graft collect again: it goes on from there",
            )


def _as_table(rows: Rows) -> pa.Table:
    return rows if isinstance(rows, pa.Table) else to_table(rows)


def _write_frames(frames: Sequence[DataFrame], store: str, table: str, batch_id: str) -> None:
    columns = column_names(TABLES[table])
    union = reduce(lambda a, b: a.unionByName(b), (frame.select(*columns) for frame in frames))
    # A batch is small (its size grows with shapes, not events): one file a table.
    union.coalesce(1).write.mode("append").parquet(f"{store}/{table}/batch_id={batch_id}")
    files, root = filesystem(store)
    redact_folder(files, f"{root}/{table}/batch_id={batch_id}")


def _write_rows(rows: pa.Table, store: str, table: str, batch_id: str, number: int) -> None:
    if rows.num_rows:
        schema = arrow(TABLES[table])
        files, root = filesystem(store)
        folder = f"{root}/{table}/batch_id={batch_id}"
        files.create_dir(folder, recursive=True)
        rows = redact_rows(rows.select(schema.names).cast(schema))
        pq.write_table(rows, f"{folder}/rows-{number}.parquet", filesystem=files)


def record_batch(
    snapshot: OpenStore, batch_id: str, origins: list[dict[str, Any]], give_up: Sequence[str]
) -> None:
    """Write the origins and, last, the record."""
    rows = pa.Table.from_pylist(origins, arrow(TABLES["origins"]))
    put_rows(snapshot, f"origins/batch_id={batch_id}/part-0.parquet", rows)
    record = Batch(
        sequence=snapshot.last_sequence + 1,
        format=FORMAT,
        version=__version__,
        committed_at=datetime.now(UTC),
        files=tuple(batch_files(snapshot, batch_id)),
        gives_up=(*give_up,),
    )
    put_record(snapshot, batch_id, record)


def sweep(snapshot: OpenStore) -> None:
    """Remove what batches that never committed left behind, but that may still be written."""
    # The clock of the store's own files, whatever this machine's says.
    newest = snapshot.newest
    for folder, at in snapshot.uncommitted.items():
        if at < newest - _LEFT_BEHIND:
            _log.debug("sweeping %s", folder)
            # The batch is committed, even where leftovers of another account stay.
            with suppress(OSError):
                snapshot.files.delete_dir(f"{snapshot.root}/{folder}")
