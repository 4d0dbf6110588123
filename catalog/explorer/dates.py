"""Dates of the explorer: from which day, and until which, a box or a link is there.

A day is a number, counted from the first one that the lineage knows. Most links are as old as the
lineage and not gone, so both numbers are left out where they say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime

from dbt_graft.analysis.history.presence import End, ends
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.usage import Usage

Days = tuple[int, ...]


class ExplorerDates:
    """The days of a lineage; `(since,)` or `(since, until)`, or empty for what is there always.

    `until` is one more than the day on which it is gone, so that 0 is left for what is not.
    """

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._ends = ends(lineage)
        self.first = _day(min(filter(None, _first_times(lineage)), default=None))
        self.last = _day(max(filter(None, _last_times(lineage)), default=None))

    def data(self) -> list[str] | None:
        """The first and the last day as JSON; None where there is only one, or none."""
        if self.first is None or self.last is None or self.first >= self.last:
            return None
        return [self.first.isoformat(), self.last.isoformat()]

    def of_dataset(self, dataset: DatasetId) -> Days:
        """The days of a dataset: first seen, and dropped."""
        facts = self._lineage.datasets.get(dataset)
        return self._days(facts.first_seen, facts.dropped_at) if facts else ()

    def of_task(self, name: str) -> Days:
        """The days of a task: its first run, and when it is gone."""
        task = self._lineage.tasks.get(name)
        if task is None:
            return ()
        end = self._ends.tasks.get(name)
        firsts = [*(run.started_at for run in task.runs), *(u.first_at for u in task.usages)]
        return self._days(min(filter(None, firsts), default=None), end.at if end else None)

    def of_flows(self, flows: Iterable[Flow]) -> Days:
        """The days of an edge, which several tasks may carry."""
        ends = self._ends.flows
        return self._of_links(
            (flow.first_at, ends.get((flow.task, flow.source, flow.target))) for flow in flows
        )

    def of_usages(self, usages: Iterable[Usage]) -> Days:
        """The days of the use of a dataset by a task."""
        ends = self._ends.usages
        return self._of_links(
            (usage.first_at, ends.get((usage.task, usage.dataset, usage.direction)))
            for usage in usages
        )

    def _of_links(self, links: Iterable[tuple[datetime | None, End | None]]) -> Days:
        """The days of several: as if always there where any start is unknown, until all ended."""
        firsts, lasts = zip(*links, strict=True)
        since = None if None in firsts else min(firsts)
        return self._days(since, None if None in lasts else max(end.at for end in lasts))

    def _days(self, since: datetime | None, until: datetime | None) -> Days:
        first = self.first
        if first is None or first == self.last:
            return ()
        begin, end = (
            max((day - first).days, 0) if (day := _day(at)) else 0 for at in (since, until)
        )
        if until:
            return begin, end + 1
        return (begin,) if begin else ()


def _first_times(lineage: Lineage) -> Iterable[datetime | None]:
    for dataset in lineage.datasets.values():
        yield dataset.first_seen
    for task in lineage.tasks.values():
        yield from (run.started_at for run in task.runs)


def _last_times(lineage: Lineage) -> Iterable[datetime | None]:
    for dataset in lineage.datasets.values():
        yield dataset.last_seen
        yield dataset.dropped_at
    for task in lineage.tasks.values():
        yield from (run.started_at for run in task.runs)


def _day(at: datetime | None) -> date | None:
    return at.astimezone(UTC).date() if at else None
