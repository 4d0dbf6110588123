"""Partition mappings in words: `from 6 days before up to the same day`."""

from __future__ import annotations

from dbt_graft.lineage.dates.partition_mapping import PartitionMapping
from dbt_graft.lineage.dates.period import Grain


def mapping_text(mapping: PartitionMapping) -> str:
    """The dates of the input that a date of the output needs."""
    period = mapping.period
    if period is None:
        return "all dates"
    if mapping.units is not None:
        return _text_of_units(mapping, period, *mapping.units)
    first, last = mapping.offsets
    if (first, last) == (0, 0):
        is_roll_up = mapping.input_grain not in (None, period)
        return f"all of the same {period}" if is_roll_up else f"the same {period}"
    if first == last:
        return _unit(first, period)
    begin = "" if first is None else f"from {_unit(first, period)} "
    end = "on" if last is None else f"up to {_unit(last, period)}"
    return f"{begin}{end}" if begin or last is not None else "all dates"


def _text_of_units(
    mapping: PartitionMapping, period: Grain, first_unit: Grain, last_unit: Grain
) -> str:
    first, last = mapping.offsets
    if mapping.is_cumulative and (first, last) == (0, 0):
        return f"from the beginning of its {first_unit} up to the same {period}"
    begin = "" if first is None else f"from {_moment(first, first_unit, f'the {period} begins')} "
    return f"{begin}up to {_moment(last, last_unit, f'the {period} ends')}"


def _unit(offset: int | None, period: Grain) -> str:
    if not offset:
        return f"the same {period}"
    side = "before" if offset < 0 else "after"
    return f"the {period} {side}" if abs(offset) == 1 else f"{abs(offset)} {period}s {side}"


def _moment(offset: int | None, unit: Grain, event: str) -> str:
    if offset is None:
        return "the newest"
    if offset == 0:
        return f"when {event}"
    side = "before" if offset < 0 else "after"
    return f"{abs(offset)} {unit}{'' if abs(offset) == 1 else 's'} {side} {event}"
