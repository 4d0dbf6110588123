"""Bad writes: where a taint begins, by dates of a dataset, by runs, or by a code version."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from dbt_graft.analysis.dates.access_effects import changes_data, removes_rows
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.access_index import Execution
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, FIRST, Dates, dates_in, moment_of
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Access, Run, Status


@frozen
class BadWrite:
    """A run put bad data into a dataset.

    Attributes:
        task: Empty where several may have written it.
        run: Empty where no log shows it, and the data was always bad.
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
    writes = [write for write in history.writes(dataset) if not removes_rows(write)]
    bad_writes, left = [], dates
    for access in writes:
        written = history.written_dates(access)
        if written is None or not (bad := written & left):
            continue
        bad_writes.append(_bad(history, access, bad))
        left -= history.entire_dates(access)
    if bad_writes and all(history.written_dates(write) in (None, ALL_DATES) for write in writes):
        raise GraftError(
            "no log shows for which dates it is written",
            place=str(dataset),
            remedy="name the bad run with --run RUN",
        )
    if writes and not bad_writes and not any(write.periods for write in writes):
        raise GraftError(
            "no log shows for which dates it is written",
            place=str(dataset),
            remedy="name the bad run with --run RUN",
        )
    if writes and not bad_writes:
        _check_written(history, writes, dataset, dates)
    return [*_unseen_writes(history, dataset, left), *bad_writes]


def writes_of_dates(history: AccessHistory, dataset: DatasetId, dates: Dates) -> list[BadWrite]:
    """All writes of these dates of a dataset, also those that may be of them, as if all were bad.

    Dates after the last that was written are nowhere yet.
    """
    writes = [
        (access, history.written_dates(access))
        for access in history.writes(dataset)
        if not removes_rows(access)
    ]
    left = dates
    for access, _ in writes:
        left -= history.entire_dates(access)
    ends = [written.span[1] for _, written in writes if written]
    if ends and None not in (written for _, written in writes):
        left &= dates_in([(FIRST, max(ends))])
    return [
        *_unseen_writes(history, dataset, left),
        *(
            _bad(history, access, written_dates)
            for access, written in writes
            if (written_dates := dates & (ALL_DATES if written is None else written))
        ),
    ]


def _unseen_writes(history: AccessHistory, dataset: DatasetId, dates: Dates) -> list[BadWrite]:
    """The writes of dates that no log shows; where one task alone writes a dataset, it was that."""
    tasks = {usage.task for usage in history.lineage.writers(dataset)}
    return [BadWrite(dataset, dates, tasks.pop() if len(tasks) == 1 else "")] if dates else []


def _check_written(
    history: AccessHistory, writes: Collection[Access], dataset: DatasetId, dates: Dates
) -> None:
    """Raise an error for dates after all that were written: no data of them can be bad."""
    last = max(
        (written.span[1] for write in writes if (written := history.written_dates(write))),
        default=0,
    )
    if dates and dates.span[0] >= last:
        until = moment_of(last - 1)
        raise GraftError(
            f"none of these dates is written yet; the last one is {until:%Y-%m-%d}",
            place=str(dataset),
            remedy="see `graft show --dates`",
        )


def bad_runs(history: AccessHistory, runs: Collection[Execution]) -> list[BadWrite]:
    """All that some runs wrote, oldest first."""
    wanted = set(runs)
    bad_writes: dict[tuple[Execution, DatasetId], BadWrite] = {}
    for dataset in history.written_by({task for task, _ in wanted}):
        for access in history.writes(dataset):
            run = history.execution(access)
            if run not in wanted or removes_rows(access):
                continue
            written = history.written_dates(access)
            bad = _bad(history, access, ALL_DATES if written is None else written)
            earlier = bad_writes.get((run, dataset))
            bad_writes[run, dataset] = (
                BadWrite(dataset, earlier.dates | bad.dates, *run, earlier.at) if earlier else bad
            )
    return sorted(
        bad_writes.values(), key=lambda bad_write: (bad_write.at, bad_write.dataset, bad_write.task)
    )


def runs_named(history: AccessHistory, run_id: str) -> list[Execution]:
    """The executions with a run of this id, or below one of it."""
    executions = {
        (task.name, run.parent_run_id or run.run_id)
        for task in history.lineage.tasks.values()
        for run in task.runs
        if run_id in (run.run_id, run.parent_run_id, run.application_id)
    }
    executions |= {
        history.execution(access)
        for access in history.accesses()
        if access.run_id == run_id and changes_data(access)
    }
    return sorted(executions)


def runs_of_version(history: AccessHistory, task: str, version: str = "") -> list[Execution]:
    """The executions of a task with this version of its code; all without one."""
    facts = history.lineage.tasks.get(task)
    return [
        (task, run.parent_run_id or run.run_id)
        for run in _oldest_first(facts.runs if facts else ())
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
    places = sorted(
        ordered.index(execution) for execution in (first, second) if execution in ordered
    )
    return ordered[places[0] + 1 : places[-1] + 1] if len(places) > 1 else [first, second]


def last_good_run(history: AccessHistory, bad: Iterable[BadWrite]) -> Access | None:
    """The last write of the same dataset by the same task before the first bad one.

    What failed runs wrote does not count.
    """
    dated = [bad_write for bad_write in bad if bad_write.at]
    if not dated:
        return None
    first = min(dated, key=lambda bad_write: (bad_write.at, bad_write.dataset))
    runs = {bad_write.execution for bad_write in dated}
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
    begun = [run for run in runs if run.started_at or run.status is not Status.FAILED]
    return list(reversed(begun))
