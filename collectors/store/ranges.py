"""The ranges of sequences that batches stand for: which of them count, and which are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dbt_graft.collectors.store.batch_records import StoredBatch


def superseded_batches(stored: Iterable[StoredBatch], given_up: Collection[str]) -> set[str]:
    """The batches that others were made of, which are complete or were merged in turn."""
    found: set[str] = set()
    # The widest first, and of the same range the one that was made of the other.
    merged = [one for one in stored if one.replaces and one.batch_id not in given_up]
    merged.sort(key=lambda one: one.first - one.sequence)
    waiting = merged
    while waiting:
        later = []
        for one in waiting:
            if one.batch_id in found or not one.faults:
                found.update(one.replaces)
            else:
                later.append(one)
        if len(later) == len(waiting):
            break
        waiting = later
    return found


def missing_sequences(stored: Iterable[StoredBatch], given_up: Iterable[str]) -> Iterator[str]:
    """The sequences below the last that no batch stands for: `#2`, `#17-32`."""
    ranges = [(one.first, one.sequence) for one in stored if one.sequence > 0]
    last = max((last for _, last in ranges), default=0)
    numbers = (one[1:].split("-") for one in given_up if one.startswith("#"))
    ranges += [(int(given[0]), int(given[-1])) for given in numbers]
    reached = 0
    for first, end in [*sorted(ranges), (last, last)]:
        if first > reached + 1 and reached < last:
            gap = (reached + 1, min(first, last + 1) - 1)
            yield f"#{gap[0]}" if gap[0] == gap[1] else f"#{gap[0]}-{gap[1]}"
        reached = max(reached, end)
