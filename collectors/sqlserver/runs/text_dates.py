"""The dates in one event's text, where they depend on parameters or on the time."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from dbt_graft.collectors.statements.periods.expressions import DateValues
from dbt_graft.collectors.statements.periods.shape import DateShape, TextDate

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST = 4_096


def dates_at(
    shape: DateShape,
    literals: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    started: int,
    timezone: tzinfo = UTC,
) -> tuple[TextDate, ...]:
    """The dates in a text's conditions.

    Args:
        literals: Those that the dates depend on.
        started: When the statement began, in microseconds: `GETDATE()`.
        timezone: That of the server.
    """
    at = _EPOCH + timedelta(microseconds=started if shape.is_relative else 0)
    days = at.astimezone(timezone).date(), at.date()
    used = (
        tuple(parameter for parameter in parameters if parameter[0] in shape.variables)
        if parameters
        else ()
    )
    return _dates(shape, literals, used, days)


@lru_cache(maxsize=_MOST)
def _dates(
    shape: DateShape,
    literals: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    days: tuple[date, date],
) -> tuple[TextDate, ...]:
    now, utc_now = (datetime.combine(day, time(), UTC) for day in days)
    numbered = dict(zip(shape.numbers, literals, strict=True))
    return shape.dates(DateValues(numbered, dict(parameters), now, utc_now))
