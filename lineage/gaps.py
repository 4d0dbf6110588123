"""Statements of which not all is known: by reason, by task, and how much of them is known.

Of some only columns are missing. Others may read or write more than is known of them: no answer
about their task is complete.
"""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Access, ColumnEdge, Outcome, Run, Shape

if TYPE_CHECKING:
    from dbt_graft.lineage.model import Lineage

_LONGEST, _SHORT = 1_000, 60
# The parsers that name the columns which they could not follow.
_FOLLOWS_COLUMNS = frozenset({"sqlglot", "plan"})
# The beginnings of reasons for which columns are missing, and no datasets.
_OF_COLUMNS = ("columns: ", "columns not resolved: ", "a text in double quotes ")
# The beginning of the reason of rejects that touch no dataset.
WITHOUT_DATA = "no data moves in "
_NO_REASON = {Outcome.PARTIAL: "parsed in part", Outcome.FAILED: "could not be parsed"}


@frozen
class Gap:
    """Shapes of one outcome and reason.

    Attributes:
        shapes: The number of shapes.
        dialect: The dialect of the example.
        example: The shortest of their texts, without literals.
    """

    outcome: Outcome
    reason: str
    shapes: int
    dialect: str
    example: str


def gaps(shapes: Iterable[Shape]) -> tuple[Gap, ...]:
    """Return the gaps left by parsing: failures first, then by number of shapes."""
    alike: dict[tuple[Outcome, str], list[Shape]] = {}
    for shape in shapes:
        if shape.outcome is not Outcome.PARSED:
            alike.setdefault(_kind(shape), []).append(shape)
    all_gaps = []
    for (outcome, reason), group in alike.items():
        example = min(group, key=lambda shape: (not shape.text, len(shape.text), shape.text))
        all_gaps.append(Gap(outcome, reason, len(group), example.dialect, example.text[:_LONGEST]))
    return tuple(
        sorted(all_gaps, key=lambda g: (g.outcome is not Outcome.FAILED, -g.shapes, g.reason))
    )


def tasks_by_gap(lineage: Lineage) -> dict[tuple[Outcome, str], list[str]]:
    """The names of the tasks whose statements have gaps of an outcome and a reason."""
    pairs = (
        (_kind(shape), name) for name in lineage.tasks for shape in gaps_of_task(lineage, name)
    )
    return {kind: sorted({*names}) for kind, names in group_by_key(pairs).items()}


def _kind(shape: Shape) -> tuple[Outcome, str]:
    return shape.outcome, shape.reason or _NO_REASON[shape.outcome]


def shapes_of(records: Iterable[Access | ColumnEdge], runs: Iterable[Run] = ()) -> Iterator[str]:
    """The ids of the shapes that records and runs name."""
    yield from (record.shape_id for record in records)
    for run in runs:
        yield from run.gaps


def gaps_of_task(lineage: Lineage, name: str) -> list[Shape]:
    """The statements of a task of which not all is known."""
    task = lineage.tasks.get(name)
    shapes = map(lineage.shapes.get, task.shapes if task else ())
    return [shape for shape in shapes if shape and shape.outcome is not Outcome.PARSED]


def column_gaps(lineage: Lineage, name: str) -> list[Shape]:
    """The statements of a task of which only columns are not known."""
    return [shape for shape in gaps_of_task(lineage, name) if not may_touch_more(shape)]


def may_touch_more(shape: Shape) -> bool:
    """Whether a statement may read or write more datasets than are known of it."""
    if shape.outcome is not Outcome.PARTIAL:
        return shape.outcome is Outcome.FAILED
    reason = shape.reason or ""
    return not reason.startswith(_OF_COLUMNS) or "; inputs: " in reason


def rejects_by_task(lineage: Lineage) -> Mapping[str, Mapping[str, int]]:
    """For each task the rejected records, by reason, that are its."""
    by_task: dict[str, Counter[str]] = defaultdict(Counter)
    for (task, _), reasons in rejects_by_log(lineage).items():
        by_task[task] += Counter(reasons)
    return by_task


def rejects_by_log(lineage: Lineage) -> Mapping[tuple[str, str], Mapping[str, int]]:
    """For each task and log the rejected records, by reason, that are the task's.

    Those of which no task is known are of the only one in their log. Those of an application of
    Spark may be of each of its tasks. In a log of many runs one record says little of each task;
    it is a finding about the log.
    """
    applications = {
        run.origin for task in lineage.tasks.values() for run in task.runs if run.engine == "spark"
    }
    by_log: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for origin, reason, number, tasks in _rejects(lineage):
        if len(tasks) == 1 or origin in applications:
            for name in tasks:
                by_log[name, origin][reason] += number
    return by_log


def rejects_of_any(lineage: Lineage) -> dict[tuple[str, str], list[str]]:
    """Log and reason of records that were rejected -> its tasks, any of which they may be."""
    return {
        (origin, reason): sorted(tasks)
        for origin, reason, _, tasks in _rejects(lineage)
        if len(tasks) > 1
    }


def _rejects(lineage: Lineage) -> Iterator[tuple[str, str, int, Collection[str]]]:
    """Log, reason and number of rejected records that are alike, and the tasks of that log."""
    tasks: dict[str, set[str]] = defaultdict(set)
    for task in lineage.tasks.values() if lineage.rejects else ():
        for run in task.runs:
            tasks[run.origin].add(task.name)
    counts = Counter((reject.origin, reject.task, reject.reason) for reject in lineage.rejects)
    for (origin, name, reason), number in counts.items():
        if not reason.startswith(WITHOUT_DATA):
            of_log = tasks.get(origin, set())
            yield origin, reason, number, of_log & {name} if name else of_log


def open_tasks(lineage: Lineage) -> dict[str, list[str]]:
    """The tasks that may read or write more than is known, sorted, each with the reasons.

    No answer about what they read and write is complete. Of a task with runs, logs show what lines
    of its code do that could not be followed.
    """
    rejects = rejects_by_task(lineage)
    unknown = {key: shape for key, shape in lineage.shapes.items() if may_touch_more(shape)}
    reasons = {}
    for name, task in sorted(lineage.tasks.items()):
        shapes = [unknown[key] for key in task.shapes if key in unknown] if unknown else ()
        of_task = [reason_text(gap) for gap in gaps(shapes)]
        of_task += rejects.get(name, ())
        match = lineage.codes.get(name)
        if match and not task.runs:
            lines = (gap for gap in match.code.gaps if not (gap.to_table or gap.column))
            of_task += [f"{gap.place}: {gap.reason}" for gap in lines]
        if of_task:
            reasons[name] = list(dict.fromkeys(of_task))
    return reasons


def reason_text(gap: Gap) -> str:
    """`dynamic SQL not resolved (EXEC (@sql))`, with the number of shapes where it is not one."""
    example = textwrap.shorten(gap.example, _SHORT, placeholder=" …")
    times = f"{gap.shapes:,} × " if gap.shapes > 1 else ""
    return f"{times}{gap.reason}" + (f" ({example})" if example else "")


def followed_shapes(shapes: Iterable[Shape]) -> frozenset[str]:
    """The shapes of which all columns are known: one without column edges counts rows, or the like.

    Events of other tools leave columns out without a word.
    """
    return frozenset(
        shape.shape_id
        for shape in shapes
        if shape.outcome is Outcome.PARSED and shape.parser in _FOLLOWS_COLUMNS
    )
