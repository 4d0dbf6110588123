"""Dates that pass from what a statement reads to what it writes, along the edges of date columns.

`INSERT INTO daily SELECT ds, … FROM orders WHERE ds = '2026-11-01'` writes that day, as `ds` is
copied; into a column `month` made of `ds` it writes that month.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import name_grain
from dbt_graft.lineage.dates.date_ranges import DateRange, finer, widen
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import union
from dbt_graft.lineage.records import Subtype

# An output column, its input dataset and column, and how it comes from that.
ColumnInput = tuple[str, DatasetId, str, Subtype]

_STRONGEST_FIRST = tuple(PeriodEvidence)


def derive_periods(
    inputs: Iterable[ColumnInput], reads: Mapping[DatasetId, tuple[Period, ...]]
) -> tuple[Period, ...]:
    """The dates that a statement writes by what it reads; empty where no date column tells them.

    Args:
        reads: The dates that it reads of each dataset.
    """
    by_column: dict[str, list[tuple[DatasetId, str, Subtype]]] = defaultdict(list)
    for column, dataset, source, subtype in inputs:
        if subtype in (Subtype.IDENTITY, Subtype.TRANSFORMATION) and name_grain(column):
            by_column[column].append((dataset, source, subtype))
    for column in sorted(by_column):
        each = [_written_periods(column, source, reads) for source in by_column[column]]
        if all(each):
            return union(period for periods in each for period in periods)
    return ()


def _written_periods(
    column: str,
    source: tuple[DatasetId, str, Subtype],
    reads: Mapping[DatasetId, tuple[Period, ...]],
) -> tuple[Period, ...]:
    dataset, named, subtype = source
    grain = name_grain(column)
    periods = reads.get(dataset, ())
    if not grain or any(period.column.casefold() != named.casefold() for period in periods):
        return ()
    # A day made of a day may be another one.
    if subtype is not Subtype.IDENTITY and any(_is_finer(grain, p.grain) for p in periods):
        return ()
    return tuple(
        _observe(period if _is_finer(grain, period.grain) else _widen(period, grain), column)
        for period in periods
    )


def _widen(period: Period, grain: Grain) -> Period:
    """A period in units of a column: hours may be those of another, `ds=2026-11-01/hr=5`."""
    dates = widen(DateRange(period.start, period.end, period.grain), grain)
    return replace(period, start=dates.start, end=dates.end, grain=dates.grain)


def _is_finer(written: Grain, read: Grain) -> bool:
    """Whether units of one grain are those of another one, or finer."""
    return finer(read, written) is written


def _observe(period: Period, column: str) -> Period:
    """No more is known than that rows of other dates were left out."""
    weaker = max(period.evidence, PeriodEvidence.PREDICATE, key=_STRONGEST_FIRST.index)
    return replace(period, column=column, evidence=weaker)
