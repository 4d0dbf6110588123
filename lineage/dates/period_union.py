"""Periods and positions of several accesses, put together: sorted, without overlaps.

Periods that are meant in part stay beside others: two parts of a day may leave out a third one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from dbt_graft.lineage.dates.date_ranges import DateRange, Extent, finer
from dbt_graft.lineage.dates.period import DataPosition, Period, PeriodEvidence

_BEGIN = datetime.min.replace(tzinfo=UTC)
_STRONGEST_FIRST = tuple(PeriodEvidence)
# An access with more gaps than this counts as one period.
_MOST = 400
OFFSETS = "kafka offsets"
PARTITIONS = "partitions"
SNAPSHOTS = "iceberg snapshot"
# The format of a table, as OpenLineage names it -> the kind of its positions.
KINDS_BY_LAYER = {"iceberg": SNAPSHOTS, "delta": "delta version"}


def union(periods: Iterable[Period]) -> tuple[Period, ...]:
    """All dates of the periods; nothing where these are all dates there are."""
    parts: dict[bool, list[Period]] = {False: [], True: []}
    for period in sorted(periods, key=_order):
        merged = parts[period.in_part]
        if merged and _touches(merged[-1], period):
            merged[-1] = _join_periods(merged[-1], period)
        else:
            merged.append(period)
    merged = sorted((*parts[False], *parts[True]), key=_order)
    if len(merged) > _MOST:
        end = None if any(p.end is None for p in merged) else max(p.end for p in merged if p.end)
        merged = [replace(merged[0], end=end, in_part=True)]
    return (
        ()
        if any(period.start is None and period.end is None for period in merged)
        else tuple(merged)
    )


def _order(period: Period) -> tuple[datetime, bool, datetime, str, str, bool]:
    start, end = period.start or _BEGIN, period.end or _BEGIN
    return start, period.end is None, end, period.column, period.grain, period.in_part


def known_union(a: tuple[Period, ...], b: tuple[Period, ...]) -> tuple[Period, ...]:
    """The periods of two accesses as one; unknown where one of them is."""
    return a if a == b else union((*a, *b)) if a and b else ()


def _touches(a: Period, b: Period) -> bool:
    if a.end is None or b.start is None or b.start < a.end:
        return True
    alike = (a.grain, a.evidence, a.column) == (b.grain, b.evidence, b.column)
    return alike and b.start == a.end


def _join_periods(a: Period, b: Period) -> Period:
    """Both as one, of the finer grain and the weaker evidence."""
    return Period(
        a.start,
        None if a.end is None or b.end is None else max(a.end, b.end),
        finer(a.grain, b.grain),
        max(a.evidence, b.evidence, key=_STRONGEST_FIRST.index),
        a.column,
        a.in_part,
    )


def condition_periods(ranges: Iterable[DateRange], column: str) -> tuple[Period, ...]:
    """The periods that conditions leave of a column, by ranges whose extents are known."""
    return union(range_period(dates, PeriodEvidence.PREDICATE, column) for dates in ranges)


def range_period(dates: DateRange, evidence: PeriodEvidence, column: str = "") -> Period:
    """A range, of which it is known whether it is meant in part, as a period."""
    in_part = dates.extent is Extent.PART
    return Period(dates.start, dates.end, dates.grain, evidence, column, in_part)


def join_positions(
    a: tuple[DataPosition, ...], b: tuple[DataPosition, ...]
) -> tuple[DataPosition, ...]:
    """The positions of two accesses: of each kind from the first start up to the last end.

    Ids of snapshots have no order, so that of the accesses counts.
    Numbers of partitions keep their gaps.
    """
    if not a or not b or a == b:
        return a or b
    by_kind: dict[str, DataPosition] = {}
    for position in (*a, *b):
        if position.kind != PARTITIONS:
            before = by_kind.get(position.kind)
            by_kind[position.kind] = _covering(before, position) if before else position
    covering = [by_kind[kind] for kind in sorted(by_kind)]
    return (
        *covering,
        *_partitions(position for position in (*a, *b) if position.kind == PARTITIONS),
    )


def known_positions(
    a: tuple[DataPosition, ...], b: tuple[DataPosition, ...]
) -> tuple[DataPosition, ...]:
    """The positions of two accesses; no partitions where one of them is about the table."""
    joined = join_positions(a, b)
    return joined if a and b else tuple(p for p in joined if p.kind != PARTITIONS)


def _partitions(positions: Iterable[DataPosition]) -> Iterator[DataPosition]:
    """Ranges of numbers without overlaps; one without numbers where those of one are not known."""
    listed = list(positions)
    if any(not position.start for position in listed):
        yield DataPosition(PARTITIONS, "", "")
        return
    ranges: list[tuple[int, int]] = []
    for first, last in sorted((int(position.start), int(position.end)) for position in listed):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], last))
        else:
            ranges.append((first, last))
    yield from (DataPosition(PARTITIONS, str(first), str(last)) for first, last in ranges)


def _covering(a: DataPosition, b: DataPosition) -> DataPosition:
    if a.kind == OFFSETS:
        return DataPosition(a.kind, _offsets(min, a.start, b.start), _offsets(max, a.end, b.end))
    if a.kind == SNAPSHOTS:  # their ids are in no order
        return DataPosition(a.kind, a.start, b.end)
    return DataPosition(a.kind, min(a.start, b.start, key=_number), max(a.end, b.end, key=_number))


def _number(text: str) -> tuple[int, str]:
    """The order of versions, snapshots and numbers of files."""
    return (int(text), "") if text.lstrip("-").isdigit() else (-1, text)


def _offsets(choose: Callable[[Iterable[int]], int], a: str, b: str) -> str:
    """Offsets of two batches, by topic and partition."""
    if not a or not b:
        return (a or b) if choose is max else ""
    try:
        first, second = json.loads(a), json.loads(b)
        offsets = {
            topic: _partition_offsets(choose, first.get(topic, {}), second.get(topic, {}))
            for topic in sorted({*first, *second})
        }
    except (ValueError, AttributeError, TypeError):
        return b if choose is max else a
    return json.dumps(offsets, separators=(",", ":"))


def _partition_offsets(
    choose: Callable[[Iterable[int]], int], a: Mapping[str, int], b: Mapping[str, int]
) -> dict[str, int]:
    return {
        number: choose([of[number] for of in (a, b) if number in of])
        for number in sorted({*a, *b}, key=int)
    }
