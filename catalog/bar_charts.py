"""Small pictures of the past as bars, the oldest first, with a scale, dates, and words.

A bar is a run, or a day of a year. What a colour shows, a mark below the bar shows too: of a run a
cross is a failed one and a dot an odd one, of a day a dash one with a failed run. A bar that is
higher than the scale is cut. `site/scripts/charts.js` reads each bar out: that of a run has a
title, days have their numbers in an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from markupsafe import Markup

from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog.formatting import duration, exact_moment, number
from dbt_graft.catalog.run_history import ENOUGH, PastRun, usual_count
from dbt_graft.lineage.building.daily import DayRows, DayRuns
from dbt_graft.lineage.records import Status

_WIDTH, _GAP, _HEIGHT = 8, 2, 40
# Beside the bars: numbers of the scale, and below the marks the dates of both ends.
_LEFT, _TOP, _FOOT = 52, 8, 24
_LEAST_WIDTH = 130  # pixels: two dates do not overlap
_LEAST = 2.0  # pixels: a run that took no time can still be seen
_ODD = 1.5  # an odd run's bar is cut at so many times the highest other
# Days are as wide as there is room for.
_ALL_DAYS, _MOST_OF_DAY, _LEAST_STEP = 300, 8, 2
_LEAST_OF_DAY = 1.0  # pixels: a day with few can still be seen
_EPOCH = datetime.min
# Fewer days say no more than the runs themselves.
_ENOUGH = 14
# One day alone does not make all others flat.
_HIGHEST = 3


def duration_chart(runs: Sequence[PastRun]) -> Markup:
    """The duration of each run; empty where fewer than two are known.

    Args:
        runs: Newest first.
    """
    seconds = [_seconds(run) for run in runs]
    durations = [length for length in seconds if length is not None]
    if len(durations) < 2:
        return Markup()
    longest = runs[seconds.index(max(durations))]
    failed = sum(run.status is Status.FAILED for run in runs)
    return _chart(
        runs,
        # A failed run is seen even if its log does not show its end.
        [
            0.0 if length is None and run.status is Status.FAILED else length
            for length, run in zip(seconds, runs, strict=True)
        ],
        lambda run: Status.FAILED if run.status is Status.FAILED else "",
        lambda run: str(duration(run.started_at, run.ended_at)) if run.ended_at else "",
        lambda highest: str(duration(_EPOCH, _EPOCH + timedelta(seconds=highest))),
        Markup("Duration of the last {}, at most {}{}").format(
            count(len(runs), "run"),
            duration(longest.started_at, longest.ended_at),
            Markup('; <span class="graft-bars__failed">{} failed</span>').format(failed)
            if failed
            else "; none failed",
        ),
    )


def rows_chart(runs: Sequence[PastRun]) -> Markup:
    """The rows that each run wrote; empty where fewer than two are counted.

    Args:
        runs: Newest first.
    """
    counted = [run.rows for run in runs if run.rows is not None and run.status is not Status.FAILED]
    if len(counted) < 2:
        return Markup()
    odd = sum(run.usual_rows is not None for run in runs)
    # Of a few runs, or of several tasks, nobody can say what is usual.
    is_usual = len(counted) >= ENOUGH and len({run.task for run in runs}) == 1
    return _chart(
        runs,
        [None if run.status is Status.FAILED else run.rows for run in runs],
        lambda run: "odd" if run.usual_rows is not None else "",
        lambda run: count(run.rows or 0, "row"),
        lambda highest: number(round(highest)),
        Markup("Rows of the last {}, {} {}{}").format(
            count(len(runs), "run"),
            "usually" if is_usual else "at most",
            number(usual_count(counted) if is_usual else max(counted)),
            Markup('; <span class="graft-bars__odd">{} odd</span>').format(odd) if odd else "",
        ),
    )


def _chart(
    runs: Sequence[PastRun],
    heights: Sequence[float | None],
    look: Callable[[PastRun], str],
    words: Callable[[PastRun], str],
    scale: Callable[[float], str],
    caption: Markup,
) -> Markup:
    """A figure; a run without a height leaves a gap.

    Args:
        words: The value of a bar.
        scale: The value of the highest that is not cut.
    """
    highest = _highest(runs, heights, look)
    width = max(len(runs) * (_WIDTH + _GAP) - _GAP, _LEAST_WIDTH)
    # Few bars stand apart, so that the first and the last one are above their dates.
    step = (width - _WIDTH) / max(len(runs) - 1, 1)
    bars = []
    for at, (run, height) in enumerate(zip(reversed(runs), reversed(heights), strict=True)):
        if height is not None:
            top = min(max(_LEAST, height / highest * _HEIGHT), _HEIGHT)
            x = round(at * step)
            bars.append(_bar(x, top, look(run), _title(run, words(run))))
            if height > highest:
                bars.append(
                    Markup('<path class="graft-bars__cut" d="M{} 4h{}"/>').format(x, _WIDTH)
                )
    dates = [run.started_at.date() for run in reversed(runs) if run.started_at]
    return _figure(width, bars, caption, scale(highest), dates)


def _figure(
    width: float,
    drawn: Iterable[Markup],
    caption: Markup,
    highest: str,
    dates: Sequence[date],
    data: Markup = Markup(),  # noqa: B008
) -> Markup:
    """A picture with its axes: bars stand on 0, the line above is the highest value.

    Args:
        dates: Those of the bars, oldest first.
        data: Attributes that the site's script reads.
    """
    right = max(width, _LEAST_WIDTH)
    first, last = (f"{dates[0]}", f"{dates[-1]}") if dates else ("", "")
    return Markup(
        '<figure class="graft-bars"><svg viewBox="{x} {y} {0} {1}" width="{0}" height="{1}"'
        ' role="img" aria-label="{label}"{data}>'
        '<path class="graft-bars__grid" d="M0 0H{right}M0 {low}H{right}"/>'
        '<text x="-5" y="3">{highest}</text><text x="-5" y="{zero}">0</text>'
        '<text class="graft-bars__date" y="{dates}">{first}</text>{end}{2}</svg>'
        "<figcaption>{3}</figcaption></figure>"
    ).format(
        right + _LEFT,
        _TOP + _HEIGHT + _FOOT,
        Markup().join(drawn),
        caption,
        x=-_LEFT,
        y=-_TOP,
        label=caption.striptags(),
        data=data,
        right=right,
        low=_HEIGHT,
        highest=highest,
        zero=_HEIGHT + 3,
        dates=_HEIGHT + 19,
        first=first,
        end=Markup('<text x="{}" y="{}">{}</text>').format(right, _HEIGHT + 19, last)
        if last != first
        else "",
    )


def _highest(
    runs: Sequence[PastRun], heights: Sequence[float | None], look: Callable[[PastRun], str]
) -> float:
    """The value of the highest bar; one odd run alone does not make all others flat."""
    bars = [(height, look(run)) for run, height in zip(runs, heights, strict=True) if height]
    usual = max((height for height, looks in bars if looks != "odd"), default=0.0)
    highest = max((height for height, _ in bars), default=0.0)
    return min(highest, usual * _ODD if usual else highest) or 1.0


def _bar(x: int, height: float, look: str, title: str) -> Markup:
    """A bar, and the mark below it."""
    mark = {
        Status.FAILED: f"M{x + 2} {_HEIGHT + 2}l5 5m0-5l-5 5",
        "odd": f"M{x + 4} {_HEIGHT + 5}h.01",
    }.get(look, "")
    return Markup('<path{} d="M{} {}v-{:g}h{}v{:g}z"><title>{}</title></path>{}').format(
        Markup(' class="graft-bars__{}"').format(look) if look else "",
        x,
        _HEIGHT,
        round(height, 1),
        _WIDTH,
        round(height, 1),
        title,
        Markup('<path class="graft-bars__mark graft-bars__{}" d="{}"/>').format(look, mark)
        if mark
        else "",
    )


def _title(run: PastRun, words: str) -> str:
    at = exact_moment(run.started_at) if run.started_at else ""
    state = {Status.FAILED: "failed", Status.UNKNOWN: "end not known"}.get(run.status, "")
    usual = run.usual_rows
    odd = "" if usual is None or "row" not in words else f"usually {number(usual)}"
    return ", ".join(filter(None, (at, words, odd, state)))


def _seconds(run: PastRun) -> float | None:
    if run.started_at is None or run.ended_at is None:
        return None
    return max((run.ended_at - run.started_at).total_seconds(), 0.0)


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
    step = _day_step(days)
    places = [(day.day - begin).days * step for day in days]
    fine = (
        _day_bar(x, step, 0.0, (day.runs - day.failed) / most)
        for x, day in zip(places, days, strict=True)
        if day.runs > day.failed
    )
    bad = (
        _day_bar(x, step, (day.runs - day.failed) / most, day.runs / most)
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
    numbers = {day.day: f"{day.runs}/{day.failed}" if day.failed else f"{day.runs}" for day in days}
    dates = [day.day for day in days]
    data = _day_data("run", step, numbers)
    return _figure(places[-1] + step, paths, words, number(most), dates, data)


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
    step = _day_step(days)
    places = [(day.day - begin).days * step for day in days]
    bars = (
        _day_bar(x, step, 0.0, min(day.rows / highest, 1.0))
        for x, day in zip(places, days, strict=True)
    )
    cuts = (f"M{x} 4h{step}" for x, day in zip(places, days, strict=True) if day.rows > highest)
    words = Markup("Rows on {} since {}, usually {} a day, at most {}").format(
        count(len(days), "day"), begin.isoformat(), number(usual), number(most)
    )
    paths = [_path(bars), _path(cuts, "graft-bars__cut")]
    data = _day_data("row", step, {day.day: f"{day.rows}" for day in days})
    dates = [day.day for day in days]
    return _figure(places[-1] + step, paths, words, number(highest), dates, data)


def _day_step(days: Sequence[DayRuns] | Sequence[DayRows]) -> int:
    """The pixels from day to day."""
    span = (days[-1].day - days[0].day).days + 1
    return max(_LEAST_STEP, min(_MOST_OF_DAY, _ALL_DAYS // span))


def _day_data(noun: str, step: int, numbers: Mapping[date, str]) -> Markup:
    """The numbers of all days from the first one on; those of failed runs behind a slash."""
    begin, *_, end = numbers
    days = (begin + timedelta(days=at) for at in range((end - begin).days + 1))
    return Markup(' data-noun="{}" data-step="{}" data-begin="{}" data-days="{}"').format(
        noun, step, begin, ",".join(numbers.get(day, "") for day in days)
    )


def _day_bar(x: int, step: int, low: float, high: float) -> str:
    """A bar from one part of the height to another."""
    bottom = round(_HEIGHT * (1 - low), 1)
    height = round(max(_LEAST_OF_DAY, _HEIGHT * (high - low)), 1)
    return f"M{x} {bottom:g}v-{height:g}h{step * 0.75:g}v{height:g}z"


def _path(parts: Iterable[str], look: str = "") -> Markup:
    drawn = "".join(parts)
    if not drawn:
        return Markup()
    name = Markup(' class="{}"').format(look) if look else ""
    return Markup('<path{} d="{}"/>').format(name, drawn)
