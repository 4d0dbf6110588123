"""Small pictures of a year: a bar a day, the oldest first, with the same numbers in words.

All bars of a picture are one path: hundreds of elements would be most of a page. What a colour
shows, a mark below the bar shows too: a dash below a day with a failed run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from dbt_graft.catalog.formatting import count, number
from dbt_graft.catalog.run_history import usual_count
from dbt_graft.lineage.daily import DayRows, DayRuns

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
    runs = [one for one in days if isinstance(one, DayRuns)]
    return runs_by_day(runs) + rows_by_day([one for one in days if isinstance(one, DayRows)])


def runs_by_day(days: Sequence[DayRuns]) -> Markup:
    """The runs of a task on each day; empty where there are few days.

    Args:
        days: Oldest first.
    """
    if len(days) < _ENOUGH:
        return Markup()
    begin, most = days[0].day, max(one.runs for one in days)
    failed = [one for one in days if one.failed]
    places = [(one.day - begin).days * _STEP for one in days]
    fine = (
        _bar(x, 0.0, (one.runs - one.failed) / most)
        for x, one in zip(places, days, strict=True)
        if one.runs > one.failed
    )
    bad = (
        _bar(x, (one.runs - one.failed) / most, one.runs / most)
        for x, one in zip(places, days, strict=True)
        if one.failed
    )
    marks = (f"M{x} {_HEIGHT + 4}h1" for x, one in zip(places, days, strict=True) if one.failed)
    words = Markup("{} since {}, at most {} a day{}").format(
        count(sum(one.runs for one in days), "run"),
        begin.isoformat(),
        number(most),
        Markup('; <span class="graft-bars__failed">{} failed</span> on {}').format(
            number(sum(one.failed for one in failed)), count(len(failed), "day")
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
    begin, usual = days[0].day, usual_count([one.rows for one in days])
    most = max(one.rows for one in days)
    highest = min(most, usual * _HIGHEST) or most or 1
    places = [(one.day - begin).days * _STEP for one in days]
    bars = (_bar(x, 0.0, min(one.rows / highest, 1.0)) for x, one in zip(places, days, strict=True))
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
