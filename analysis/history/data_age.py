"""Age of the data that a dataset holds: that of the oldest source behind it, not of its last write.

A table that was written an hour ago from one that is 30 hours old has data of 30 hours ago.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from dbt_graft.analysis.render.phrases import ago, time_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

# Writes that show how often a dataset is written: at least, and the newest of more.
_LEAST, _MOST = 3, 11


@frozen
class WriteHistory:
    """The times at which datasets were written, and what each comes from.

    Attributes:
        finished: The ends of successful writes of each dataset, the oldest first.
        parents: The datasets that one comes from.
        views: Those that hold no data of their own.
    """

    finished: Mapping[DatasetId, Sequence[datetime]]
    parents: Callable[[DatasetId], Iterable[DatasetId]]
    views: Collection[DatasetId] = frozenset()


@frozen
class DataAge:
    """The time that the data of a dataset is of.

    Attributes:
        at: The last write of `source`; None where none is known.
        source: The dataset that was not written for longest, of those that are written often
            enough; the dataset itself where its own write is the oldest.
        unknown: Datasets of which no write is known, so that it may be older: the dataset itself,
            or one behind it.
    """

    at: datetime | None
    source: DatasetId
    unknown: Sequence[DatasetId] = ()


class _Write(NamedTuple):
    """A write that is the newest of its dataset, and is in the data."""

    at: datetime
    dataset: DatasetId


@dataclass(slots=True)
class _Way:
    """A dataset on the way up: as it was at a time, with the last newest write below it."""

    dataset: DatasetId
    until: datetime
    newest: _Write | None = field(default=None)


def data_age(
    history: WriteHistory, dataset: DatasetId, most: timedelta | None, now: datetime
) -> DataAge:
    """The age of the data of a dataset.

    A source that is usually written less often than `most` does not count: a list of countries is
    no old data. Nor does a write that a later one has replaced, which is not in the data yet.

    Args:
        most: The age that the data may have; None where nobody says it: a source counts that is
            written at least half as often as the dataset.
    """
    writes: set[_Write] = set()
    unknown: set[DatasetId] = set()
    waiting, seen = [_Way(dataset, now)], {(dataset, now)}
    while waiting:
        way = _held(history, waiting.pop(), now, unknown)
        parents = [parent for parent in history.parents(way.dataset) if parent != way.dataset]
        if not parents and way.newest:
            writes.add(way.newest)
        for parent in parents:
            if (key := (parent, way.until)) not in seen:
                seen.add(key)
                waiting.append(_Way(parent, way.until, way.newest))
    own = {write for write in writes if write.dataset == dataset}
    if most is None and (gap := _usual_gap(history.finished.get(dataset, ()))):
        most = 2 * gap
    frequent = {write for write in writes if _is_frequent(history.finished[write.dataset], most)}
    written = _last_write(history, dataset, now)
    if written and dataset not in history.views:
        own.add(_Write(written, dataset))
    oldest = min(frequent | own, default=min(writes, default=None))
    unseen = tuple(sorted(unknown))
    return DataAge(oldest.at, oldest.dataset, unseen) if oldest else DataAge(None, dataset, unseen)


def _held(history: WriteHistory, way: _Way, now: datetime, unknown: set[DatasetId]) -> _Way:
    """The way with the write of its dataset that was there; without one the dataset is unknown."""
    if way.dataset in history.views:
        return way
    written = _last_write(history, way.dataset, way.until)
    if written is None:
        unknown.add(way.dataset)
        return way
    is_newest = written == _last_write(history, way.dataset, now)
    return _Way(way.dataset, written, _Write(written, way.dataset) if is_newest else way.newest)


def _last_write(history: WriteHistory, dataset: DatasetId, until: datetime) -> datetime | None:
    times = history.finished.get(dataset, ())
    count = bisect_right(times, until)
    return times[count - 1] if count else None


def _is_frequent(times: Sequence[datetime], most: timedelta | None) -> bool:
    """Whether a dataset is usually written again within a time; yes where too little is known."""
    gap = _usual_gap(times)
    return gap is None or most is None or gap <= most


def _usual_gap(times: Sequence[datetime]) -> timedelta | None:
    """The time that usually passes between two writes; None where too little is known."""
    if len(times) < _LEAST:
        return None
    gaps = [(after - before).total_seconds() for before, after in pairwise(times[-_MOST:])]
    return timedelta(seconds=median(gaps))


def unknown_writes(datasets: Sequence[DatasetId]) -> str:
    """The datasets whose age is not known, in words."""
    others = f" and {len(datasets) - 1} more" if len(datasets) > 1 else ""
    return f"no write of {datasets[0]}{others} is known"


def age_text(age: DataAge, dataset: DatasetId, now: datetime) -> str:
    """`2026-11-19 06:00 UTC, 30 hours ago, by spark/raw.orders`; with what may make it older."""
    if age.at is None:
        return "not known: no write is on record"
    source = f", by {age.source}" if age.source != dataset else ""
    older = f"; may be older: {unknown_writes(age.unknown)}" if age.unknown else ""
    return f"{time_text(age.at)} UTC, {ago(age.at, now)}{source}{older}"
