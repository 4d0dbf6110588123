"""Dates of partitions and paths: `ds=2026-10-04/hr=1`, `/out/j/2026/11/02`, `daily_20261005`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

from dbt_graft.lineage.dates.date_columns import DateColumns, DateRank, is_personal, name_grain
from dbt_graft.lineage.dates.date_ranges import DateRange, date_range, finer, unit
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.paths import dataset_folders

# Names and values of the columns of one partition.
Partition = Sequence[tuple[str, str]]

_PAIR = re.compile(r"(?P<key>[^=/]+)=(?P<value>[^/]*)")
_ISO = re.compile(r"\d{4}-\d\d.*")
_FOLDERS = re.compile(
    r"/(?P<year>(?:19|20)\d\d)/(?P<month>0[1-9]|1[0-2])"
    r"(?:/(?P<day>0[1-9]|[12]\d|3[01])(?:/(?P<hour>[01]\d|2[0-3]))?)?(?=/|$)"
)
_IN_NAME = re.compile(
    r"(?<![\dA-Za-z])(?P<date>(?:19|20)\d\d(?P<sign>[-_.]?)(?:0[1-9]|1[0-2])"
    r"(?P=sign)(?:0[1-9]|[12]\d|3[01])|(?:19|20)\d\d[-_]?(?:0[1-9]|1[0-2])|(?:19|20)\d\d-?Q[1-4])"
    r"(?:(?:T|[-_]T?)\d{4,6}Z?)?(?![\dA-Za-z]|[-_]\d)"
)
_INNER = re.compile(r"part-|_|\.")
_HOURS = 24


def partition_range(partition: Partition, columns: DateColumns) -> tuple[str, DateRange] | None:
    """The column and the dates of a partition; None where its columns have none."""
    dated: tuple[str, DateRange] | None = None
    numbers: dict[Grain, tuple[str, int]] = {}
    for key, value in partition:
        text = unquote(value).strip().strip("'\"")
        rank, grain = columns.rank(key), name_grain(key)
        if rank is DateRank.NONE and (is_personal(key) or not _ISO.fullmatch(text)):
            continue
        if text.isascii() and text.isdigit() and len(text) <= (4 if grain is Grain.YEAR else 2):
            if grain:
                numbers.setdefault(grain, (key, int(text)))
            continue
        # A partition holds what is in it, not all of its day: a time is its hour.
        dates = date_range(text, Grain.HOUR if grain in (None, Grain.DAY) else grain)
        if dates and (dated is None or _is_within(dates, dated[1])):
            dated = (key, dates)
    if dated is None:
        return _range_of_numbers(numbers)
    column, dates = dated
    hour = numbers.get(Grain.HOUR)
    if hour and dates.grain is Grain.DAY and dates.start and hour[1] < _HOURS:
        return column, unit(dates.start + timedelta(hours=hour[1]), Grain.HOUR)
    return dated


def _is_within(dates: DateRange, others: DateRange) -> bool:
    """Whether dates are a finer part of others."""
    if finer(dates.grain, others.grain) is others.grain or not dates.start:
        return False
    return bool(others.start and others.end and others.start <= dates.start < others.end)


def _range_of_numbers(numbers: dict[Grain, tuple[str, int]]) -> tuple[str, DateRange] | None:
    """`year=2026/month=10/day=3/hour=5`, `year=2026/week=41`, `year=2026/quarter=4`"""
    if Grain.YEAR not in numbers:
        return None
    column, year = numbers[Grain.YEAR]
    for grain, sign, of_months in ((Grain.WEEK, "W", Grain.DAY), (Grain.QUARTER, "Q", Grain.MONTH)):
        if grain in numbers and not {Grain.MONTH, of_months} <= numbers.keys():
            column, number = numbers[grain]
            dates = date_range(f"{year:04}-{sign}{number:0{1 if sign == 'Q' else 2}}")
            return (column, dates) if dates else None
    values, grain = [year], Grain.YEAR
    for part in (Grain.MONTH, Grain.DAY, Grain.HOUR):
        if part not in numbers:
            break
        column, grain = numbers[part][0], part
        values.append(numbers[part][1])
    dates = _unit(values, grain)
    return (column, dates) if dates else None


def _unit(values: list[int], grain: Grain) -> DateRange | None:
    """The unit of a year, a month, a day and an hour, the last ones left out."""
    year, month, day, hour = values + [1, 1, 1, 0][len(values) :]
    try:
        return unit(datetime(year, month, day, hour, tzinfo=UTC), grain)
    except ValueError:
        return None  # the 31st of June


def path_partition(path: str) -> Partition:
    """The columns in a path: `…/ds=2026-10-04/hr=1`."""
    return [(match["key"], match["value"]) for match in _PAIR.finditer(path)]


def path_period(path: str, columns: DateColumns, evidence: PeriodEvidence) -> Period | None:
    """The dates in a path; None where it has none.

    Only the part below its dataset's folder counts, and that folder's own name.

    Args:
        evidence: Of dates in columns; those in names are of PATH.
    """
    if periods := partition_periods([path_partition(path)], columns, evidence):
        return periods[0]
    below = _dates_below(path)
    return Period(below.start, below.end, below.grain, PeriodEvidence.PATH) if below else None


def _dates_below(path: str) -> DateRange | None:
    path = path.rstrip("/")
    folder = next(iter(dataset_folders([path])), "")
    inside = path[folder.rfind("/") :] if folder and path.startswith(folder) else path
    if matches := list(_FOLDERS.finditer(inside)):
        parts = [int(number) for number in matches[-1].groups() if number]
        return _unit(parts, (Grain.MONTH, Grain.DAY, Grain.HOUR)[len(parts) - 2])
    for name in reversed(inside.split("/")):
        if not _INNER.match(name) and "=" not in name and (dates := name_range(name)):
            return dates
    return None


def name_range(name: str) -> DateRange | None:
    """The date in a name, its last one: `daily_20261005`, `orders_2026-10.csv`."""
    dates = [match["date"] for match in _IN_NAME.finditer(name)]
    return date_range(dates[-1]) if dates else None


def partition_periods(
    partitions: Iterable[Partition],
    columns: DateColumns,
    evidence: PeriodEvidence,
    *,
    by_rows: bool = False,
) -> tuple[Period, ...]:
    """The periods of partitions, unless one of them has no dates.

    A partition by other columns, too, is a part of its dates: `ds=2026-10-04/country=DE`. Those
    that a scan was pruned to are all that it asked for.

    Args:
        by_rows: Rows decided on the partitions, which are all that there were of their dates.
    """
    periods = []
    by_rows = by_rows or evidence is PeriodEvidence.LOCATION
    for partition in partitions:
        dated = partition_range(partition, columns)
        if dated is None:
            return ()
        column, dates = dated
        in_part = not by_rows and any(_is_other(*pair, columns) for pair in partition)
        periods.append(Period(dates.start, dates.end, dates.grain, evidence, column, in_part))
    return tuple(periods)


def _is_other(column: str, value: str, columns: DateColumns) -> bool:
    is_date = columns.rank(column) is not DateRank.NONE or _ISO.fullmatch(value.strip("'\""))
    return not is_date
