"""Partition mapping: how the dates of an edge's input and output belong together.

A unit `u` of the output needs the units `u + first` to `u + last` of the input, counted in the
period of the mapping. `[0, 0]` by day is the same day, `[-6, 0]` a window of a week, `[0, 0]` by
month the roll-up of a month. Where nothing maps them, all dates belong to all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from dbt_graft.lineage.dates.calendar import (
    ALL_DATES,
    FIRST,
    LAST,
    Dates,
    HourRange,
    dates_in,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.period import Grain

# So many runs that agree make a rule.
RULE = 3

Offsets = tuple[int | None, int | None]


class MappingEvidence(StrEnum):
    """Evidence of a mapping, strongest first.

    DECLARED: people's YAML. RUNS: at least three runs that agree, and more than half of them.
    COLUMN: the column edge of the partition column. HINT: one run or two. NONE: nothing does.
    """

    DECLARED = "declared"
    RUNS = "runs"
    COLUMN = "column"
    HINT = "hint"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PartitionMapping:
    """The dates of the input that a date of the output needs.

    Attributes:
        period: The unit in which offsets count; None where all dates belong to all.
        first, last: The offsets of the first and the last unit; None for an open side.
        input_grain: The units in which the input is written.
        agreeing: The number of runs that agree.
        of: The number of runs whose dates are known.
        exceptions: The ids of runs that do not agree, the newest first.
    """

    period: Grain | None = None
    first: int | None = None
    last: int | None = None
    input_grain: Grain | None = None
    evidence: MappingEvidence = MappingEvidence.NONE
    agreeing: int = 0
    of: int = 0
    exceptions: tuple[str, ...] = ()

    @property
    def is_rule(self) -> bool:
        """Whether it is sure enough to leave dates out."""
        return self.period is not None and self.evidence not in (
            MappingEvidence.HINT,
            MappingEvidence.NONE,
        )

    @property
    def offsets(self) -> Offsets:
        """Both offsets."""
        return self.first, self.last

    def needed_dates(self, output: Dates) -> Dates:
        """The dates of the input that these of the output need."""
        if self.period is None:
            return ALL_DATES if output else output
        period, first, last = self.period, self.first, self.last
        dates = dates_in(
            (
                FIRST
                if first is None or start <= FIRST
                else unit_start(unit_of(start, period) + first, period),
                LAST
                if last is None or end >= LAST
                else unit_start(unit_of(end - 1, period) + last + 1, period),
            )
            for start, end in output.ranges
        )
        return dates.widen(self.input_grain) if self.input_grain else dates

    def affected_dates(self, dates: Dates) -> Dates:
        """The dates of the output that need one of these of the input, in units of the period."""
        if self.period is None:
            return ALL_DATES if dates else dates
        dates = dates.widen(self.input_grain) if self.input_grain else dates
        return dates_in(
            self._affected_hours(hour_range, self.period) for hour_range in dates.ranges
        )

    def _affected_hours(self, hours: HourRange, period: Grain) -> HourRange:
        start, end = hours
        return (
            FIRST
            if self.last is None or start <= FIRST
            else unit_start(unit_of(start, period) - self.last, period),
            LAST
            if self.first is None or end >= LAST
            else unit_start(unit_of(end - 1, period) - self.first + 1, period),
        )

    def __str__(self) -> str:
        if self.period is None:
            return "all dates"
        if self.offsets == (0, 0):
            return f"same {self.period}"
        first, last = ("…" if offset is None else str(offset) for offset in self.offsets)
        return f"[{first}, {last}] by {self.period}"


class EdgeRun(NamedTuple):
    """The dates that a run read from an input and wrote into an output; None if not known."""

    run_id: str
    read: Dates | None
    written: Dates | None


def mapping_from_runs(
    runs: Sequence[EdgeRun], output_grain: Grain | None, input_grain: Grain | None
) -> PartitionMapping:
    """The mapping that runs show, the newest of them first.

    Offsets count in units of the output, or in coarser ones where that is how runs agree: a
    "month to date" reads other days each day, and always the same month.
    """
    dated_runs = [run for run in runs if run.written and not run.written.is_all]
    if output_grain is None or input_grain is None or not dated_runs:
        return PartitionMapping(of=len(dated_runs))
    best = PartitionMapping(of=len(dated_runs))
    for period in _coarser_grains(output_grain):
        mapping = _agreement(dated_runs, period, input_grain)
        if mapping.evidence is MappingEvidence.RUNS:
            return mapping
        if best.evidence is MappingEvidence.NONE and mapping.evidence is MappingEvidence.HINT:
            best = mapping
    return best


def _agreement(runs: Sequence[EdgeRun], period: Grain, input_grain: Grain) -> PartitionMapping:
    offsets = [_offsets(run, period) for run in runs]
    counted = Counter(offsets)
    most = max(counted, key=lambda offset: (counted[offset], -offsets.index(offset)))
    none = PartitionMapping(of=len(runs))
    if most is None:
        return none
    is_rule = counted[most] >= RULE and counted[most] * 2 > len(runs)
    is_hint = len(runs) < RULE and counted[most] == len(runs)
    if not is_rule and not is_hint:
        return none
    others = (run.run_id for run, offset in zip(runs, offsets, strict=True) if offset != most)
    return PartitionMapping(
        period,
        *most,
        input_grain,
        MappingEvidence.RUNS if is_rule else MappingEvidence.HINT,
        counted[most],
        len(runs),
        tuple(others),
    )


def _offsets(run: EdgeRun, period: Grain) -> Offsets | None:
    """The offsets of a run; None where it read all, or it is not known what it read."""
    read, written = run.read, run.written
    if not read or not written or read.is_all:
        return None
    return _span_offsets(*read.span, *written.span, period)


@lru_cache(maxsize=1 << 14)  # Runs of other edges are about the same dates.
def _span_offsets(
    read_from: int, read_to: int, from_: int, to: int, period: Grain
) -> Offsets | None:
    if from_ <= FIRST or to >= LAST:
        return None
    return (
        None if read_from <= FIRST else unit_of(read_from, period) - unit_of(from_, period),
        None if read_to >= LAST else unit_of(read_to - 1, period) - unit_of(to - 1, period),
    )


def _coarser_grains(grain: Grain) -> Iterable[Grain]:
    """The grain and coarser ones, up to a month; a week is no part of a month."""
    order = (Grain.HOUR, Grain.DAY, Grain.MONTH)
    coarser = order[order.index(grain) + 1 :] if grain in order else ()
    return (grain, *coarser)


def with_declared(mapping: PartitionMapping, declared: PartitionMapping | None) -> PartitionMapping:
    """The declared mapping, if there is one, with the runs that agree with it."""
    if declared is None:
        return mapping
    agrees = mapping.period == declared.period and mapping.offsets == declared.offsets
    return replace(
        declared,
        input_grain=declared.input_grain or mapping.input_grain,
        agreeing=mapping.agreeing if agrees else 0,
        of=mapping.of,
    )
