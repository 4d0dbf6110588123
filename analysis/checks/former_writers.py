"""Former writers of a dataset: tasks that wrote it and stopped, while another went on.

A task that got another name, or was replaced, leaves its writes in the store; it is no second
writer. One that is only late, or pauses for long, is: what it did before tells how long its pauses
are. What people alone declare ends when they take it out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise

from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Status
from dbt_graft.lineage.usage import Usage

# The last pauses that count: before them a store may have left out runs.
_PAUSES = 10
# What somebody runs a few times in an hour has no rhythm.
_SHORTEST = timedelta(days=7)


def former_writers(
    lineage: Lineage, dataset: DatasetId, stale_before: datetime | None
) -> frozenset[str]:
    """The tasks that wrote a dataset, and are not seen to go on as others are.

    Args:
        stale_before: A task that wrote it once or twice is over if it did so before; None for none.
    """
    usages_by_task: dict[str, list[Usage]] = defaultdict(list)
    for usage in lineage.writers(dataset):
        usages_by_task[usage.task].append(usage)
    last_writes = {
        task: max(filter(None, (usage.last_at for usage in usages)), default=None)
        for task, usages in usages_by_task.items()
    }
    model = lineage.definition(dataset, DefinitionKind.DBT)
    results = lineage.dbt.node_results.get(model.name, ()) if model else ()
    built = (result.ended_at for result in results if result.status is Status.OK)
    newest = newest_of((*last_writes.values(), *built))
    return frozenset(
        task
        for task, last in last_writes.items()
        if newest
        and last
        and last < newest
        and last < _latest_end(lineage.tasks[task], usages_by_task[task], newest, stale_before)
    )


def _latest_end(
    task: Task, usages: Iterable[Usage], newest: datetime, stale_before: datetime | None
) -> datetime:
    """The time before which a writer of a dataset must have stopped to be over."""
    ended = {
        (usage.engine, run_id)
        for usage in usages
        for run_id in {*usage.run_ids}.difference(usage.failed_runs, usage.idle_runs)
    }
    times = sorted(
        run.started_at for run in task.runs if run.started_at and (run.engine, run.run_id) in ended
    )[-_PAUSES - 1 :]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    if len(pauses) > 1:
        return newest - max(_SHORTEST, 2 * max(pauses))
    return stale_before or datetime.min.replace(tzinfo=newest.tzinfo)
