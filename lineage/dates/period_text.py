"""Periods as text for people, and as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from dbt_graft.lineage.dates.date_ranges import next_unit
from dbt_graft.lineage.dates.period import Grain, Period

_SHOWN = 3
_FORMS = {Grain.HOUR: "%Y-%m-%d %H:00", Grain.MONTH: "%Y-%m", Grain.YEAR: "%Y"}


def period_text(periods: Sequence[Period]) -> str:
    """`ds 2026-10-04 to 2026-10-10 (location)`; the last day is in it. Empty without periods.

    Days that are meant in part are `part of 2026-10-04`.
    """
    if not periods:
        return ""
    first = periods[0]
    spans = [_span(period) for period in periods[:_SHOWN]]
    if len(periods) > _SHOWN:
        spans = [spans[0], f"{len(periods) - 2:,} more", _span(periods[-1])]
    column = f"{first.column} " if first.column else ""
    return f"{column}{', '.join(spans)} ({first.evidence})"


def _span(period: Period) -> str:
    return f"part of {_dates(period)}" if period.in_part else _dates(period)


def _dates(period: Period) -> str:
    start, end, grain = period.start, period.end, period.grain
    if start is None:
        return f"before {_moment(end, grain)}"
    if end is None:
        return f"from {_moment(start, grain)}"
    if end <= next_unit(start, grain):
        return _moment(start, grain)
    return f"{_moment(start, grain)} to {_moment(end - timedelta(minutes=1), grain)}"


def _moment(at: datetime | None, grain: Grain) -> str:
    return at.strftime(_FORMS.get(grain, "%Y-%m-%d")) if at else ""


def period_json(periods: Sequence[Period]) -> list[dict[str, Any]]:
    """The periods as JSON values; `to` is not in them, and an open side is null."""
    return [
        {
            "column": period.column,
            "from": period.start and period.start.isoformat(),
            "to": period.end and period.end.isoformat(),
            "grain": period.grain.value,
            "evidence": period.evidence.value,
            "in_part": period.in_part,
        }
        for period in periods
    ]
