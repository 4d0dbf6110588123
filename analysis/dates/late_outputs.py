"""Late outputs: what a failed run should have written, and did not.

What it did write before it failed is there and good. What it should have written is what it tried
to write, what the last good run of its task wrote, and what is declared of the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from dbt_graft.analysis.dates.access_effects import changes_data, removes_rows
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.access_index import Execution
from dbt_graft.lineage.building.nominal_periods import data_interval
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates, dates_of
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Access, Direction, Evidence, Run, Status


@frozen
class LateOutput:
    """A dataset that a failed run should have written.

    Attributes:
        dates: Those that it should have written and nobody wrote since; all where it is not known.
        last_write: The last one before.
        since: The first failed run of those that end with this one, or its beginning.
        readers: The tasks that read it since, which have old data.
        is_doubtful: It may have been written: by a later run, of which nothing tells whether for
            all of these dates, or by the failed one before it failed.
    """

    dataset: DatasetId
    dates: Dates
    last_write: Access | None
    since: datetime
    readers: tuple[str, ...] = ()
    is_doubtful: bool = False


def late_outputs(
    history: AccessHistory, task: Task, run: Run, since: datetime | None = None
) -> list[LateOutput]:
    """The late outputs of a failed run, sorted by dataset; none where all was written since.

    Args:
        since: When the first of the failed runs that end with it began.
    """
    since = since or run.started_at or run.ended_at
    if run.status is not Status.FAILED or since is None:
        return []
    execution = (run.task, run.parent_run_id or run.run_id)
    tried = [access for access in _writes(history, task) if history.execution(access) == execution]
    done = {access.dataset for access in tried if access.status is Status.OK}
    # It may have got there.
    doubtful = {access.dataset for access in tried if access.status is Status.UNKNOWN}
    expected = {access.dataset for access in tried} | _usual_outputs(history, task, since)
    end = max(filter(None, (run.ended_at, run.started_at)), default=since)
    outputs = (
        _late_output(history, dataset, _dates(history, run, tried, dataset), since, end)
        for dataset in sorted(expected - done)
    )
    return [
        replace(output, is_doubtful=output.is_doubtful or output.dataset in doubtful)
        for output in outputs
        if output.dates
    ]


def _late_output(
    history: AccessHistory, dataset: DatasetId, dates: Dates, since: datetime, end: datetime
) -> LateOutput:
    writes = [write for write in history.writes(dataset) if not removes_rows(write)]
    before = [write for write in writes if write.last_at and write.last_at < since]
    after = [write for write in writes if write.last_at and write.last_at > end]
    for write in after:
        dates -= history.entire_dates(write)
    perhaps = (history.written_dates(write) for write in after)
    is_doubtful = any(written is None or written.meets(dates) for written in perhaps)
    reads = (read for read in history.reads(dataset) if read.last_at and read.last_at > since)
    readers = tuple(sorted({read.task for read in reads}))
    return LateOutput(dataset, dates, before[-1] if before else None, since, readers, is_doubtful)


def _writes(history: AccessHistory, task: Task) -> Iterator[Access]:
    """The writes of a task, those that failed too."""
    for access in history.tried_writes.get(task.name, ()):
        if changes_data(access) and not removes_rows(access):
            yield access


def _usual_outputs(history: AccessHistory, task: Task, before: datetime) -> set[DatasetId]:
    """The datasets that the last good run before a time wrote, and those declared."""
    declared = {
        usage.dataset
        for usage in task.usages
        if usage.direction is Direction.WRITE and usage.evidence is Evidence.DECLARED
    }
    good = {
        (run.task, run.parent_run_id or run.run_id)
        for run in task.runs
        if run.status is Status.OK and run.started_at and run.started_at < before
    }
    by_run: dict[Execution, tuple[datetime, set[DatasetId]]] = {}
    for access in _writes(history, task):
        execution = history.execution(access)
        if execution in good and access.status is not Status.FAILED and access.last_at:
            at, datasets = by_run.get(execution, (access.last_at, set()))
            by_run[execution] = (max(at, access.last_at), datasets | {access.dataset})
    last = max(by_run.values(), key=lambda written: written[0], default=None)
    return declared | (last[1] if last else set())


def _dates(history: AccessHistory, run: Run, tried: Iterable[Access], dataset: DatasetId) -> Dates:
    """The dates for which a run should have written a dataset; all where nothing tells them."""
    dates = NO_DATES
    for access in tried:
        if access.dataset == dataset:
            if not access.periods:
                return ALL_DATES
            dates |= dates_of(access.periods)
    if not dates and history.grain(dataset):
        interval = data_interval(run, history.lineage.history.orchestrator_runs)
        dates = dates_of((interval,)) if interval else NO_DATES
    return dates or ALL_DATES
