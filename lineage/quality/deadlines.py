"""Forecasts for consumers that somebody waits for: will the data be there at the deadline?

Each dataset has its usual time in the day before a deadline, known from its runs. One that is not
written when it usually is delays those downstream by what usually lies between them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from enum import StrEnum
from statistics import median

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.quality.times import length, next_at, time_of_day

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
# Days that are looked back at, and those with a write that make a usual time.
_DAYS, _LEAST = 28, 5


class DeadlineStatus(StrEnum):
    """The state of a deadline, the worst first.

    MISSED: the last one passed without the data, which is not there yet. WILL_MISS: it comes after
    the next one, as far as can be told. STALE: the data is older than it may be. LATE: it is later
    than usual, and still in time. UNKNOWN: too little is known. ON_TIME: it is expected in time.
    MET: it is there.
    """

    MISSED = "missed"
    WILL_MISS = "will miss"
    STALE = "stale"
    LATE = "late"
    UNKNOWN = "unknown"
    ON_TIME = "on time"
    MET = "met"

    @property
    def is_bad(self) -> bool:
        """Somebody should know."""
        return self in (DeadlineStatus.MISSED, DeadlineStatus.WILL_MISS, DeadlineStatus.STALE)


_WORST = list(DeadlineStatus)


@dataclass(frozen=True, slots=True)
class DeadlineForecast:
    """The state of a consumer's deadline, or of the age that its data may have.

    Attributes:
        dataset: What it reads, the worst of it; None where nothing is known.
        deadline: The one that it is about; None of an age.
        expected: When the data is usually there, or will be.
        waits_for: The dataset that is not written, farthest upstream; None if none is overdue.
        reason: Why nothing can be said.
    """

    consumer: Consumer
    status: DeadlineStatus
    dataset: DatasetId | None = None
    deadline: datetime | None = None
    expected: datetime | None = None
    waits_for: DatasetId | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WriteHistory:
    """The times at which datasets were written, and what each comes from.

    Attributes:
        finished: The ends of successful writes of each dataset, the oldest first.
        parents: The datasets that one comes from.
    """

    finished: Mapping[DatasetId, Sequence[datetime]]
    parents: Callable[[DatasetId], Iterable[DatasetId]]


def forecasts(
    history: WriteHistory, consumers: Iterable[Consumer], now: datetime
) -> list[DeadlineForecast]:
    """The forecasts of all consumers with a deadline or an SLO, the worst first."""
    found = [one for consumer in consumers for one in _of_consumer(history, consumer, now)]
    return sorted(found, key=lambda one: (_WORST.index(one.status), one.consumer.name))


def _of_consumer(
    history: WriteHistory, consumer: Consumer, now: datetime
) -> Iterator[DeadlineForecast]:
    if consumer.deadline:
        clock = time_of_day(consumer.deadline)
        if clock is None:
            reason = f"its deadline is no time of day: {consumer.deadline}"
            yield DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, reason=reason)
        else:
            some = (_Day(history, now, *clock).forecast(consumer, one) for one in consumer.reads)
            yield _worst(some, consumer)
    if consumer.freshness_slo:
        most = length(consumer.freshness_slo)
        if most is None:
            reason = f"its freshness SLO is no length of time: {consumer.freshness_slo}"
            yield DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, reason=reason)
        else:
            ages = (_of_age(history, consumer, one, most, now) for one in consumer.reads)
            yield _worst(ages, consumer)


def _worst(found: Iterable[DeadlineForecast], consumer: Consumer) -> DeadlineForecast:
    nothing = DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, reason="it reads nothing known")
    return min(found, key=lambda one: _WORST.index(one.status), default=nothing)


def _of_age(
    history: WriteHistory, consumer: Consumer, dataset: DatasetId, most: timedelta, now: datetime
) -> DeadlineForecast:
    """The age of what a dataset holds: that of its last write."""
    written = [at for at in history.finished.get(dataset, ()) if at <= now]
    if not written:
        reason = f"no write of {dataset} is known"
        return DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, dataset, reason=reason)
    old = now - written[-1] > most
    status = DeadlineStatus.STALE if old else DeadlineStatus.MET
    return DeadlineForecast(consumer, status, dataset, expected=written[-1] + most)


class _Day:
    """The day before a deadline, which is a day of a dataset's history too."""

    def __init__(self, history: WriteHistory, now: datetime, clock: time, zone: tzinfo) -> None:
        self._history, self._now = history, now
        self._deadline = next_at(now, clock, zone)
        self._begin = self._deadline - _DAY
        self._usual: dict[DatasetId, tuple[timedelta, timedelta, timedelta] | None] = {}

    def forecast(self, consumer: Consumer, dataset: DatasetId) -> DeadlineForecast:
        """The forecast for one dataset that a consumer reads."""
        known = self._with_history(dataset)
        if not known:
            reason = f"{dataset} has no history of {_LEAST} days"
            return DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, dataset, reason=reason)
        return _worst((self._of(consumer, one) for one in known), consumer)

    def _of(self, consumer: Consumer, dataset: DatasetId) -> DeadlineForecast:
        usual, latest, _ = self._times(dataset) or (_DAY, _DAY, _DAY)
        if self._is_ready(dataset, self._begin):
            return DeadlineForecast(consumer, DeadlineStatus.MET, dataset, self._deadline)
        if not self._is_due(dataset, self._begin):
            reason = f"{dataset} is not written on {self._deadline:%A}s"
            return DeadlineForecast(
                consumer, DeadlineStatus.MET, dataset, self._deadline, reason=reason
            )
        # The last deadline passed, and nothing came since.
        before = self._begin - _DAY
        if (
            self._is_due(dataset, before)
            and not self._is_ready(dataset, before)
            and not self._since(dataset)
        ):
            cause = self._overdue(dataset, before) or dataset
            return DeadlineForecast(
                consumer, DeadlineStatus.MISSED, dataset, self._begin, None, cause
            )
        overdue = self._overdue(dataset, self._begin)
        if overdue is None:
            expected = self._begin + usual
            return DeadlineForecast(
                consumer, DeadlineStatus.ON_TIME, dataset, self._deadline, expected
            )
        between = usual - (self._times(overdue) or (usual, latest, usual))[0]
        expected = self._now + max(between, timedelta())
        late = expected <= self._deadline
        status = DeadlineStatus.LATE if late else DeadlineStatus.WILL_MISS
        return DeadlineForecast(consumer, status, dataset, self._deadline, expected, overdue)

    def _with_history(self, dataset: DatasetId) -> list[DatasetId]:
        """The dataset, or the nearest ones upstream that have a usual time."""
        found, seen, waiting = [], {dataset}, [dataset]
        while waiting:
            one = waiting.pop()
            if self._times(one):
                found.append(one)
                continue
            new = [parent for parent in self._history.parents(one) if parent not in seen]
            seen.update(new)
            waiting += new
        return sorted(found)

    def _overdue(self, dataset: DatasetId, begin: datetime) -> DatasetId | None:
        """The dataset farthest upstream that is not written in a day, and usually is by now."""
        found, seen, waiting = None, {dataset}, [dataset]
        while waiting:
            one = waiting.pop(0)
            times = self._times(one)
            if times:
                since = begin < self._begin and self._since(one)
                if since or self._is_ready(one, begin):
                    continue
                if self._now > begin + times[1]:
                    found = one
            new = [parent for parent in self._history.parents(one) if parent not in seen]
            seen.update(new)
            waiting += new
        return found

    def _times(self, dataset: DatasetId) -> tuple[timedelta, timedelta, timedelta] | None:
        """The times after a deadline: usually, at the latest, and those that count for the next.

        The latest leaves out one day of ten. None if it is written on too few days.
        """
        if dataset not in self._usual:
            self._usual[dataset] = self._measured(dataset)
        return self._usual[dataset]

    def _measured(self, dataset: DatasetId) -> tuple[timedelta, timedelta, timedelta] | None:
        at = self._history.finished.get(dataset, ())
        offsets, counts = [], []
        for day in range(1, _DAYS + 1):
            begin = self._begin - day * _DAY
            some = at[bisect_right(at, begin) : bisect_right(at, begin + _DAY)]
            if some:
                offsets.append(some[-1] - begin)
                counts.append(len(some))
        if len(offsets) < _LEAST:
            return None
        offsets.sort()
        soonest, usual = offsets[len(offsets) // 10], offsets[len(offsets) // 2]
        latest = offsets[-1 - len(offsets) // 10] + timedelta(minutes=15)
        # What is written once a day may come early; what is written all day must have come late.
        counts_from = soonest / 2 if median(counts) <= 2 else soonest - _HOUR
        return usual, latest, counts_from

    def _is_ready(self, dataset: DatasetId, begin: datetime) -> bool:
        times = self._times(dataset)
        at = self._history.finished.get(dataset, ())
        some = at[bisect_right(at, begin) : bisect_right(at, min(begin + _DAY, self._now))]
        return times is not None and any(one - begin >= times[2] for one in some)

    def _is_due(self, dataset: DatasetId, begin: datetime) -> bool:
        """Whether it is written on this day of the week; yes where that is not known."""
        at = self._history.finished[dataset]
        weeks = [begin - week * 7 * _DAY for week in range(1, _DAYS // 7 + 1)]
        weeks = [one for one in weeks if one >= at[0] - _DAY]
        written = [bisect_right(at, one) < bisect_right(at, one + _DAY) for one in weeks]
        return len(weeks) < 2 or any(written)

    def _since(self, dataset: DatasetId) -> bool:
        at = self._history.finished.get(dataset, ())
        return bisect_right(at, self._now) > bisect_right(at, self._begin)
