"""Conditions on date columns: the dates for which a comparison holds, and several of them together.

A time of day cuts a day: of it a condition is about a part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dbt_graft.lineage.dates.date_ranges import DateRange, Extent, Place, finer

# Ranges of which one holds, by column: conditions on others say nothing about it.
Conditions = Mapping[str, tuple[DateRange, ...]]


def comparison_ranges(operator: str, value: DateRange) -> tuple[DateRange, ...]:
    """The dates for which `column operator value` may hold; none for another operator.

    The unit that holds the value is a range of its own, where it may count in part.
    """
    before = DateRange(None, value.start, value.grain)
    after = DateRange(value.end, None, value.grain)
    place = value.place
    match operator:
        case "=" | "==" | "<=>":
            return (_of_unit(value, Extent.PART if place else Extent.ALL),)
        case ">":
            extent = Extent.PART if place else Extent.ONLY_OF_TIMES
            return (_of_unit(value, extent), after)
        case ">=" if place:
            return (_of_unit(value, Extent.PART), after)
        case ">=":
            return (replace(after, start=value.start),)
        case "<" if place:
            return (before, _of_unit(value, Extent.PART))
        case "<":
            return (before,)
        case "<=" if place is Place.END:
            return (replace(before, end=value.end),)
        case "<=":
            extent = Extent.PART if place else Extent.PART_OF_TIMES
            return (before, _of_unit(value, extent))
    return ()


def _of_unit(value: DateRange, extent: Extent) -> DateRange:
    return DateRange(value.start, value.end, value.grain, extent=extent)


def known_extents(ranges: Iterable[DateRange], *, has_time: bool) -> tuple[DateRange, ...]:
    """Ranges of a column of which it is known whether it has times; each of ALL or PART."""
    return tuple(
        replace(dates, extent=Extent.PART if is_part else Extent.ALL)
        for dates in ranges
        if has_time or dates.extent is not Extent.ONLY_OF_TIMES
        for is_part in [dates.extent is Extent.PART or (has_time and dates.extent > Extent.ALL)]
    )


def intersection(a: DateRange, b: DateRange) -> DateRange | None:
    """The dates in both; None where there are none."""
    start = max((at for at in (a.start, b.start) if at), default=None)
    end = min((at for at in (a.end, b.end) if at), default=None)
    if start and end and start >= end:
        return None
    return DateRange(start, end, finer(a.grain, b.grain), extent=max(a.extent, b.extent))


def intersect_conditions(conditions: Iterable[Conditions]) -> Conditions:
    """The dates for which all conditions hold."""
    by_column: dict[str, tuple[DateRange, ...]] = {}
    for condition in conditions:
        for column, ranges in condition.items():
            earlier = by_column.get(column)
            by_column[column] = (
                ranges
                if earlier is None
                else tuple(dates for a in earlier for b in ranges if (dates := intersection(a, b)))
            )
    return by_column


def unite_conditions(conditions: Iterable[Conditions]) -> Conditions:
    """The dates for which one of the conditions holds, of columns that all of them are about."""
    each = list(conditions)
    if not each:
        return {}
    return {
        column: tuple(dates for condition in each for dates in condition[column])
        for column in each[0]
        if all(column in condition for condition in each)
    }
