"""Calendars of a dataset: a picture a month with a square a day, or a picture a year of months.

What a colour shows, a shape shows too: missing is hollow, partial half a square, unsure a square
with a hole, estimated a frame with a core, suspect a stroke, tainted a cross. A table beside them
has the same in words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta

from markupsafe import Markup

from dbt_graft.analysis.dates.dataset_dates import Entity
from dbt_graft.analysis.dates.entity_states import EntityState, EntityStates
from dbt_graft.analysis.dates.write_gaps import WriteGaps
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
# In hours: what is not written for longer has no square for each day.
_LONGEST_GAP = 24 * 100
_CELL, _GAP = 9, 2
_SCALE = 1.4
_STEP = _CELL + _GAP
# The first of these that an entity has is drawn.
DRAWN = (
    EntityState.TAINTED,
    EntityState.SUSPECT,
    EntityState.MISSING,
    EntityState.PARTIAL,
    EntityState.UNSURE,
    EntityState.ESTIMATED,
    EntityState.COMPLETED,
)
_SHAPES = {
    EntityState.TAINTED: "m1 1l7 7m0-7l-7 7",
    EntityState.SUSPECT: "m1 8l7-7",
    EntityState.MISSING: "m.5.5h8v8h-8z",
    EntityState.PARTIAL: "m0 9v-9h9z",
    EntityState.UNSURE: "h9v9h-9zm3 3v3h3v-3z",
    EntityState.ESTIMATED: "m.5.5h8v8h-8zm3 3h2v2h-2z",
    EntityState.COMPLETED: "h9v9h-9z",
}
_Cell = tuple[int, int, EntityState]


def calendar_pictures(entities: Sequence[Entity], grain: Grain) -> list[Markup]:
    """The pictures of entities, oldest first; dates that are not among them are left blank.

    Args:
        grain: Their unit.
    """
    is_coarse = grain in (Grain.MONTH, Grain.QUARTER, Grain.YEAR)
    block, square = (Grain.YEAR, Grain.MONTH) if is_coarse else (Grain.MONTH, Grain.DAY)
    cells = (
        (unit_of(unit_start(number, square), block), (*_place(number, block), state))
        for entity in entities
        if (state := drawn_state(entity.states))
        for number in entity.dates.units(square)
    )
    by_block = group_by_key(cells)
    most = YEARS if is_coarse else MONTHS
    return [_picture(by_block[unit], unit, block) for unit in sorted(by_block)[-most:]]


def drawn_state(states: Collection[EntityState]) -> EntityState | None:
    """The state of an entity that is drawn."""
    return next((state for state in DRAWN if state in states), None)


def state_sign(state: EntityState) -> Markup:
    """The square of a state, for a legend."""
    return Markup(
        '<svg class="graft-dates" viewBox="0 0 {0} {0}" width="{0}" height="{0}"'
        ' aria-hidden="true"><path class="graft-dates__{1}" d="M0 0{2}"/></svg>'
    ).format(_CELL, state, _SHAPES[state])


def _picture(cells: Iterable[_Cell], unit: int, block: Grain) -> Markup:
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
        '<figure class="graft-dates"><svg viewBox="0 0 {} {}" width="{:.0f}" height="{:.0f}"'
        ' aria-hidden="true">{}</svg><figcaption>{}</figcaption></figure>'
    ).format(
        width := columns * _STEP - _GAP,
        height := rows * _STEP - _GAP,
        width * _SCALE,
        height * _SCALE,
        body,
        dates_text(unit_dates(unit, block), block),
    )


def _place(number: int, block: Grain) -> tuple[int, int]:
    """Column and row of a day in its month, or of a month in its year."""
    if block is Grain.YEAR:
        month = moment_of(unit_start(number, Grain.MONTH)).month - 1
        return month % 6, month // 6
    day = moment_of(unit_start(number, Grain.DAY))
    position = day.day - 1 + day.replace(day=1).weekday()
    return position % 7, position // 7


def recent_dates(states: EntityStates, gaps: WriteGaps) -> Dates:
    """The dates of the pictures: at most a year, up to the newest, or the last that is missing."""
    bounded = [span for span in states.written.ranges if span[0] > FIRST and span[1] < LAST]
    if not bounded:
        return Dates()
    end = bounded[-1][1]
    if gaps.missing:
        last = unit_of(hour_of(gaps.missing[-1]), gaps.grain)
        due = unit_start(last + 1, gaps.grain)
        end = max(end, due) if due - end < _LONGEST_GAP else end
    is_coarse = states.grain in (Grain.MONTH, Grain.QUARTER, Grain.YEAR)
    days = 366 * YEARS if is_coarse else 366
    month = unit_of(hour_of(moment_of(end - 1) - timedelta(days)), Grain.MONTH) + 1
    start = max(bounded[0][0], unit_start(month, Grain.MONTH))
    return dates_between(moment_of(start), moment_of(end)).widen(states.grain)
