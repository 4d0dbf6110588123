"""Dates of a dataset: which are there, complete and clean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from dbt_graft.analysis.answer import Table
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.dataset_dates import DatasetDates, dataset_dates, gaps_now, states_now
from dbt_graft.analysis.dates.entity_states import EntityState, EntityStates, is_valid
from dbt_graft.analysis.dates.recorded_states import taints_now
from dbt_graft.analysis.dates.write_gaps import RECENT
from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates, dates_in, hour_of, unit_of, unit_start
from dbt_graft.lineage.dates.date_text import dates_iso, dates_text, parse_dates
from dbt_graft.lineage.dates.mapping_text import mapping_text
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

_MOST = 10_000  # entities in an answer
_EXCEPTIONS = 3  # runs that do not agree, in a cell
# What keeps a date from being used, the mildest first.
SCALE = ("estimated", "unsure", "partial", "missing", "suspect", "tainted")


@frozen
class DateWindow:
    """The dates that are wanted: by default the last 30 up to the newest.

    Attributes:
        grain: The unit of an entity; by default that in which the dataset is written.
    """

    first: str | None = None
    last: str | None = None
    grain: Grain | None = None


@frozen
class ShownDates:
    """The dates of a dataset in a window, as a part of its page.

    Attributes:
        newest: The time of the newest access in the logs.
    """

    dates: DatasetDates
    newest: datetime | None

    @property
    def grade(self) -> str:
        """The worst that keeps a date from being used; empty where all are there and clean."""
        bad = [entity.states for entity in self.dates.entities if not is_valid(entity.states)]
        states = {state for states in bad for state in states}
        worst = [grade for grade in SCALE if grade in states]
        return worst[-1] if worst else "" if self.dates.entities else "missing"

    def summary(self) -> str:
        """A line: how the dataset is written, and its states."""
        if not self.dates.states.written:
            return "no write of data in the logs"
        counts = Counter(state for entity in self.dates.entities for state in entity.states)
        words = ", ".join(f"{counts[state]:,} {state}" for state in EntityState if counts[state])
        first, last = self.dates.entities[0].dates, self.dates.entities[-1].dates
        span = dates_in([(first.span[0], last.span[1])])
        return f"{self.manner()}: {words} of {dates_text(span, self.dates.grain)}"

    def manner(self) -> str:
        """`time series, by day`"""
        dates = self.dates
        of = "" if dates.states.is_dated else " of its writes"
        return f"{f'{dates.kind}, ' if dates.kind else ''}by {dates.grain}{of}"

    def tables(self) -> Iterator[Table]:
        """The states, the newest first, and what the dates need."""
        grain = self.dates.grain
        rows = [(dates_text(of, grain), ", ".join(states)) for of, states in self.dates.groups()]
        yield Table("dates", ("", "state"), rows)
        needs = []
        for need in self.dates.needs:
            mapping = need.mapping
            agree = f"{mapping.agreeing:,} of {mapping.of:,} runs" if mapping.of else ""
            others = join_names(mapping.exceptions, _EXCEPTIONS)
            row = (need.task, str(need.source), str(mapping), mapping.evidence, agree, others)
            needs.append(row)
        yield Table("needs", ("task", "of", "dates", "by", "agreeing", "not by"), needs)

    def notes(self) -> Iterator[str]:
        """Doubts, the units without a write, and the usual time of one."""
        return self.dates.notes()

    def to_json(self) -> dict[str, Any]:
        """All of it for programs."""
        dates, gaps = self.dates, self.dates.gaps
        return {
            "kind": dates.kind,
            "grain": dates.grain,
            "dates_of": "data" if dates.states.is_dated else "writes",
            "as_of": exact_iso(self.newest),
            "entities": [
                {
                    "start": start,
                    "end": end,
                    "states": list(entity.states),
                    "valid": is_valid(entity.states),
                    "task": entity.run[0] if entity.run else None,
                    "run": entity.run[1] if entity.run else None,
                }
                for entity in self.dates.entities
                for start, end in dates_iso(entity.dates)
            ],
            "needs": [
                {
                    "task": need.task,
                    "input": str(need.source),
                    "period": need.mapping.period,
                    "offsets": need.mapping.offsets if need.mapping.period else None,
                    "words": mapping_text(need.mapping),
                    "evidence": need.mapping.evidence,
                    "agreeing": need.mapping.agreeing,
                    "of": need.mapping.of,
                    "exceptions": need.mapping.exceptions[:20],
                }
                for need in dates.needs
            ],
            "gaps": {
                "of": gaps.of,
                "missing": dates_iso(dates.gap_dates(gaps.missing)),
                "late": dates_iso(dates.gap_dates(gaps.late)),
                "usual_seconds": gaps.usual.total_seconds() if gaps.usual is not None else None,
            },
        }


def shown_dates(history: AccessHistory, dataset: DatasetId, window: DateWindow) -> ShownDates:
    """The dates of a dataset.

    Args:
        history: With all runs of the tasks that decide on its states.
    """
    states = states_now(history, dataset, taints_now(history))
    newest = newest_of(access.last_at for access in history.lineage.history.accesses)
    grain = window.grain or states.grain
    dates = _dates(states, newest, window, grain)
    gaps = gaps_now(states, newest)
    return ShownDates(dataset_dates(history, states, gaps, dates, grain), newest)


def _dates(
    states: EntityStates, newest: datetime | None, window: DateWindow, grain: Grain
) -> Dates:
    """The dates of a window; none where the logs have no time at all."""
    bounded = [span for span in states.written.ranges if not Dates((span,)).is_all]
    try:
        end = parse_dates(window.last).span[1] if window.last else None
        start = parse_dates(window.first).span[0] if window.first else None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--from, --to") from error
    if end is None:
        end = bounded[-1][1] if bounded else hour_of(newest) + 1 if newest else None
        end = end if end is None or start is None else max(end, start + 1)
    if end is None:
        return NO_DATES
    if start is None:
        start = unit_start(unit_of(end - 1, grain) - RECENT + 1, grain)
        if bounded and not window.last:
            start = max(start, bounded[0][0])
    dates = dates_in([(start, end)]).widen(grain)
    if not dates:
        raise click.UsageError("--from is after --to")
    if dates.count(grain) > _MOST:
        raise click.UsageError(f"more than {_MOST:,} entities: name --from and --to, or --grain")
    return dates
