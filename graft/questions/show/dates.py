"""Dates of a dataset: which are there, complete and clean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

import click

from dbt_graft.analysis.answer import Table
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.entity_states import (
    EntityState,
    EntityStates,
    entity_states,
    is_valid,
    unmapped_inputs,
)
from dbt_graft.analysis.dates.kind_of_dataset import dataset_kind
from dbt_graft.analysis.dates.recorded_states import taints_now
from dbt_graft.analysis.dates.write_gaps import RECENT, WriteGaps, write_gaps
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import (
    NO_DATES,
    Dates,
    dates_between,
    dates_in,
    hour_of,
    moment_of,
    unit_dates,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.date_text import dates_iso, dates_text, parse_dates
from dbt_graft.lineage.dates.period import Grain

_MOST = 10_000  # entities in an answer
_EXCEPTIONS = 3  # runs that do not agree, in a cell
# What keeps a date from being used, the mildest first.
SCALE = ("estimated", "unsure", "partial", "missing", "tainted")


@dataclass(frozen=True, slots=True)
class DateWindow:
    """The dates that are wanted: by default the last 30 up to the newest.

    Attributes:
        grain: The unit of an entity; by default that in which the dataset is written.
    """

    first: str | None = None
    last: str | None = None
    grain: Grain | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A unit of a dataset's dates, with its states and the last run that wrote it."""

    dates: Dates
    states: tuple[EntityState, ...]
    run: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class DatasetDates:
    """The dates of a dataset in a window.

    Attributes:
        newest: The time of the newest access in the logs.
        entities: Empty where nothing is known of any date.
    """

    history: AccessHistory
    states: EntityStates
    gaps: WriteGaps
    newest: datetime | None
    grain: Grain
    entities: tuple[Entity, ...]

    @property
    def grade(self) -> str:
        """The worst that keeps a date from being used; empty where all are there and clean."""
        bad = [entity.states for entity in self.entities if not is_valid(entity.states)]
        states = {state for states in bad for state in states}
        worst = [grade for grade in SCALE if grade in states]
        return worst[-1] if worst else "" if self.entities else "missing"

    def summary(self) -> str:
        """A line: how the dataset is written, and its states."""
        if not self.states.written:
            return "no write in the logs"
        counts = Counter(state for entity in self.entities for state in entity.states)
        words = ", ".join(f"{counts[state]:,} {state}" for state in EntityState if counts[state])
        span = dates_in([(self.entities[0].dates.span[0], self.entities[-1].dates.span[1])])
        return f"{self.manner()}: {words} of {dates_text(span, self.grain)}"

    def manner(self) -> str:
        """`time series, by day`"""
        kind = dataset_kind(self.history, self.states.dataset)
        of = "" if self.states.is_dated else " of its writes"
        return f"{f'{kind}, ' if kind else ''}by {self.grain}{of}"

    def tables(self) -> Iterator[Table]:
        """The states, the newest first, and what the dates need."""
        rows = []
        for words, group in groupby(reversed(self.entities), key=lambda entity: entity.states):
            dates = _union(entity.dates for entity in group)
            rows.append((dates_text(dates, self.grain), ", ".join(words)))
        yield Table("dates", ("", "state"), rows)
        needs = []
        for task, source, _ in self.history.upstream.get(self.states.dataset, ()):
            mapping = self.history.mapping((task, source, self.states.dataset))
            agree = f"{mapping.agreeing:,} of {mapping.of:,} runs" if mapping.of else ""
            others = join_names(mapping.exceptions, _EXCEPTIONS)
            needs.append((task, str(source), str(mapping), mapping.evidence, agree, others))
        yield Table("needs", ("task", "of", "dates", "by", "agreeing", "not by"), needs)

    def notes(self) -> Iterator[str]:
        """The units without a write, and the usual time of one."""
        gaps = self.gaps
        if not self.states.is_dated:
            yield "no log shows dates of its data"
        if any(EntityState.UNSURE in entity.states for entity in self.entities):
            inputs = unmapped_inputs(self.history, self.states.dataset)
            names = ", ".join(sorted({source.short for source, _ in inputs}))
            why = f"nothing maps the dates of {names}" if names else "the end of a run is not known"
            yield f"unsure: it may be partial, as {why}"
        if gaps.missing:
            text = dates_text(self._units(gaps.missing), gaps.grain)
            yield f"no write for {len(gaps.missing)} of the last {gaps.of} {gaps.grain}s: {text}"
        if gaps.usual is not None and gaps.usual.total_seconds() > 0:
            hours = gaps.usual.total_seconds() / 3600
            late = [start for start in gaps.late if start not in gaps.missing]
            text = f"; late: {dates_text(self._units(late), gaps.grain)}" if late else ""
            yield f"usually written {hours:.1f} hours after the end of its {gaps.grain}{text}"

    def to_json(self) -> dict[str, Any]:
        """All of it for programs."""
        states, gaps, history = self.states, self.gaps, self.history
        return {
            "kind": dataset_kind(history, states.dataset),
            "grain": self.grain,
            "dates_of": "data" if states.is_dated else "writes",
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
                for entity in self.entities
                for start, end in dates_iso(entity.dates)
            ],
            "needs": [
                {
                    "task": edge[0],
                    "input": str(edge[1]),
                    "period": mapping.period,
                    "offsets": mapping.offsets if mapping.period else None,
                    "evidence": mapping.evidence,
                    "agreeing": mapping.agreeing,
                    "of": mapping.of,
                    "exceptions": mapping.exceptions[:20],
                }
                for edge in history.upstream.get(states.dataset, ())
                for mapping in (history.mapping(edge),)
            ],
            "gaps": {
                "of": gaps.of,
                "missing": dates_iso(self._units(gaps.missing)),
                "late": dates_iso(self._units(gaps.late)),
                "usual_seconds": gaps.usual.total_seconds() if gaps.usual is not None else None,
            },
        }

    def _units(self, starts: Iterable[datetime]) -> Dates:
        grain = self.gaps.grain
        return _union(
            dates_between(start, moment_of(unit_start(unit_of(hour_of(start), grain) + 1, grain)))
            for start in starts
        )


def dataset_dates(history: AccessHistory, dataset: DatasetId, window: DateWindow) -> DatasetDates:
    """The dates of a dataset.

    Args:
        history: With all runs of the tasks that decide on its states.
    """
    states = entity_states(history, dataset, taints_now(history).dates(dataset))
    newest = max((a.last_at for a in history.lineage.history.accesses if a.last_at), default=None)
    gaps = write_gaps(states, newest) if newest else WriteGaps(states.grain)
    grain = window.grain or states.grain
    entities = tuple(
        Entity(dates, states.of_unit(unit, grain), states.run_of(dates))
        for unit in _dates(states, newest, window, grain).units(grain)
        for dates in (unit_dates(unit, grain),)
    )
    return DatasetDates(history, states, gaps, newest, grain, entities)


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


def _union(members: Iterable[Dates]) -> Dates:
    dates = NO_DATES
    for member in members:
        dates |= member
    return dates
