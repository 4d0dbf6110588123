"""The ranges of sequences that batches stand for: which of them count, and which are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dbt_graft.collectors.store.batch_records import StoredBatch


def superseded_batches(stored: Iterable[StoredBatch], given_up: Collection[str]) -> set[str]:
    """The batches that others were made of, which are complete or were merged in turn."""
    superseded: set[str] = set()
    # The widest first, and of the same range the one that was made of the other.
    merged = [batch for batch in stored if batch.replaces and batch.batch_id not in given_up]
    merged.sort(key=lambda batch: batch.first - batch.sequence)
    waiting = merged
    while waiting:
        later = []
        for batch in waiting:
            if batch.batch_id in superseded or not batch.faults:
                superseded.update(batch.replaces)
            else:
                later.append(batch)
        if len(later) == len(waiting):
            break
        waiting = later
    return superseded


def missing_sequences(stored: Iterable[StoredBatch], given_up: Iterable[str]) -> Iterator[str]:
    """The sequences below the last that no batch stands for: `#2`, `#17-32`."""
    ranges = [(batch.first, batch.sequence) for batch in stored if batch.sequence > 0]
    last = max((last for _, last in ranges), default=0)
    numbers = (name[1:].split("-") for name in given_up if name.startswith("#"))
    ranges += [(int(bounds[0]), int(bounds[-1])) for bounds in numbers]
    reached = 0
    for first, end in [*sorted(ranges), (last, last)]:
        if first > reached + 1 and reached < last:
            gap = (reached + 1, min(first, last + 1) - 1)
            yield f"#{gap[0]}" if gap[0] == gap[1] else f"#{gap[0]}-{gap[1]}"
        reached = max(reached, end)
