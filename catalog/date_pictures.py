"""Calendars of a dataset: a picture a month with a square a day, or a picture a year of months.

What a colour shows, a shape shows too: missing is hollow, partial half a square, estimated a ring
with a core, tainted a cross. The same is beside it in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from markupsafe import Markup

from dbt_graft.analysis.dates.entity_states import EntityState, EntityStates
from dbt_graft.lineage.dates.calendar import (
    FIRST,
    LAST,
    Dates,
    dates_between,
    hour_of,
    moment_of,
    unit_dates,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.grouping import group_by_key

MONTHS, YEARS = 12, 5
_CELL, _GAP = 9, 2
_STEP = _CELL + _GAP
# The first of these that an entity has is drawn.
DRAWN = (
    EntityState.TAINTED,
    EntityState.MISSING,
    EntityState.PARTIAL,
    EntityState.ESTIMATED,
    EntityState.COMPLETED,
)
_SHAPES = {
    EntityState.TAINTED: "m1 1l7 7m0-7l-7 7",
    EntityState.MISSING: "m.5.5h8v8h-8z",
    EntityState.PARTIAL: "m0 9v-9h9z",
    EntityState.ESTIMATED: "m.5.5h8v8h-8zm3 3h2v2h-2z",
    EntityState.COMPLETED: "h9v9h-9z",
}
_Cell = tuple[int, int, EntityState]


def calendar_pictures(states: EntityStates, dates: Dates) -> list[Markup]:
    """The pictures of some dates, oldest first; those not among them are left blank."""
    is_coarse = states.grain in (Grain.MONTH, Grain.QUARTER, Grain.YEAR)
    grain, block, most = (
        (states.grain, Grain.YEAR, YEARS) if is_coarse else (Grain.DAY, Grain.MONTH, MONTHS)
    )
    if not dates:
        return []
    blocks = list(dates.units(block))[-most:]
    return [_picture(states, dates, unit, block, grain) for unit in blocks]


def _picture(states: EntityStates, dates: Dates, unit: int, block: Grain, grain: Grain) -> Markup:
    cells = list(_cells(states, dates & unit_dates(unit, block), unit, block, grain))
    paths = group_by_key(
        (state, f"M{column * _STEP} {row * _STEP}{_SHAPES[state]}") for column, row, state in cells
    )
    body = Markup().join(
        Markup('<path class="graft-dates__{}" d="{}"/>').format(state, "".join(paths[state]))
        for state in DRAWN
        if state in paths
    )
    # All months are equally high, so that they line up.
    columns, rows = (7, 6) if block is Grain.MONTH else (6, 2)
    return Markup(
        '<figure class="graft-dates"><svg viewBox="0 0 {0} {1}" width="{0}" height="{1}"'
        ' aria-hidden="true">{2}</svg><figcaption>{3}</figcaption></figure>'
    ).format(
        columns * _STEP - _GAP,
        rows * _STEP - _GAP,
        body,
        dates_text(unit_dates(unit, block), block),
    )


def _cells(
    states: EntityStates, dates: Dates, unit: int, block: Grain, grain: Grain
) -> Iterator[_Cell]:
    """Column, row and state of each entity, or of each day of one."""
    start = moment_of(unit_start(unit, block))
    for number in dates.units(grain):
        unit_states = states.of_unit(number, grain)
        state = next((state for state in DRAWN if state in unit_states), None)
        if state is None:
            continue
        first = moment_of(unit_start(number, grain))
        if block is Grain.MONTH:
            position = first.day - 1 + start.weekday()
            yield position % 7, position // 7, state
        else:
            yield (first.month - 1) % 6, (first.month - 1) // 6, state


def recent_dates(states: EntityStates) -> Dates:
    """The dates of the pictures: from the first that is known, at most a year, to the newest."""
    bounded = [span for span in states.written.ranges if span[0] > FIRST and span[1] < LAST]
    if not bounded:
        return Dates()
    end = bounded[-1][1]
    is_coarse = states.grain in (Grain.MONTH, Grain.QUARTER, Grain.YEAR)
    days = 366 * YEARS if is_coarse else 366
    month = unit_of(hour_of(moment_of(end - 1) - timedelta(days)), Grain.MONTH) + 1
    start = max(bounded[0][0], unit_start(month, Grain.MONTH))
    return dates_between(moment_of(start), moment_of(end)).widen(states.grain)
