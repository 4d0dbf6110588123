"""Bad writes: where a taint begins, by dates of a dataset, by runs, or by a code version."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, Dates, moment_of
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Access, Run, Status
from dbt_graft.lineage.states.access_effects import changes_data, removes_rows
from dbt_graft.lineage.states.access_history import AccessHistory
from dbt_graft.lineage.states.access_index import Execution


@dataclass(frozen=True, slots=True)
class BadWrite:
    """A run put bad data into a dataset.

    Attributes:
        task, run: The execution; empty where no log shows it, and the data was always bad.
        at: None likewise.
        dates: All where it is not known for which dates the run wrote.
    """

    dataset: DatasetId
    dates: Dates
    task: str = ""
    run: str = ""
    at: datetime | None = None

    @property
    def execution(self) -> Execution:
        """Task and run."""
        return self.task, self.run


def bad_dates(history: AccessHistory, dataset: DatasetId, dates: Dates) -> list[BadWrite]:
    """The first writes of these dates; a later write of them by another run is taken as clean.

    Raises:
        GraftError: No log shows for which dates the dataset is written, or none of these dates is
            written yet.
    """
    writes = [one for one in history.writes(dataset) if not removes_rows(one)]
    found, left = [], dates
    for access in writes:
        written = history.written(access)
        if written is None or not (bad := written & left):
            continue
        found.append(_bad(history, access, bad))
        left -= bad
    if found and all(history.written(one) in (None, ALL_DATES) for one in writes):
        raise GraftError(
            "no log shows for which dates it is written",
            place=str(dataset),
            remedy="name the bad run with --run RUN",
        )
    if writes and not found and not any(one.periods for one in writes):
        raise GraftError(
            "no log shows for which dates it is written",
            place=str(dataset),
            remedy="name the bad run with --run RUN",
        )
    if writes and not found:
        _check_written(history, writes, dataset, dates)
    return [*([BadWrite(dataset, left)] if left else []), *found]


def _check_written(
    history: AccessHistory, writes: Collection[Access], dataset: DatasetId, dates: Dates
) -> None:
    """Raise an error for dates after all that were written: no data of them can be bad."""
    last = max((written.span[1] for one in writes if (written := history.written(one))), default=0)
    if dates and dates.span[0] >= last:
        until = moment_of(last - 1)
        raise GraftError(
            f"none of these dates is written yet; the last one is {until:%Y-%m-%d}",
            place=str(dataset),
            remedy="see `graft states`",
        )


def bad_runs(history: AccessHistory, runs: Collection[Execution]) -> list[BadWrite]:
    """All that some runs wrote, oldest first."""
    wanted = set(runs)
    found: dict[tuple[Execution, DatasetId], BadWrite] = {}
    for dataset in history.written_by({task for task, _ in wanted}):
        for access in history.writes(dataset):
            run = history.execution(access)
            if run not in wanted or removes_rows(access):
                continue
            written = history.written(access)
            bad = _bad(history, access, ALL_DATES if written is None else written)
            known = found.get((run, dataset))
            found[run, dataset] = (
                BadWrite(dataset, known.dates | bad.dates, *run, known.at) if known else bad
            )
    return sorted(found.values(), key=lambda one: (one.at, one.dataset, one.task))


def runs_named(history: AccessHistory, run_id: str) -> list[Execution]:
    """The executions with a run of this id, or below one of it."""
    found = {
        (task.name, run.parent_run_id or run.run_id)
        for task in history.lineage.tasks.values()
        for run in task.runs
        if run_id in (run.run_id, run.parent_run_id, run.application_id)
    }
    found |= {
        history.execution(one)
        for one in history.accesses()
        if one.run_id == run_id and changes_data(one)
    }
    return sorted(found)


def runs_of_version(history: AccessHistory, task: str, version: str = "") -> list[Execution]:
    """The executions of a task with this version of its code; all without one."""
    known = history.lineage.tasks.get(task)
    return [
        (task, run.parent_run_id or run.run_id)
        for run in _oldest_first(known.runs if known else ())
        if not version or run.code_version == version
    ]


def runs_between(history: AccessHistory, first: Execution, second: Execution) -> list[Execution]:
    """The executions of a task after the earlier of two, which was good, up to the later, bad one.

    Raises:
        GraftError: They are runs of two tasks.
    """
    if first[0] != second[0]:
        raise GraftError(
            f"{first[1]} is a run of {first[0]}, and {second[1]} one of {second[0]}",
            remedy="name two runs of one task",
        )
    ordered = list(dict.fromkeys(runs_of_version(history, first[0])))
    places = sorted(ordered.index(one) for one in (first, second) if one in ordered)
    return ordered[places[0] + 1 : places[-1] + 1] if len(places) > 1 else [first, second]


def last_good_run(history: AccessHistory, bad: Iterable[BadWrite]) -> Access | None:
    """The last write of the same dataset by the same task before the first bad one.

    What failed runs wrote does not count.
    """
    known = [one for one in bad if one.at]
    if not known:
        return None
    first = min(known, key=lambda one: (one.at, one.dataset))
    runs = {one.execution for one in known}
    task = history.lineage.tasks.get(first.task)
    failed = {run.run_id for run in task.runs if run.status is Status.FAILED} if task else set()
    before = [
        access
        for access in history.writes(first.dataset)
        if access.task == first.task
        and access.run_id not in failed
        and history.execution(access) not in runs
        and not removes_rows(access)
        and access.last_at
        and first.at
        and access.last_at < first.at
    ]
    return before[-1] if before else None


def _bad(history: AccessHistory, access: Access, dates: Dates) -> BadWrite:
    return BadWrite(access.dataset, dates, *history.execution(access), access.last_at)


def _oldest_first(runs: Iterable[Run]) -> list[Run]:
    known = [run for run in runs if run.started_at or run.status is not Status.FAILED]
    return list(reversed(known))
