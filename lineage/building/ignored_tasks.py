"""Tasks that are left out: interactive work, tries, whatever a pattern in graft.yml names.

Their runs, accesses and column edges go, and the datasets that nobody else uses; how much was left
out is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import translate

from dbt_graft.lineage.gaps import shapes_of
from dbt_graft.lineage.records import Records
from dbt_graft.lineage.settings import IgnoredTasks


def without_tasks(records: Records, patterns: Iterable[str]) -> tuple[Records, IgnoredTasks]:
    """Records without the tasks that a pattern names, and the number of what was left out.

    Args:
        patterns: As of files, compared without case: `adhoc_*`, `*notebook*`.
    """
    wanted = "|".join(translate(pattern.casefold()) for pattern in patterns)
    if not wanted:
        return records, IgnoredTasks()
    pattern = re.compile(wanted)
    named = {run.task for run in records.runs} | {access.task for access in records.accesses}
    ignored = {task for task in named if pattern.fullmatch(task.casefold())}
    if not ignored:
        return records, IgnoredTasks()
    accesses = tuple(access for access in records.accesses if access.task not in ignored)
    theirs = [access for access in records.accesses if access.task in ignored]
    only_theirs = {access.dataset for access in theirs} - {access.dataset for access in accesses}
    runs = tuple(run for run in records.runs if run.task not in ignored)
    their_runs = [run for run in records.runs if run.task in ignored]
    gone = {*shapes_of(theirs, their_runs)} - {*shapes_of(accesses, runs)}
    remaining = replace(
        records,
        accesses=accesses,
        runs=runs,
        column_edges=tuple(edge for edge in records.column_edges if edge.task not in ignored),
        task_metadata=tuple(
            metadata for metadata in records.task_metadata if metadata.task not in ignored
        ),
        datasets=tuple(dataset for dataset in records.datasets if dataset.id not in only_theirs),
        shapes={key: shape for key, shape in records.shapes.items() if key not in gone},
    )
    run_ids = {(run.task, run.run_id) for run in their_runs}
    statements = sum(access.statements for access in theirs)
    return remaining, IgnoredTasks(len(ignored), len(run_ids), statements, len(only_theirs))
