"""Partition mapping: how the dates of an edge's input and output belong together.

A unit of the output needs the input from `first` on, counted from the unit's own beginning, up to
`last`, counted from its end. `[0, 0]` by day is the same day, `[-6, 0]` a window of a week, and by
month `[0, 0]` is the roll-up of a month. Offsets may count in other units than that of the output:
from the month in which a day lies up to the day itself is month to date; from two hours before the
beginning of a day to two hours before its end is a day of Berlin in hours of UTC. Where nothing
maps them, all dates belong to all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from dbt_graft.lineage.frozen import frozen

# So many runs that agree make a rule.
RULE = 3

Offsets = tuple[int | None, int | None]
# The units in which the offsets count.
Units = tuple[Grain, Grain]
_FINEST_FIRST = tuple(Grain)


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


@frozen
class PartitionMapping:
    """The dates of the input that a date of the output needs.

    Attributes:
        period: The unit of the output; None where all dates belong to all.
        first, last: The offsets of the first and the last unit; None for an open side.
        input_grain: The units in which the input is written.
        agreeing: The number of runs that agree.
        of: The number of runs whose dates are known.
        exceptions: The ids of runs that do not agree, the newest first.
        units: The units in which `first` and `last` count; None for the period.
    """

    period: Grain | None = None
    first: int | None = None
    last: int | None = None
    input_grain: Grain | None = None
    evidence: MappingEvidence = MappingEvidence.NONE
    agreeing: int = 0
    of: int = 0
    exceptions: tuple[str, ...] = ()
    units: Units | None = None

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

    @property
    def is_cumulative(self) -> bool:
        """Whether each date adds to those before: of its month, or of all times."""
        if self.period is None or self.first is None:
            return self.period is not None
        return self.units is not None and _is_coarser(self.units[0], self.period)

    def is_like(self, other: PartitionMapping) -> bool:
        """Whether it maps dates as another one does, whatever says so."""
        ours = (self.period, self.offsets, self.units)
        return ours == (other.period, other.offsets, other.units)

    def needed_dates(self, output: Dates) -> Dates:
        """The dates of the input that these of the output need."""
        if self.period is None:
            return ALL_DATES if output else output
        dates = dates_in(self._needed_hours(hours, self.period) for hours in output.ranges)
        return dates.widen(self.input_grain) if self.input_grain else dates

    def affected_dates(self, dates: Dates) -> Dates:
        """The dates of the output that need one of these of the input, in units of the period."""
        if self.period is None:
            return ALL_DATES if dates else dates
        dates = dates.widen(self.input_grain) if self.input_grain else dates
        return dates_in(self._affected_hours(hours, self.period) for hours in dates.ranges)

    def _needed_hours(self, hours: HourRange, period: Grain) -> HourRange:
        start, end = hours
        first_unit, last_unit = self.units or (period, period)
        begin, finish = FIRST, LAST
        if self.first is not None and start > FIRST:
            first_hour = unit_start(unit_of(start, period), period)
            begin = unit_start(unit_of(first_hour, first_unit) + self.first, first_unit)
        if self.last is not None and end < LAST:
            last_hour = unit_start(unit_of(end - 1, period) + 1, period) - 1
            finish = unit_start(unit_of(last_hour, last_unit) + self.last + 1, last_unit)
        return begin, finish

    def _affected_hours(self, hours: HourRange, period: Grain) -> HourRange:
        start, end = hours
        first_unit, last_unit = self.units or (period, period)
        begin, finish = FIRST, LAST
        if self.last is not None and start > FIRST:
            # The first unit that does not end before its input gets to the first bad hour.
            hour = unit_start(unit_of(start, last_unit) - self.last, last_unit)
            begin = unit_start(unit_of(hour, period), period)
        if self.first is not None and end < LAST:
            # The last unit whose input begins before the last bad hour.
            hour = unit_start(unit_of(end - 1, first_unit) - self.first + 1, first_unit) - 1
            finish = unit_start(unit_of(hour, period) + 1, period)
        return begin, finish

    def __str__(self) -> str:
        if self.period is None:
            return "all dates"
        if self.units is None:
            if self.offsets == (0, 0):
                return f"same {self.period}"
            return f"[{_offset(self.first)}, {_offset(self.last)}] by {self.period}"
        first_unit, last_unit = self.units
        if self.offsets == (0, 0) and self.is_cumulative:
            return f"{first_unit} to date"
        first, last = _offset(self.first, first_unit), _offset(self.last, last_unit)
        return f"[{first}, {last}] by {self.period}"


def _offset(offset: int | None, unit: Grain | None = None) -> str:
    if offset is None:
        return "…"
    return f"{offset} {unit}{'' if abs(offset) == 1 else 's'}" if unit else str(offset)


class EdgeRun(NamedTuple):
    """The dates that a run read from an input and wrote into an output; None if not known."""

    run_id: str
    read: Dates | None
    written: Dates | None


class _Form(NamedTuple):
    """A way in which offsets may count.

    Attributes:
        is_aligned: What is read must begin with a unit of the first offset: month to date does.
        is_open: What is read begins with the same date in all runs, which stands for no date.
    """

    period: Grain
    first_unit: Grain
    last_unit: Grain
    is_aligned: bool = False
    is_open: bool = False

    @property
    def units(self) -> Units | None:
        """As a mapping has them."""
        units = (self.first_unit, self.last_unit)
        return None if units == (self.period, self.period) else units


def mapping_from_runs(
    runs: Sequence[EdgeRun], output_grain: Grain | None, input_grain: Grain | None
) -> PartitionMapping:
    """The mapping that runs show, the newest of them first.

    Offsets count in units of the input where it has finer ones, in those of the output, from the
    beginning of a coarser unit on, or from the first date of all: the first way in which runs agree
    counts. Where none does, coarser units of the output may.
    """
    dated_runs = [run for run in runs if run.written and not run.written.is_all]
    if output_grain is None or input_grain is None or not dated_runs:
        return PartitionMapping(of=len(dated_runs))
    best = PartitionMapping(of=len(dated_runs))
    for form in _forms(output_grain, input_grain):
        mapping = _agreement(dated_runs, form, input_grain)
        if mapping.evidence is MappingEvidence.RUNS:
            return mapping
        if best.evidence is MappingEvidence.NONE and mapping.evidence is MappingEvidence.HINT:
            best = mapping
    return best


def _forms(output: Grain, input_grain: Grain) -> Iterator[_Form]:
    finest = input_grain if _is_coarser(output, input_grain) else output
    if finest is not output:
        yield _Form(output, finest, finest)
    yield _Form(output, output, output)
    for grain in _FINEST_FIRST:
        if grain is not Grain.DAY and _is_coarser(grain, output):
            yield _Form(output, grain, finest, is_aligned=True)
    yield _Form(output, output, finest, is_open=True)
    for grain in _coarser_grains(output):
        yield _Form(grain, grain, grain)


def _agreement(runs: Sequence[EdgeRun], form: _Form, input_grain: Grain) -> PartitionMapping:
    offsets = [_offsets(run, form) for run in runs]
    counted = Counter(offsets)
    most = max(counted, key=lambda offset: (counted[offset], -offsets.index(offset)))
    none = PartitionMapping(of=len(runs))
    if most is None:
        return none
    is_rule = counted[most] >= RULE and counted[most] * 2 > len(runs)
    is_hint = len(runs) < RULE and counted[most] == len(runs)
    if not is_rule and not is_hint:
        return none
    first, last, units = *most, form.units
    if form.is_open:
        # Runs for one date only agree in any case.
        if len({run.written for run in runs}) < RULE:
            return none
        first, units = None, units and (form.last_unit, form.last_unit)
    elif units and units[0] is units[1] and most == (0, 0):
        return none  # that is the same unit, in which runs agree as well, or in more of them
    others = (run.run_id for run, offset in zip(runs, offsets, strict=True) if offset != most)
    return PartitionMapping(
        form.period,
        first,
        last,
        input_grain,
        MappingEvidence.RUNS if is_rule else MappingEvidence.HINT,
        counted[most],
        len(runs),
        tuple(others),
        units,
    )


def _offsets(run: EdgeRun, form: _Form) -> Offsets | None:
    """The offsets of a run; None where it read all, or it is not known what it read.

    Where the beginning is open, the first is the hour itself, in which runs must agree.
    """
    read, written = run.read, run.written
    if not read or not written or read.is_all:
        return None
    return _span_offsets(*read.span, *written.span, form)


@lru_cache(maxsize=1 << 14)  # Runs of other edges are about the same dates.
def _span_offsets(read_from: int, read_to: int, from_: int, to: int, form: _Form) -> Offsets | None:
    if from_ <= FIRST or to >= LAST:
        return None
    period, unit = form.period, form.first_unit
    if (form.is_aligned or form.is_open) and read_from <= FIRST:
        return None
    if form.is_aligned and unit_start(unit_of(read_from, unit), unit) != read_from:
        return None
    begin = unit_start(unit_of(from_, period), period)
    end = unit_start(unit_of(to - 1, period) + 1, period)
    first = None if read_from <= FIRST else unit_of(read_from, unit) - unit_of(begin, unit)
    if form.is_open:
        first = read_from
    unit = form.last_unit
    return first, None if read_to >= LAST else unit_of(read_to - 1, unit) - unit_of(end - 1, unit)


def _is_coarser(grain: Grain, other: Grain) -> bool:
    return _FINEST_FIRST.index(grain) > _FINEST_FIRST.index(other)


def _coarser_grains(grain: Grain) -> tuple[Grain, ...]:
    """The coarser grains, up to a month; a week is no part of a month."""
    order = (Grain.HOUR, Grain.DAY, Grain.MONTH)
    return order[order.index(grain) + 1 :] if grain in order else ()


def with_declared(mapping: PartitionMapping, declared: PartitionMapping | None) -> PartitionMapping:
    """The declared mapping, if there is one, with the runs that agree with it."""
    if declared is None:
        return mapping
    agrees = declared.is_like(mapping)
    return replace(
        declared,
        input_grain=declared.input_grain or mapping.input_grain,
        agreeing=mapping.agreeing if agrees else 0,
        of=mapping.of,
    )
