"""Superseded runs: what a later run did again.

Two tries of one task for the same data interval, or in the same run of a DAG, are one piece of
work: the last that did not fail counts. Where logs tell which dates of data a run wrote, a later
run that replaced the same dates supersedes that write, whichever task it is of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.event_runs import ORCHESTRATORS
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.orchestration import orchestrator_runs
from dbt_graft.lineage.records import Access, Direction, Run, Status

RunKey = tuple[str, str]
_Dates = tuple[DatasetId, frozenset[tuple[datetime | None, datetime | None]]]

_BEGINNING = datetime.min.replace(tzinfo=UTC)
# Applications between a run and its orchestrator.
_DEPTH = 8
# Writes that put new rows in the place of old ones.
_CHANGES = frozenset({Operation.DELETE, Operation.MERGE, Operation.UPDATE})


@dataclass(frozen=True, slots=True)
class Supersession:
    """A later run that did again what a run did.

    Attributes:
        task, run_id, at: The later run, and when it began or wrote.
        dataset: Where it wrote the same dates again; None where all of the run was done again.
    """

    task: str
    run_id: str
    at: datetime | None
    dataset: DatasetId | None = None


def supersessions(
    runs: Iterable[Run], accesses: Iterable[Access]
) -> dict[RunKey, tuple[Supersession, ...]]:
    """For each run that was done again, or of which a write was, the later ones."""
    found: dict[RunKey, list[Supersession]] = defaultdict(list)
    for key, later in _tried_again(list(runs)):
        found[key].append(later)
    for key, later in _written_again(accesses):
        # A run that was done again wrote again, too.
        if not any(one.run_id == later.run_id for one in found.get(key, ())):
            found[key].append(later)
    return {key: tuple(found[key]) for key in sorted(found)}


def _tried_again(runs: list[Run]) -> Iterable[tuple[RunKey, Supersession]]:
    known = orchestrator_runs(runs)
    tries: dict[Hashable, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    order: dict[str, tuple[int, datetime]] = {}
    for run in runs:
        above = _orchestrated(run, known)
        if slot := _slot(run, above):
            one = above.run_id if above else run.run_id
            tries[run.task, run.engine, slot][one].append(run)
            begin = min(_start(run), order[one][1]) if one in order else _start(run)
            order[one] = ((above or run).attempt or 0, begin)
    for by_try in tries.values():
        names = sorted(by_try, key=lambda one: (*order[one], one))
        last: Supersession | None = None
        for name in reversed(names):
            if last:
                for run in by_try[name]:
                    yield (run.task, run.run_id), last
            elif any(run.status is not Status.FAILED for run in by_try[name]):
                first = min(by_try[name], key=lambda run: (_start(run), run.run_id))
                last = Supersession(first.task, first.run_id, first.started_at)


def _orchestrated(run: Run, known: Mapping[str, Run]) -> Run | None:
    """The try of an orchestrator that did a run, or started it."""
    above: Run | None = run
    for _ in range(_DEPTH):
        if above is None or above.engine in ORCHESTRATORS:
            return above
        parent = known.get(above.parent_run_id or "")
        above = None if parent is above else parent
    return None


def _slot(run: Run, above: Run | None) -> Hashable:
    """The piece of work that a run is a try of; None where nothing tells."""
    for one in filter(None, (run, above)):
        if one.nominal_start:
            return (above.job if above else "", one.nominal_start, one.nominal_end)
    if above and above.attempt and above.parent_run_id:
        return (above.job, above.parent_run_id)
    return None


def _written_again(accesses: Iterable[Access]) -> Iterable[tuple[RunKey, Supersession]]:
    """The writes whose dates a later run replaced, all of them and no others."""
    done = [one for one in accesses if one.direction is Direction.WRITE]
    dated = {(one.dataset, (one.task, one.run_id)) for one in done if one.periods}
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
            replaces = any(one.operation.replaces or one.operation in _CHANGES for one in group)
            by_dates[dataset, dates].append((last, run, replaces))
    for (dataset, _), found in by_dates.items():
        newest: Supersession | None = None
        for at, run, replaces in sorted(found, reverse=True):
            if newest:
                yield run, newest
            elif replaces:
                newest = Supersession(*run, at, dataset)


def _start(run: Run) -> datetime:
    return run.started_at or _BEGINNING
