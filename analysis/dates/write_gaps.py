"""Gaps and late writes of a dataset, against the usual time at which it is written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from dbt_graft.analysis.dates.entity_states import EntityStates
from dbt_graft.lineage.dates.calendar import hour_of, moment_of, unit_of, unit_start
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

# Units that are looked at.
RECENT = 30
_ENOUGH = 4  # first writes that make a usual time
_TOLERANCE = timedelta(hours=1)


@frozen
class WriteGaps:
    """The units of the last ones without a write, and those written late.

    Attributes:
        of: The number of units that should be there.
        missing: Their starts.
        usual: The usual time from the end of a unit to its first write; None if not known.
        late: The starts of units that were written later than usual, or should be there by now.
    """

    grain: Grain
    of: int = 0
    missing: tuple[datetime, ...] = ()
    usual: timedelta | None = None
    late: tuple[datetime, ...] = ()


def write_gaps(states: EntityStates, now: datetime, recent: int = RECENT) -> WriteGaps:
    """The gaps of a dataset at a time, which is that of the newest event in the logs."""
    grain, firsts = states.grain, states.first_writes
    if not firsts:
        return WriteGaps(grain)
    delays = {unit: at - _end(unit, grain) for unit, at in firsts.items()}
    newest = sorted(delays)[-recent * 2 :]
    usual = _usual([delays[unit] for unit in newest]) if len(newest) >= _ENOUGH else None
    if not states.is_dated:
        usual = None  # each is written within its own unit
    tolerance = _tolerance([delays[unit] for unit in newest]) if usual is not None else _TOLERANCE
    # A unit that has not ended, or could still come in time, is not missing.
    last = unit_of(hour_of(now), grain)
    while last >= min(firsts) and last not in firsts:
        due = _end(last, grain) + (usual or timedelta(0)) + tolerance
        if due <= now:
            break
        last -= 1
    units = range(max(min(firsts), last - recent + 1), last + 1)
    missing = [unit for unit in units if unit not in firsts]
    late = []
    if usual is not None:
        late = [unit for unit in units if unit in delays and delays[unit] > usual + tolerance]
        late += missing
    return WriteGaps(
        grain,
        len(units),
        tuple(_start(unit, grain) for unit in missing),
        usual,
        tuple(_start(unit, grain) for unit in sorted(late)),
    )


def _usual(delays: Sequence[timedelta]) -> timedelta:
    return timedelta(seconds=median([delay.total_seconds() for delay in delays]))


def _tolerance(delays: Sequence[timedelta]) -> timedelta:
    """Three times the usual distance from the usual time."""
    middle = _usual(delays)
    return max(_TOLERANCE, 3 * _usual([abs(delay - middle) for delay in delays]))


def _start(unit: int, grain: Grain) -> datetime:
    return moment_of(unit_start(unit, grain))


def _end(unit: int, grain: Grain) -> datetime:
    return moment_of(unit_start(unit + 1, grain))
