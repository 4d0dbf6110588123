"""Dates of data that runs read and wrote, in words, for the runs that a page shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dbt_graft.analysis.dates.access_effects import changes_data, takes_data
from dbt_graft.catalog.run_history import RunHistory
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates, dates_of
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.history import RunKey
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Access, Direction, Status

_RANGES = 3  # of a dataset
_DATASETS = 3


@frozen
class RunDates:
    """The accesses with dates of all runs, by task and run."""

    by_run: Mapping[RunKey, list[Access]]

    def of_task(self, task: Task) -> list[tuple[object, ...]]:
        """All that the pages of a task's runs may show."""
        return [
            (access.run_id, access.dataset, access.direction, access.status, access.periods)
            for run in (task.runs if self.by_run else ())
            for access in self.by_run.get((task.name, run.run_id), ())
        ]

    def of_runs(
        self, history: RunHistory, task: str = "", dataset: DatasetId | None = None
    ) -> RunHistory:
        """Runs with the dates that they read and wrote.

        Args:
            task: Of runs that do not name theirs.
            dataset: Of what they wrote this one alone, whose name goes without saying.
        """
        if not self.by_run:
            return history
        runs = []
        for run in history.runs:
            accesses = self.by_run.get((run.task or task, run.run_id), ())
            done = [access for access in accesses if access.status is not Status.FAILED]
            written = [a for a in done if a.direction is Direction.WRITE and changes_data(a)]
            if dataset is not None:
                written = [access for access in written if access.dataset == dataset]
            read = [a for a in done if a.direction is Direction.READ and takes_data(a)]
            runs.append(
                replace(run, wrote=_text(written, is_named=dataset is None), read=_text(read))
            )
        return replace(history, runs=runs)


def run_dates(lineage: Lineage) -> RunDates:
    """The dates of the runs of a lineage.

    Of what a run read by a statement that names no dates, too, it read all that is there.
    """
    dated = [access for access in lineage.history.accesses if access.periods]
    limited = {_read(access) for access in dated if access.direction is Direction.READ}
    for access in lineage.history.accesses:
        is_done = access.status is not Status.FAILED and takes_data(access)
        if is_done and not access.periods and access.direction is Direction.READ:
            limited.discard(_read(access))
    return RunDates(
        group_by_key(
            ((access.task, access.run_id), access)
            for access in dated
            if access.direction is not Direction.READ or _read(access) in limited
        )
    )


def _read(access: Access) -> tuple[str, str, DatasetId]:
    return access.task, access.run_id, access.dataset


def _text(accesses: Iterable[Access], *, is_named: bool = True) -> str:
    by_dataset: dict[DatasetId, Dates] = {}
    for access in accesses:
        known = by_dataset.get(access.dataset, NO_DATES)
        by_dataset[access.dataset] = known | dates_of(access.periods)
    texts = [
        f"{dataset.short if is_named else ''} {dates_text(dates, most=_RANGES)}".strip()
        for dataset, dates in sorted(by_dataset.items())
    ]
    more = len(texts) - _DATASETS
    return ", ".join((*texts[:_DATASETS], *([f"{more} more"] if more > 0 else ())))
