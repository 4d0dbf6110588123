"""Forecasts for consumers that somebody waits for: will the data be there at the deadline?

Each dataset has its usual time in the day before a deadline, known from its runs. One that is not
written when it usually is delays those downstream by what usually lies between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import StrEnum

from dbt_graft.analysis.history.data_age import WriteHistory, data_age, unknown_writes
from dbt_graft.analysis.quality.times import length, next_at, time_of_day
from dbt_graft.analysis.quality.usual_times import LEAST, UsualTimes
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen


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


_WORST = list(DeadlineStatus)


@frozen
class DeadlineForecast:
    """The state of a consumer's deadline, or of the age that its data may have.

    Attributes:
        dataset: What it reads, the worst of it; None where nothing is known.
        deadline: The one that it is about; None of an age.
        expected: When the data is usually there, or will be.
        waits_for: The dataset that is not written, farthest upstream; None if none is overdue.
        reason: Why nothing can be said, or what is not known.
        is_age: It is about the age that the data may have, not about a time of day.
    """

    consumer: Consumer
    status: DeadlineStatus
    dataset: DatasetId | None = None
    deadline: datetime | None = None
    expected: datetime | None = None
    waits_for: DatasetId | None = None
    reason: str = ""
    is_age: bool = False


def forecasts(
    history: WriteHistory, consumers: Iterable[Consumer], now: datetime
) -> list[DeadlineForecast]:
    """The forecasts of all consumers with a deadline or an SLO, the worst first."""
    all_forecasts = [
        forecast
        for consumer in consumers
        for forecast in _consumer_forecasts(history, consumer, now)
    ]
    return sorted(
        all_forecasts, key=lambda forecast: (_WORST.index(forecast.status), forecast.consumer.name)
    )


def _consumer_forecasts(
    history: WriteHistory, consumer: Consumer, now: datetime
) -> Iterator[DeadlineForecast]:
    if consumer.deadline:
        clock = time_of_day(consumer.deadline)
        if clock is None:
            reason = f"its deadline is not a time of day: {consumer.deadline}"
            yield DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, reason=reason)
        else:
            read_forecasts = (
                _Day(history, now, *clock).forecast(consumer, read) for read in consumer.reads
            )
            yield _worst(read_forecasts, consumer)
    if consumer.freshness_slo:
        most = length(consumer.freshness_slo)
        if most is None:
            reason = f"its freshness SLO is not a length of time: {consumer.freshness_slo}"
            yield DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, reason=reason, is_age=True)
        else:
            ages = (_age_forecast(history, consumer, read, most, now) for read in consumer.reads)
            yield replace(_worst(ages, consumer), is_age=True)


def _worst(candidates: Iterable[DeadlineForecast], consumer: Consumer) -> DeadlineForecast:
    nothing = DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, reason="it reads nothing known")
    return min(candidates, key=lambda forecast: _WORST.index(forecast.status), default=nothing)


def _age_forecast(
    history: WriteHistory, consumer: Consumer, dataset: DatasetId, most: timedelta, now: datetime
) -> DeadlineForecast:
    """Whether what a dataset holds is too old; of one whose writes are not known it may be so."""
    age = data_age(history, dataset, most, now)
    old = age.at is not None and now - age.at > most
    if age.at is None or (dataset in age.unknown and not old):
        reason = f"no write of {dataset} is known"
        return DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, dataset, reason=reason)
    return DeadlineForecast(
        consumer,
        DeadlineStatus.STALE if old else DeadlineStatus.MET,
        dataset,
        expected=age.at + most,
        waits_for=age.source if old and age.source != dataset else None,
        reason="" if old or not age.unknown else unknown_writes(age.unknown),
    )


class _Day:
    """The day before a deadline, which is a day of a dataset's history too."""

    def __init__(self, history: WriteHistory, now: datetime, clock: time, zone: tzinfo) -> None:
        self._history = history
        self._now, self._deadline = now, next_at(now, clock, zone)
        self._times = UsualTimes(history.finished, now, self._deadline, zone)

    def forecast(self, consumer: Consumer, dataset: DatasetId) -> DeadlineForecast:
        """The forecast for one dataset that a consumer reads."""
        sources = self._with_history(dataset)
        if not sources:
            reason = f"{dataset} has no history of {LEAST} days"
            return DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, dataset, reason=reason)
        return _worst((self._forecast(consumer, source) for source in sources), consumer)

    def _forecast(self, consumer: Consumer, dataset: DatasetId) -> DeadlineForecast:
        times = self._times
        if times.is_ready(dataset, 1):
            return DeadlineForecast(consumer, DeadlineStatus.MET, dataset, self._deadline)
        # The last deadline passed, and nothing came since.
        last = times.last_due(dataset, 1)
        if last and not times.is_ready(dataset, last) and not times.is_written_after(dataset, last):
            cause = self._overdue(dataset, last) or dataset
            deadline = self._moment(times.deadline(last))
            return DeadlineForecast(consumer, DeadlineStatus.MISSED, dataset, deadline, None, cause)
        if not times.is_due(dataset, 1):
            reason = f"{dataset} is not written on {times.deadline(1):%A}s"
            return DeadlineForecast(
                consumer, DeadlineStatus.MET, dataset, self._deadline, reason=reason
            )
        overdue = self._overdue(dataset, 1)
        expected = times.expected_time(dataset, 1)
        if overdue is None or expected is None:
            at = self._moment(expected) if expected else None
            return DeadlineForecast(consumer, DeadlineStatus.ON_TIME, dataset, self._deadline, at)
        between = expected - (times.expected_time(overdue, 1) or expected)
        at = self._now + max(between, timedelta())
        status = DeadlineStatus.LATE if at <= self._deadline else DeadlineStatus.WILL_MISS
        return DeadlineForecast(consumer, status, dataset, self._deadline, at, overdue)

    def _moment(self, clock: datetime) -> datetime:
        return self._times.moment(clock).astimezone(UTC)

    def _with_history(self, dataset: DatasetId) -> list[DatasetId]:
        """The dataset, or the nearest ones upstream that have a usual time."""
        datasets, seen, waiting = [], {dataset}, [dataset]
        while waiting:
            current = waiting.pop()
            if self._times.usual(current):
                datasets.append(current)
                continue
            new = [parent for parent in self._history.parents(current) if parent not in seen]
            seen.update(new)
            waiting += new
        return sorted(datasets)

    def _overdue(self, dataset: DatasetId, day: int) -> DatasetId | None:
        """The dataset farthest upstream that is not written in a day, and usually is by now."""
        overdue, seen, waiting = None, {dataset}, [dataset]
        while waiting:
            current = waiting.pop(0)
            if self._times.usual(current):
                since = day > 1 and self._times.is_written_after(current, day)
                if since or self._times.is_ready(current, day):
                    continue
                if self._times.is_due(current, day) and self._times.is_overdue(current, day):
                    overdue = current
            new = [parent for parent in self._history.parents(current) if parent not in seen]
            seen.update(new)
            waiting += new
        return overdue
