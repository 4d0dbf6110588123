"""Bounds of a taint: the dates of each dataset that bad data can reach at most.

They come from edges alone, whenever runs were. So of years of accesses those are left out that
are about other dates.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping

from dbt_graft.analysis.dates.access_history import AccessHistory, Edge
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates

# A cycle that shifts dates has no end: so often the bound of a dataset grows, then it is all.
_GROWTHS = 50


def taint_bounds(
    history: AccessHistory, seeds: Mapping[DatasetId, Dates]
) -> dict[DatasetId, Dates]:
    """The datasets that bad data can reach, each with the dates that it can have at most.

    Args:
        seeds: The dates that are bad at first.
    """
    bounds = {dataset: dates for dataset, dates in seeds.items() if dates}
    growths = Counter[DatasetId]()
    waiting = deque(sorted(bounds))
    while waiting:
        dataset = waiting.popleft()
        for edge in history.downstream.get(dataset, ()):
            target = edge[2]
            bound = bounds.get(target, NO_DATES)
            passed = _passed_dates(history, edge, bounds[dataset])
            if bound.covers(passed):
                continue
            growths[target] += 1
            bounds[target] = bound | passed if growths[target] < _GROWTHS else ALL_DATES
            if target not in waiting:
                waiting.append(target)
    return bounds


def _passed_dates(history: AccessHistory, edge: Edge, dates: Dates) -> Dates:
    """The dates that bad ones of the input can make bad, at most."""
    mapping = history.mapping(edge)
    if not mapping.is_rule:
        return ALL_DATES
    reached = mapping.affected_dates(dates)
    writes = history.writes_by_run(edge[0], edge[2]) if mapping.exceptions else {}
    for run in mapping.exceptions:
        for access in writes.get(run, ()):
            written = history.written_dates(access)
            reached |= ALL_DATES if written is None else written
    return reached
