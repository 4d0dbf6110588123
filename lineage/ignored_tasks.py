"""Tasks that are left out: interactive work, tries, whatever a pattern in graft.yml names.

Their runs, accesses and column edges go, and the datasets that nobody else uses; how much was left
out is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import translate

from dbt_graft.lineage.records import Records


@dataclass(frozen=True, slots=True)
class IgnoredTasks:
    """The number of tasks, runs, statements and datasets that were left out."""

    tasks: int = 0
    runs: int = 0
    statements: int = 0
    datasets: int = 0


def without_tasks(records: Records, patterns: Iterable[str]) -> tuple[Records, IgnoredTasks]:
    """Records without the tasks that a pattern names, and the number of what was left out.

    Args:
        patterns: As of files, compared without case: `adhoc_*`, `*notebook*`.
    """
    wanted = "|".join(translate(pattern.casefold()) for pattern in patterns)
    if not wanted:
        return records, IgnoredTasks()
    pattern = re.compile(wanted)
    named = {run.task for run in records.runs} | {one.task for one in records.accesses}
    ignored = {task for task in named if pattern.fullmatch(task.casefold())}
    if not ignored:
        return records, IgnoredTasks()
    accesses = tuple(one for one in records.accesses if one.task not in ignored)
    theirs = [one for one in records.accesses if one.task in ignored]
    only_theirs = {one.dataset for one in theirs} - {one.dataset for one in accesses}
    used = {one.shape_id for one in accesses}
    gone = {one.shape_id for one in theirs} - used
    found = replace(
        records,
        accesses=accesses,
        runs=tuple(one for one in records.runs if one.task not in ignored),
        column_edges=tuple(one for one in records.column_edges if one.task not in ignored),
        task_metadata=tuple(one for one in records.task_metadata if one.task not in ignored),
        datasets=tuple(one for one in records.datasets if one.id not in only_theirs),
        shapes={key: one for key, one in records.shapes.items() if key not in gone},
    )
    runs = {(one.task, one.run_id) for one in records.runs if one.task in ignored}
    statements = sum(one.statements for one in theirs)
    return found, IgnoredTasks(len(ignored), len(runs), statements, len(only_theirs))
