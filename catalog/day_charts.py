"""Small pictures of a year: a bar a day, the oldest first, with the same numbers in words.

All bars of a picture are one path: hundreds of elements would be most of a page. What a colour
shows, a mark below the bar shows too: a dash below a day with a failed run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from dbt_graft.catalog.formatting import count, number
from dbt_graft.catalog.run_history import usual_count
from dbt_graft.lineage.building.daily import DayRows, DayRuns

_WIDTH, _STEP, _HEIGHT, _FOOT = 1.5, 2, 40, 8
_LEAST = 1.0  # pixels: a day with few can still be seen
# Fewer days say no more than the runs themselves.
_ENOUGH = 14
# One day alone does not make all others flat.
_HIGHEST = 3


def day_chart(days: Sequence[DayRuns] | Sequence[DayRows]) -> Markup:
    """The chart of a task's days, or of a dataset's; empty where there are few.

    Args:
        days: Oldest first.
    """
    runs = [day for day in days if isinstance(day, DayRuns)]
    return runs_by_day(runs) + rows_by_day([day for day in days if isinstance(day, DayRows)])


def runs_by_day(days: Sequence[DayRuns]) -> Markup:
    """The runs of a task on each day; empty where there are few days.

    Args:
        days: Oldest first.
    """
    if len(days) < _ENOUGH:
        return Markup()
    begin, most = days[0].day, max(day.runs for day in days)
    failed = [day for day in days if day.failed]
    places = [(day.day - begin).days * _STEP for day in days]
    fine = (
        _bar(x, 0.0, (day.runs - day.failed) / most)
        for x, day in zip(places, days, strict=True)
        if day.runs > day.failed
    )
    bad = (
        _bar(x, (day.runs - day.failed) / most, day.runs / most)
        for x, day in zip(places, days, strict=True)
        if day.failed
    )
    marks = (f"M{x} {_HEIGHT + 4}h1" for x, day in zip(places, days, strict=True) if day.failed)
    words = Markup("{} since {}, at most {} a day{}").format(
        count(sum(day.runs for day in days), "run"),
        begin.isoformat(),
        number(most),
        Markup('; <span class="graft-bars__failed">{} failed</span> on {}').format(
            number(sum(day.failed for day in failed)), count(len(failed), "day")
        )
        if failed
        else "; none failed",
    )
    paths = [_path(fine), _path(bad, "graft-bars__failed")]
    paths.append(_path(marks, "graft-bars__mark graft-bars__failed"))
    return _figure(places[-1], paths, words)


def rows_by_day(days: Sequence[DayRows]) -> Markup:
    """The rows written on each day; empty where there are few days.

    Args:
        days: Oldest first.
    """
    if len(days) < _ENOUGH:
        return Markup()
    begin, usual = days[0].day, usual_count([day.rows for day in days])
    most = max(day.rows for day in days)
    highest = min(most, usual * _HIGHEST) or most or 1
    places = [(day.day - begin).days * _STEP for day in days]
    bars = (_bar(x, 0.0, min(day.rows / highest, 1.0)) for x, day in zip(places, days, strict=True))
    words = Markup("Rows on {} since {}, usually {} a day, at most {}").format(
        count(len(days), "day"), begin.isoformat(), number(usual), number(most)
    )
    return _figure(places[-1], [_path(bars)], words)


def _bar(x: int, low: float, high: float) -> str:
    """A bar from one part of the height to another."""
    bottom = round(_HEIGHT * (1 - low), 1)
    height = round(max(_LEAST, _HEIGHT * (high - low)), 1)
    return f"M{x} {bottom:g}v-{height:g}h{_WIDTH:g}v{height:g}z"


def _path(parts: Iterable[str], look: str = "") -> Markup:
    drawn = "".join(parts)
    if not drawn:
        return Markup()
    name = Markup(' class="{}"').format(look) if look else ""
    return Markup('<path{} d="{}"/>').format(name, drawn)


def _figure(last: int, paths: Iterable[Markup], words: Markup) -> Markup:
    return Markup(
        '<figure class="graft-bars"><svg viewBox="0 0 {0} {1}" width="{0}" height="{1}"'
        ' aria-hidden="true">{2}</svg><figcaption>{3}</figcaption></figure>'
    ).format(last + _STEP, _HEIGHT + _FOOT, Markup().join(paths), words)
