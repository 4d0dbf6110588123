"""The tasks of a lineage: their runs, uses and gaps; those that only define a view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from dbt_graft.lineage.building.runs import runs_by_task
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Access, Direction, Outcome, Run, RunRepeats, Shape, TaskInfo
from dbt_graft.lineage.usage import Usage


def join_tasks(
    runs: Iterable[Run],
    used: Iterable[Usage],
    written: Mapping[str, TaskInfo],
    infos: Mapping[str, TaskInfo],
    run_repeats: Iterable[RunRepeats],
    gaps: Mapping[str, Collection[str]],
) -> dict[str, Task]:
    """The tasks by name.

    Args:
        written: What people wrote of them; `infos` has what events say, too.
        gaps: The shapes of each task's statements that are not understood.
    """
    by_task = runs_by_task(runs)
    repeats: dict[str, dict[str, int]] = defaultdict(dict)
    for run_repeat in run_repeats:
        if run_repeat.runs:
            repeats[run_repeat.task][run_repeat.run_id] = run_repeat.runs
    usages_by_task: dict[str, list[Usage]] = defaultdict(list)
    for usage in used:
        usages_by_task[usage.task].append(usage)
    return {
        name: Task(
            name=name,
            engines=_engines(by_task.get(name, ()), usages_by_task[name]),
            usages=tuple(usages_by_task[name]),
            runs=by_task.get(name, ()),
            info=infos.get(name, TaskInfo()),
            described_in_events=name in infos
            and not (name in written and written[name].description),
            repeats=repeats.get(name, {}),
            gaps=_without_uses(gaps[name], usages_by_task[name]) if name in gaps else (),
        )
        for name in sorted({*by_task, *usages_by_task})
    }


def _without_uses(shapes: Collection[str], used: Iterable[Usage]) -> tuple[str, ...]:
    return tuple(sorted({*shapes}.difference(*(usage.shapes for usage in used))))


def _engines(runs: Iterable[Run], used: Iterable[Usage]) -> tuple[str, ...]:
    """The engines of a task's runs, that of the newest run first; of its usages without runs."""
    engines = dict.fromkeys(run.engine for run in runs)
    return tuple(engines or dict.fromkeys(usage.engine for usage in used))


def find_gaps(
    accesses: Iterable[Access], runs: Iterable[Run], shapes: Mapping[str, Shape]
) -> dict[str, set[str]]:
    """For each task the shapes of its statements that are not understood."""
    gaps: dict[str, set[str]] = defaultdict(set)
    missing = {key for key, shape in shapes.items() if shape.outcome is not Outcome.PARSED}
    for access in accesses if missing else ():
        if access.shape_id in missing:
            gaps[access.task].add(access.shape_id)
    for run in runs:
        if of_run := missing.intersection(run.gaps):
            gaps[run.task] |= of_run
    return gaps


def define_views(accesses: Iterable[Access]) -> dict[str, Definition]:
    by_view = group_by_key((access.task, access) for access in accesses)
    definitions = {}
    for name, group in sorted(by_view.items()):
        for access in group:
            if access.direction is Direction.WRITE:
                reads = {a.dataset for a in group if a.direction is Direction.READ}
                definitions[name] = Definition(
                    name,
                    DefinitionKind.VIEW,
                    access.dataset,
                    tuple(sorted(reads)),
                    access.operation,
                    (access.shape_id,),
                )
    return definitions
