"""The dates in one event's text, where they depend on parameters or on the time."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from dbt_graft.collectors.statements.periods.expressions import DateValues
from dbt_graft.collectors.statements.periods.shape import DateShape, TextDate

_DAY = 24 * 60 * 60
_MOST = 4_096


def dates_at(
    shape: DateShape,
    literals: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    started: int,
) -> tuple[TextDate, ...]:
    """The dates in a text's conditions.

    Args:
        literals: Those that the dates depend on.
        started: When the statement began, in microseconds: `GETDATE()`.
    """
    day = started // 1_000_000 // _DAY if shape.is_relative else 0
    used = tuple(one for one in parameters if one[0] in shape.variables) if parameters else ()
    return _dates(shape, literals, used, day)


@lru_cache(maxsize=_MOST)
def _dates(
    shape: DateShape, literals: tuple[str, ...], parameters: tuple[tuple[str, str], ...], day: int
) -> tuple[TextDate, ...]:
    now = datetime.fromtimestamp(day * _DAY, UTC)
    numbered = dict(zip(shape.numbers, literals, strict=True))
    return shape.dates(DateValues(numbered, dict(parameters), now))
