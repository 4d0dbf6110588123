"""Superseded runs: what a later run did again.

Two tries of one task for the same data interval, or in the same run of a DAG, are one piece of
work: the last that did not fail counts. Where logs tell which dates of data a run wrote, a later
run that replaced the same dates supersedes that write, whichever task it is of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from datetime import UTC, datetime

from dbt_graft.lineage.building.event_runs import ORCHESTRATORS
from dbt_graft.lineage.building.orchestration import orchestrator_runs
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.history import RunKey, Supersession
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Run, Status

_Dates = tuple[DatasetId, frozenset[tuple[datetime | None, datetime | None]]]

_BEGINNING = datetime.min.replace(tzinfo=UTC)
# Applications between a run and its orchestrator.
_DEPTH = 8
# Writes that put new rows in the place of old ones.
_CHANGES = frozenset({Operation.DELETE, Operation.MERGE, Operation.UPDATE})


def supersessions(
    runs: Iterable[Run], accesses: Iterable[Access]
) -> dict[RunKey, tuple[Supersession, ...]]:
    """For each run that was done again, or of which a write was, the later ones."""
    by_run: dict[RunKey, list[Supersession]] = defaultdict(list)
    for key, later in _tried_again(list(runs)):
        by_run[key].append(later)
    for key, later in _written_again(accesses):
        # A run that was done again wrote again, too.
        if not any(supersession.run_id == later.run_id for supersession in by_run.get(key, ())):
            by_run[key].append(later)
    return {key: tuple(by_run[key]) for key in sorted(by_run)}


def _tried_again(runs: list[Run]) -> Iterable[tuple[RunKey, Supersession]]:
    runs_by_id = orchestrator_runs(runs)
    tries: dict[Hashable, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    order: dict[str, tuple[int, datetime]] = {}
    for run in runs:
        above = _find_orchestrator(run, runs_by_id)
        if slot := _slot(run, above):
            try_id = above.run_id if above else run.run_id
            tries[run.task, run.engine, slot][try_id].append(run)
            begin = min(_start(run), order[try_id][1]) if try_id in order else _start(run)
            order[try_id] = ((above or run).attempt or 0, begin)
    for by_try in tries.values():
        names = sorted(by_try, key=lambda name: (*order[name], name))
        last: Supersession | None = None
        for name in reversed(names):
            if last:
                for run in by_try[name]:
                    yield (run.task, run.run_id), last
            elif any(run.status is not Status.FAILED for run in by_try[name]):
                first = min(by_try[name], key=lambda run: (_start(run), run.run_id))
                last = Supersession(first.task, first.run_id, first.started_at)


def _find_orchestrator(run: Run, runs_by_id: Mapping[str, Run]) -> Run | None:
    """The try of an orchestrator that did a run, or started it."""
    above: Run | None = run
    for _ in range(_DEPTH):
        if above is None or above.engine in ORCHESTRATORS:
            return above
        parent = runs_by_id.get(above.parent_run_id or "")
        above = None if parent is above else parent
    return None


def _slot(run: Run, above: Run | None) -> Hashable:
    """The piece of work that a run is a try of; None where nothing tells."""
    for attempt in filter(None, (run, above)):
        if attempt.nominal_start:
            return (above.job if above else "", attempt.nominal_start, attempt.nominal_end)
    if above and above.attempt and above.parent_run_id:
        return (above.job, above.parent_run_id)
    return None


def _written_again(accesses: Iterable[Access]) -> Iterable[tuple[RunKey, Supersession]]:
    """The writes whose dates a later run replaced, all of them and no others."""
    done = [access for access in accesses if access.direction is Direction.WRITE]
    dated = {(access.dataset, (access.task, access.run_id)) for access in done if access.periods}
    if not dated:
        return
    writes: dict[tuple[DatasetId, RunKey], list[Access]] = defaultdict(list)
    for access in done:
        key = (access.dataset, (access.task, access.run_id))
        if key in dated and access.status is not Status.FAILED:
            writes[key].append(access)
    by_dates: dict[_Dates, list[tuple[datetime, RunKey, bool]]] = defaultdict(list)
    for (dataset, run), group in writes.items():
        dates = frozenset(
            (period.start, period.end)
            for access in group
            if access.operation.brings_data
            for period in access.periods
        )
        if dates:
            last = max((access.last_at for access in group if access.last_at), default=_BEGINNING)
            replaces = any(
                access.operation.replaces or access.operation in _CHANGES for access in group
            )
            by_dates[dataset, dates].append((last, run, replaces))
    for (dataset, _), writers in by_dates.items():
        newest: Supersession | None = None
        for at, run, replaces in sorted(writers, reverse=True):
            if newest:
                yield run, newest
            elif replaces:
                newest = Supersession(*run, at, dataset)


def _start(run: Run) -> datetime:
    return run.started_at or _BEGINNING
