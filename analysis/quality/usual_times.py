"""The usual times at which datasets are written, in the days between two deadlines.

All is counted by the clock of the deadline's zone: a night of 23 hours moves no task that runs by
this clock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from statistics import median

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
# Days that are looked back at, and those with a write that make a usual time. Of what is written
# weekly more days are looked at, if it still is.
_DAYS, _LONGER, _STILL = 28, 70, 3
LEAST, DAYS = 5, _DAYS * _DAY
_WEEK = 7


@frozen
class UsualTime:
    """The times of a dataset's last write, after the deadline of the day before.

    Attributes:
        latest: At the latest, one day of ten left out.
        counts_from: A write before it is not that of this day.
    """

    usual: timedelta
    latest: timedelta
    counts_from: timedelta


class UsualTimes:
    """The writes of datasets by days that end with a deadline; day 1 is that of the next one.

    Args:
        finished: The ends of successful writes of each dataset, the oldest first.
        deadline: The next one.
        zone: That of the deadline.
    """

    def __init__(
        self,
        finished: Mapping[DatasetId, Sequence[datetime]],
        now: datetime,
        deadline: datetime,
        zone: tzinfo,
    ) -> None:
        self._finished, self._zone = finished, zone
        self.now = self._clock(now)
        self._deadline = self._clock(deadline)
        self._times: dict[DatasetId, Sequence[datetime]] = {}
        self._usual: dict[DatasetId, UsualTime | None] = {}
        offsets = {(deadline - day * _DAY).astimezone(zone).utcoffset() for day in range(_DAYS)}
        known_offsets = [offset for offset in offsets if offset is not None]
        # Some tasks do not go by this clock: they are an hour early or late until all days agree.
        self._change = max(known_offsets) - min(known_offsets) if known_offsets else timedelta()

    def moment(self, clock: datetime) -> datetime:
        """The moment of a time by the clock."""
        return clock.replace(tzinfo=self._zone)

    def deadline(self, day: int) -> datetime:
        """The deadline that a day ends with."""
        return self._deadline - (day - 1) * _DAY

    def usual(self, dataset: DatasetId) -> UsualTime | None:
        """The usual time of a dataset; None if it is written on too few days."""
        if dataset not in self._usual:
            self._usual[dataset] = self._measure(dataset)
        return self._usual[dataset]

    def expected_time(self, dataset: DatasetId, day: int) -> datetime | None:
        """The usual time of a dataset in a day."""
        usual = self.usual(dataset)
        return self.deadline(day + 1) + usual.usual if usual else None

    def is_ready(self, dataset: DatasetId, day: int) -> bool:
        """Whether it was written in a day, as far as that day has gone."""
        usual, begin = self.usual(dataset), self.deadline(day + 1)
        writes = self._between(dataset, begin, min(self.deadline(day), self.now))
        return usual is not None and any(at - begin >= usual.counts_from for at in writes)

    def is_overdue(self, dataset: DatasetId, day: int) -> bool:
        """Whether it is usually written by now; not where its usual time is not known."""
        usual = self.usual(dataset)
        return usual is not None and self.now > self.deadline(day + 1) + usual.latest

    def is_due(self, dataset: DatasetId, day: int) -> bool:
        """Whether it is written on this day of the week; yes where that is not known.

        Once is not: what is late comes on the day after.
        """
        was_written = [
            self._is_written(dataset, past_day) for past_day in self._weeks(dataset, day, _DAYS)
        ]
        return len(was_written) < 2 or 2 * sum(was_written) >= len(was_written)

    def last_due(self, dataset: DatasetId, day: int) -> int | None:
        """The last day before one, within a week, on which it is written."""
        return next(
            (
                past_day
                for past_day in range(day + 1, day + _WEEK + 1)
                if self.is_due(dataset, past_day)
            ),
            None,
        )

    def is_written_after(self, dataset: DatasetId, day: int) -> bool:
        """Whether it was written since the end of a day."""
        return bool(self._between(dataset, self.deadline(day), self.now))

    def _measure(self, dataset: DatasetId) -> UsualTime | None:
        daily_writes = self._last_writes(dataset, _DAYS)
        if len(daily_writes) in range(_STILL, LEAST) and self._is_weekly(dataset):
            daily_writes = self._last_writes(dataset, _LONGER)
        if len(daily_writes) < LEAST:
            return None
        offsets = sorted(offset for offset, _ in daily_writes)
        soonest, usual = offsets[len(offsets) // 10], offsets[len(offsets) // 2]
        latest = offsets[-1 - len(offsets) // 10] + timedelta(minutes=15) + self._change
        # What is written once a day may come early; what is written all day must have come late.
        is_rare = median(count for _, count in daily_writes) <= 2
        counts_from = soonest / 2 if is_rare else soonest - _HOUR - self._change
        return UsualTime(usual, latest, counts_from)

    def _last_writes(self, dataset: DatasetId, days: int) -> list[tuple[timedelta, int]]:
        """Of each day with a write the time of the last one, and their number."""
        daily_writes = []
        for day in range(2, days + 2):
            begin = self.deadline(day + 1)
            if writes := self._between(dataset, begin, self.deadline(day)):
                daily_writes.append((writes[-1] - begin, len(writes)))
        return daily_writes

    def _is_weekly(self, dataset: DatasetId) -> bool:
        """Whether it is written on one day of the week, in most weeks."""
        days = (
            [self._is_written(dataset, past_day) for past_day in self._weeks(dataset, day, _LONGER)]
            for day in range(1, _WEEK + 1)
        )
        return sum(2 * sum(weeks) > len(weeks) for weeks in days) == 1

    def _weeks(self, dataset: DatasetId, day: int, most: int) -> Sequence[int]:
        """The same day in the weeks before, as far as its history goes."""
        first = self._write_times(dataset)[0]
        past_days = (day + week * _WEEK for week in range(1, most // _WEEK + 1))
        return [past_day for past_day in past_days if self.deadline(past_day + 1) >= first - _DAY]

    def _is_written(self, dataset: DatasetId, day: int) -> bool:
        return bool(self._between(dataset, self.deadline(day + 1), self.deadline(day)))

    def _between(self, dataset: DatasetId, after: datetime, until: datetime) -> Sequence[datetime]:
        at = self._write_times(dataset)
        return at[bisect_right(at, after) : bisect_right(at, until)]

    def _write_times(self, dataset: DatasetId) -> Sequence[datetime]:
        if dataset not in self._times:
            self._times[dataset] = sorted(map(self._clock, self._finished.get(dataset, ())))
        return self._times[dataset]

    def _clock(self, moment: datetime) -> datetime:
        return moment.astimezone(self._zone).replace(tzinfo=None)
