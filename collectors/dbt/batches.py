"""dbt's microbatches -> dates of data: what an incremental model with an event time has written.

https://docs.getdbt.com/docs/build/incremental-microbatch; `batch_results` of run_results.json
lists the start and the end of each batch, those that went well apart from those that failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from dbt_graft.lineage.dates.date_ranges import begin_of_unit, next_unit
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import union

# dbt's sizes of a batch, coarsest first.
_SIZES = (Grain.YEAR, Grain.MONTH, Grain.DAY, Grain.HOUR)


def written_periods(result: Mapping[str, Any]) -> tuple[Period, ...]:
    """The dates of the batches of a model's result that went well; empty for any other model."""
    batches = result.get("batch_results")
    successful = batches.get("successful") if isinstance(batches, dict) else None
    return union(_periods(successful)) if isinstance(successful, list) else ()


def batch_time(value: Any) -> datetime | None:
    """A time of dbt's artifacts, in UTC with or without saying so; None for anything else."""
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def _periods(batches: list[Any]) -> Iterator[Period]:
    for batch in batches:
        if not isinstance(batch, list) or len(batch) != 2:
            continue
        start, end = map(batch_time, batch)
        if start is None or end is None or end <= start:
            continue
        size = next((grain for grain in _SIZES if _is_unit(start, end, grain)), Grain.HOUR)
        first, last = begin_of_unit(start, size), begin_of_unit(end, size)
        last = last if last == end else next_unit(last, size)
        yield Period(first, last, size, PeriodEvidence.INTERVAL)


def _is_unit(start: datetime, end: datetime, size: Grain) -> bool:
    try:
        return begin_of_unit(start, size) == start and next_unit(start, size) == end
    except (OverflowError, ValueError):  # the end of the calendar
        return False
