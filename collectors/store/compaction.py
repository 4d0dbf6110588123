"""Compaction: many small batches become few, without a change of what readers find.

Sequences are cut into blocks of 16, of 256, of 4,096 and so on. Once all batches of a block are
committed, one batch takes their place: it stands for their range of sequences and lists them, and
what a batch lists does not count any more. Two blocks either lie apart or one inside the other, so
each row is written again once a level, and a store of n batches keeps a few of each level. A block
that the newest fold covers in part waits for the next fold: else this one would be of no use.

Nothing is changed in place. A compaction that is killed leaves files without a record, which are
swept; of two at the same time each makes the same batch, and logs that stand in both count once.
Batches that count no more are deleted after a while by the clock of the store's files: a reader
that began before has that long, and opens the store again if it takes longer.
"""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain

from pyarrow import fs

from dbt_graft import __version__
from dbt_graft.collectors.store.batch_files import delete_batch, put_record
from dbt_graft.collectors.store.batch_records import stored_batch
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, open_store
from dbt_graft.collectors.store.fold.tables import stored_folds
from dbt_graft.collectors.store.lock import committing, compacting
from dbt_graft.collectors.store.merge import Merge, write_merged
from dbt_graft.collectors.store.purged_rows import ClosedLogs
from dbt_graft.collectors.store.tables import FORMAT, RECORD, Batch
from dbt_graft.collectors.store.upgrade import keep_copy
from dbt_graft.file_lock import Hold
from dbt_graft.lineage.frozen import frozen

FAN_OUT = 16
# Blocks with more than this stay apart: to write them again would cost more than opening them.
MOST_BYTES = 128 * 2**20
# The time that readers have for what was merged.
DELAY = timedelta(hours=1)
_CLOCK = ".clock"
_log = logging.getLogger(__name__)


@frozen
class Compaction:
    """The result of a compaction.

    Attributes:
        merged: The number of batches that were merged; they count no more.
        deleted: Batches that were merged before and are deleted now.
        waiting: Batches that count no more and are still there.
        counting: The batches that readers open now.
    """

    merged: int = 0
    made: int = 0
    deleted: int = 0
    waiting: int = 0
    counting: int = 0


@frozen
class MergeBlock:
    """Batches to be merged, oldest first, and the sequences that they stand for."""

    parts: tuple[StoredBatch, ...]
    first: int
    last: int


def compact(store: str, delay: timedelta | None = None, *, wait: bool = True) -> Compaction:
    """Merge what is due, bring batches of earlier formats to this one, and delete what is over.

    Args:
        delay: How long merged batches stay for readers; an hour by default.
        wait: Wait for another compaction on this machine; else leave the store to it.

    Raises:
        StoreError: The store is damaged or cannot be read; nothing was changed.
    """
    with compacting(store, wait=wait) as hold:
        if hold is Hold.BUSY:
            return Compaction()
        snapshot = open_store(store)
        if _outdated_batches(snapshot.batches):
            with committing(store):
                keep_copy(snapshot)
        merged = merges = 0
        while blocks := due_blocks(snapshot):
            before = merges
            for block in blocks:
                snapshot, is_replaced = replace_batches(snapshot, block, hold=hold)
                merged, merges = merged + is_replaced * len(block.parts), merges + is_replaced
            if merges == before:
                break  # another compaction is faster
        deleted = _delete_expired(snapshot, DELAY if delay is None else delay)
        waiting = len(snapshot.superseded) - deleted
        return Compaction(merged, merges, deleted, waiting, len(snapshot.batches))


def is_due(snapshot: OpenStore) -> bool:
    """Whether a compaction of a store would change anything."""
    return bool(due_blocks(snapshot)) or any(
        True for _ in _expired_batches(snapshot, snapshot.newest, DELAY)
    )


def due_blocks(snapshot: OpenStore) -> list[MergeBlock]:
    """The blocks to be merged, the widest first; none of them meets another."""
    folded = max((fold.sequence for fold in stored_folds(snapshot)), default=0)
    remaining = [batch for batch in snapshot.batches if batch.sequence > 0]
    first = [batch for batch in snapshot.batches if batch.sequence <= 0]
    blocks = [MergeBlock((*first,), 0, 0)] if len(first) > 1 or _outdated_batches(first) else []
    size = FAN_OUT
    while size * FAN_OUT <= snapshot.last_sequence:
        size *= FAN_OUT
    while size >= FAN_OUT:
        blocks_of_size: dict[int, list[StoredBatch]] = defaultdict(list)
        for batch in remaining:
            number = (batch.first - 1) // size
            if (batch.sequence - 1) // size == number:
                blocks_of_size[number].append(batch)
        for number, parts in blocks_of_size.items():
            block_first, last = number * size + 1, (number + 1) * size
            if block_first <= folded < last or last > snapshot.last_sequence:
                continue
            if len(parts) > 1 and _bytes(parts) <= MOST_BYTES:
                blocks.append(MergeBlock((*parts,), block_first, last))
                remaining = [batch for batch in remaining if batch not in parts]
        size //= FAN_OUT
    return blocks + [
        MergeBlock((batch,), batch.first, batch.sequence) for batch in _outdated_batches(remaining)
    ]


def replace_batches(
    snapshot: OpenStore,
    block: MergeBlock,
    *,
    forget: Collection[str] = (),
    closed: ClosedLogs | None = None,
    without_text: Collection[str] = (),
    hold: Hold,
) -> tuple[OpenStore, bool]:
    """A store in which one batch takes the place of others, and whether it came to that.

    Args:
        forget: Logs of which nothing is to be left.
        closed: Logs that are closed by it.
        without_text: Shapes whose texts are left out.
        hold: The lock of the compaction; without it others can have replaced them meanwhile.

    Raises:
        StoreError: One of them is damaged.
    """
    ids = {batch.batch_id for batch in block.parts}
    oldest = next((batch for batch in snapshot.batches if batch.batch_id not in ids), None)
    from_start = oldest is None or (oldest.sequence, oldest.batch_id) > (
        block.parts[-1].sequence,
        block.parts[-1].batch_id,
    )
    batch_id = uuid.uuid4().hex
    merge = Merge(snapshot, block.parts, from_start, forget, closed, without_text)
    files = write_merged(merge, batch_id)
    purges = [batch.purged_before for batch in block.parts if batch.purged_before]
    purged_before = max([*purges, closed.before] if closed else purges, default=None)
    record = Batch(
        sequence=block.last,
        format=FORMAT,
        version=__version__,
        committed_at=max(batch.committed_at for batch in block.parts),
        files=files,
        gives_up=tuple(sorted({damaged for batch in block.parts for damaged in batch.gives_up})),
        first_sequence=block.first,
        replaces=tuple(sorted(ids)),
        purged_before=purged_before,
    )
    with committing(snapshot.place) as ensure_held:
        now = snapshot if hold is Hold.HELD else open_store(snapshot.place)
        if not ids <= {batch.batch_id for batch in now.batches}:
            delete_batch(snapshot, batch_id, files)
            return now, False
        ensure_held()
        put_record(snapshot, batch_id, record)
    _log.debug("batches %d to %d are one: %s", block.first, block.last, batch_id)
    merged = stored_batch(batch_id, record)
    remaining = [batch for batch in now.batches if batch.batch_id not in ids]
    counting = sorted([*remaining, merged], key=lambda batch: (batch.sequence, batch.batch_id))
    superseded = (*now.superseded, *block.parts)
    return replace(now, batches=(*counting,), superseded=superseded), True


def rewrite_batches(
    snapshot: OpenStore,
    holding: Callable[[OpenStore], Sequence[StoredBatch]],
    *,
    forget: Collection[str] = (),
    without_text: Collection[str] = (),
    hold: Hold,
) -> OpenStore:
    """A store in which batches that hold something were written again without it, one by one.

    Args:
        holding: Returns the batches that hold it.

    Raises:
        StoreError: One of them is damaged.
    """
    last = snapshot.last_sequence
    while remaining := [batch for batch in holding(snapshot) if batch.first <= last]:
        for batch in remaining:
            snapshot, is_replaced = replace_batches(
                snapshot,
                MergeBlock((batch,), batch.first, batch.sequence),
                forget=forget,
                without_text=without_text,
                hold=hold,
            )
            if not is_replaced:
                break  # another machine has merged it meanwhile, with others
    return snapshot


def _outdated_batches(batches: Sequence[StoredBatch]) -> list[StoredBatch]:
    return [batch for batch in batches if batch.format < FORMAT]


def _bytes(batches: Sequence[StoredBatch]) -> int:
    return sum(file.bytes or 0 for batch in batches for file in batch.files)


def _expired_batches(snapshot: OpenStore, now: int, delay: timedelta) -> Iterator[StoredBatch]:
    """The batches that count no more and whose time is over, those of narrow ranges first."""
    since: dict[str, int] = {}
    for batch in chain(snapshot.batches, snapshot.superseded):
        at = snapshot.times.get(f"batches/batch_id={batch.batch_id}/{RECORD}", now)
        for batch_id in batch.replaces:
            since[batch_id] = min(at, since.get(batch_id, at))
    limit = now - int(delay.total_seconds() * 1_000_000_000)
    for batch in sorted(
        snapshot.superseded, key=lambda merged: (merged.sequence - merged.first, merged.replaces)
    ):
        if since.get(batch.batch_id, now) <= limit:
            yield batch


def _delete_expired(snapshot: OpenStore, delay: timedelta) -> int:
    """Delete what is over; the number of batches.

    One that was merged itself stays until all that it lists are gone: they would count again.
    """
    if not snapshot.superseded:
        return 0
    present = {batch.batch_id for batch in (*snapshot.batches, *snapshot.superseded)}
    deleted = 0
    for batch in _expired_batches(snapshot, _now(snapshot.files, snapshot.root), delay):
        if present.isdisjoint(batch.replaces) and delete_batch(
            snapshot, batch.batch_id, batch.files
        ):
            present.discard(batch.batch_id)
            deleted += 1
    return deleted


def _now(files: fs.FileSystem, root: str) -> int:
    """The time now by the clock of the store's files, in nanoseconds."""
    with files.open_output_stream(f"{root}/{_CLOCK}") as out:
        out.write(b"\n")
    return files.get_file_info(f"{root}/{_CLOCK}").mtime_ns or 0
