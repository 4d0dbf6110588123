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
    if subtype is Subtype.IDENTITY:
        return tuple(_observe(period, column) for period in periods)
    # A day made of a day may be another one.
    if any(_is_shift(period.grain, grain) for period in periods):
        return ()
    wide = (widen(DateRange(period.start, period.end, period.grain), grain) for period in periods)
    return tuple(
        replace(_observe(period, column), start=dates.start, end=dates.end, grain=dates.grain)
        for period, dates in zip(periods, wide, strict=True)
    )


def _is_shift(read: Grain, written: Grain) -> bool:
    return finer(read, written) is written


def _observe(period: Period, column: str) -> Period:
    """No more is known than that rows of other dates were left out."""
    weaker = max(period.evidence, PeriodEvidence.PREDICATE, key=_STRONGEST_FIRST.index)
    return replace(period, column=column, evidence=weaker)
