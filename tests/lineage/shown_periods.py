"""Periods in the words of the tests: `ds 2026-11-01 2026-11-03 day predicate`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from dbt_graft.lineage.dates.period import Grain, Period


def shown(periods: Iterable[Period]) -> list[str]:
    """Each period on a line; an open side is `-`, hours have their time; `~` is a part."""
    return [
        " ".join(
            filter(None, (period.column, _side(period, period.start), _side(period, period.end)))
        )
        + f" {period.grain} {period.evidence}{' ~' * period.in_part}"
        for period in periods
    ]


def _side(period: Period, at: datetime | None) -> str:
    if at is None:
        return "-"
    return at.strftime("%Y-%m-%dT%H" if period.grain is Grain.HOUR else "%Y-%m-%d")
