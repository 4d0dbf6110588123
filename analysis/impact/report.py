"""The impact of a change as an answer, and the parts of it that answers about changes share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dbt_graft.analysis.answer import Answer, Cell, Table
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.impact.affected import (
    Affected,
    AffectedConsumer,
    AffectedDataset,
    AffectedTask,
    AffectedTest,
    Impact,
)
from dbt_graft.analysis.impact.change import ImpactEffect, effect_action, recommended_action
from dbt_graft.analysis.impact.data_ages import DataAges
from dbt_graft.analysis.impact.lazy_sequence import LazySequence
from dbt_graft.analysis.impact.path import ImpactStep
from dbt_graft.analysis.impact.reached_dates import ReachedDates
from dbt_graft.analysis.render.phrases import count, join_names, open_note
from dbt_graft.lineage.dates.date_text import dates_json, dates_text

Section = dict[str, Any]

CERTAIN_TO_FAIL = "CERTAIN_TO_FAIL"
_COLUMNS = 4  # that are named
_WORDS = {
    ImpactEffect.GONE: "gone",
    ImpactEffect.TYPE: "another type",
    ImpactEffect.VALUES: "other values",
    ImpactEffect.ROWS: "other rows",
    ImpactEffect.SENSITIVE: "sensitive",
    ImpactEffect.LATE: "not written, or late",
    ImpactEffect.MASKED: "sensitive, masked or encrypted",
    ImpactEffect.DEPENDS: "depends on sensitive values",
    ImpactEffect.NEW: "may get the new column",
}


def impact_answer(impact: Impact, ages: DataAges, dates: ReachedDates | None = None) -> Answer:
    """The answer; without `dates` all dates of the table change."""
    change, severity = impact.change, impact.severity
    name = f"{change.dataset}.{change.column}" if change.column else str(change.dataset)
    scope = f" of {dates_text(dates.changed)}" if dates else ""
    action = recommended_action(change.kind)
    is_known = impact.datasets or impact.tasks or impact.consumers or impact.tests
    return Answer(
        f"{name}, {change.kind.value}{scope}",
        f"{severity.name}; {action}" if is_known else "nothing downstream is known",
        {"data of": ages.text(change.dataset), **coverage(impact)},
        [
            Table(
                "datasets",
                ("", "dataset", "effect", "owner", "dates", "by"),
                LazySequence(impact.datasets, lambda affected: _row(affected, dates)),
            ),
            *affected_tables(impact, dates, ages),
        ],
        notes=(
            *_unaffected(impact),
            *(dates.notes if dates else ()),
            *open_note(impact.open_tasks),
        ),
        findings=list(certain_to_fail(impact)),
        grade=severity.name.lower() if severity else "",
        question="impact",
        data={
            "change": {
                "dataset": str(change.dataset),
                "column": change.column or None,
                "kind": change.kind.value,
                "dates": dates_json(dates.changed) if dates else None,
            },
            "age": ages.json(change.dataset),
            "severity": severity.name,
            "action": action,
            "datasets": LazySequence(
                impact.datasets, lambda affected: _dataset_json(affected, dates)
            ),
            **affected_json(impact, dates, ages),
        },
    )


def _unaffected(impact: Impact) -> Iterator[str]:
    if impact.unaffected:
        yield (
            f"{count(impact.unaffected, 'more reader')} of what loses a column: of its other "
            "columns alone, by their results; one that names it in an inner query fails, too"
        )


def coverage(affected: Affected) -> dict[str, Cell]:
    """The share of the way that is known by columns; empty where columns do not matter."""
    if not affected.flows:
        return {}
    share = 100 * affected.known // affected.flows
    text = f"{share} % of the path ({affected.known} of {affected.flows} flows)"
    return {"columns known": text}


def affected_tables(
    affected: Affected, dates: ReachedDates | None = None, ages: DataAges | None = None
) -> list[Table]:
    """The tables of all that is affected beside datasets; of tests those that may pass."""
    return [
        Table(
            "tasks",
            ("", "task", "owner", "may be hit"),
            LazySequence(
                affected.tasks,
                lambda task: (task.severity.name, task.name, task.owner, _doubt(task)),
            ),
        ),
        Table(
            "consumers",
            ("", "consumer", "kind", "due", "owner", "dates", "may be hit", "data of"),
            LazySequence(
                affected.consumers,
                lambda consumer: (
                    consumer.severity.name,
                    consumer.consumer.name,
                    consumer.consumer.kind,
                    consumer.consumer.deadline,
                    consumer.consumer.owner,
                    dates.text(*consumer.datasets) if dates else "",
                    _doubt(consumer),
                    ages.text(*consumer.datasets) if ages else "",
                ),
            ),
        ),
        Table(
            "tests to run",
            ("test", "of"),
            [(test.test.name, _tested(test)) for test in affected.tests if not test.breaks],
        ),
    ]


def _doubt(hit: AffectedTask | AffectedConsumer) -> str:
    return "which columns it reads is not known" if hit.unknown_columns else ""


def certain_to_fail(affected: Affected) -> Iterator[Finding]:
    """The tasks, tests and consumers that are certain to fail: they name what goes."""
    for task in affected.tasks:
        if task.breaks:
            way = LazySequence(task.path, lambda step: str(step.source))
            yield failure(task.name, "its statements name what is gone", task.owner, way)
    for test in affected.tests:
        if test.breaks:
            yield failure(_tested(test), f"its test {test.test.name} names what is gone")
    broken = {task.name for task in affected.tasks if task.breaks}
    for consumer in affected.consumers:
        if consumer.breaks and consumer.consumer.name not in broken:
            problem = f"the {consumer.consumer.kind} names a column that is gone"
            yield failure(consumer.consumer.name, problem, consumer.consumer.owner)


def failure(subject: str, problem: str, owner: str = "", path: Sequence[str] = ()) -> Finding:
    """A finding about what is certain to fail."""
    remedy = effect_action(ImpactEffect.GONE)
    return Finding(CERTAIN_TO_FAIL, Severity.ERROR, subject, problem, remedy, owner, path=path)


def affected_json(
    affected: Affected, dates: ReachedDates | None = None, ages: DataAges | None = None
) -> Section:
    """The members of the answers' data that all answers about changes have."""
    return {
        "coverage": {"flows": affected.flows, "columns_known": affected.known},
        "tasks": LazySequence(
            affected.tasks,
            lambda task: {
                "task": task.name,
                "severity": task.severity.name,
                "breaks": task.breaks,
                "unknown_columns": task.unknown_columns,
                "owner": task.owner or None,
            },
        ),
        "tests": [
            {
                "node_id": test.test.node_id,
                "name": test.test.name,
                "dataset": str(test.dataset),
                "column": test.test.column or None,
                "breaks": test.breaks,
            }
            for test in affected.tests
        ],
        "consumers": [
            {
                "consumer": consumer.consumer.name,
                "kind": consumer.consumer.kind,
                "severity": consumer.severity.name,
                "owner": consumer.consumer.owner or None,
                "url": consumer.consumer.url or None,
                "deadline": consumer.consumer.deadline or None,
                "breaks": consumer.breaks,
                "unknown_columns": consumer.unknown_columns,
                "datasets": [str(dataset) for dataset in consumer.datasets],
                "dates": dates.json(*consumer.datasets) if dates else None,
                "age": ages.json(*consumer.datasets) if ages else None,
            }
            for consumer in affected.consumers
        ],
    }


def _row(affected: AffectedDataset, dates: ReachedDates | None) -> tuple[Cell, ...]:
    effect = reason(affected)
    return (
        affected.severity.name,
        str(affected.dataset),
        f"{effect} (stale)" if affected.stale else effect,
        affected.owner,
        dates.text(affected.dataset) if dates else "",
        " > ".join(map(_step_text, affected.path)),
    )


def _step_text(step: ImpactStep) -> str:
    return f"{step.task} [{step.subtype}]" if step.subtype else step.task


def _tested(test: AffectedTest) -> str:
    return f"{test.dataset}.{test.test.column}" if test.test.column else str(test.dataset)


def _dataset_json(affected: AffectedDataset, dates: ReachedDates | None) -> Section:
    return {
        "dataset": str(affected.dataset),
        "severity": affected.severity.name,
        "effects": [effect.name for effect in affected.effects],
        "columns": {name: effect.name for name, effect in affected.columns.items()},
        "reason": reason(affected),
        "action": effect_action(min((*affected.effects, *affected.columns.values()))),
        "path": [
            {
                "task": step.task,
                "edge": step.subtype.value if step.subtype else "FLOW",
                "dataset": str(step.dataset),
                "column": step.column or None,
            }
            for step in affected.path
        ],
        "distance": affected.distance,
        "stale": affected.stale,
        "owner": affected.owner or None,
        "dates": dates.json(affected.dataset) if dates else None,
    }


def reason(affected: AffectedDataset) -> str:
    """The effects on a dataset in words: `other rows; amount, total: other values`."""
    parts = [_WORDS[effect] for effect in affected.effects]
    for effect in sorted({*affected.columns.values()}):
        names = [name for name, other in affected.columns.items() if other is effect]
        parts.append(f"{join_names(names, _COLUMNS)}: {_WORDS[effect]}")
    return "; ".join(parts)
