"""The pages of a task, and of a dashboard or another reader."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from dbt_graft.analysis.answer import Answer, Cell, Table
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.catalog.formatting import duration, engine
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.questions.show.evidence import (
    read_evidences,
    runs_text,
    use_table,
    uses,
    why,
    why_tables,
)
from dbt_graft.graft.questions.show.facts import plain_facts
from dbt_graft.graft.questions.show.trees import Steps
from dbt_graft.lineage.building.orchestration import orchestrator_task
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Direction, Run, Status, TaskInfo

_PROMISES = ("criticality", "freshness_slo", "deadline")


def task_answer(asked: AskedLineage, task: Task, steps: Steps, *, with_why: bool) -> Answer:
    """The page of a task."""
    evidences = read_evidences(asked)
    accesses = evidences.accesses(task.name)
    evidence = why(task.name, accesses, evidences)
    read, written = (uses(accesses, way, evidences) for way in (Direction.READ, Direction.WRITE))
    about = _about(task, steps)
    head = ("", "started", "took", "", "code version", "error")
    return Answer(
        task.name,
        ", ".join(("task", *map(engine, task.engines))),
        plain_facts({**about, "runs": runs_text(evidence["runs"])}),
        [
            use_table("reads", read, "dataset"),
            use_table("writes", written, "dataset"),
            *steps.trees(task.name, steps.of_task, 1),
            Table("runs", head, [*map(_run_row, task.runs)]),
            *(why_tables(evidence) if with_why else ()),
        ],
        evidence["reasons"],
        question="show",
        data={
            "thing": "task",
            "task": task.name,
            "engines": [*task.engines],
            **about,
            "reads": read,
            "writes": written,
            **steps.reached(task.name),
            "runs": [*map(_run, task.runs)],
            "why": evidence,
        },
    )


def reader_answer(consumer: Consumer) -> Answer:
    """The page of a dashboard, a report or another reader."""
    values = _values(consumer, ("owner", "url", "tags", *_PROMISES))
    about = {"description": consumer.text or None, **values}
    return Answer(
        consumer.name,
        consumer.kind,
        plain_facts(about),
        [Table("reads", ("",), [(str(dataset),) for dataset in sorted(set(consumer.reads))])],
        question="show",
        data={
            "thing": "reader",
            "name": consumer.name,
            "kind": consumer.kind,
            "node_id": consumer.node_id,
            **about,
            "reads": [*map(str, consumer.reads)],
            "columns": [f"{dataset}.{column}" for dataset, column in consumer.columns],
        },
    )


def _about(task: Task, steps: Steps) -> dict[str, Any]:
    """All that people wrote of a task, and the orchestrator's task that runs it."""
    lineage = steps.described.lineage
    parents = (orchestrator_task(run, lineage.history.orchestrator_runs) for run in task.runs)
    run_by = {f"{engine(p.engine)}: {p.dag} / {p.task}" for p in parents if p}
    return {
        **_values(task.info, [field.name for field in fields(task.info)]),
        "run_by": sorted(run_by),
    }


def _values(described: Consumer | TaskInfo, names: Iterable[str]) -> dict[str, Any]:
    """All that is written, and null for what is not."""
    values = {name: getattr(described, name) for name in names}
    return {
        name: [*value] if isinstance(value, tuple) else value or None
        for name, value in values.items()
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "status": run.status.value,
        "started_at": exact_iso(run.started_at),
        "ended_at": exact_iso(run.ended_at),
        "code_version": run.code_version,
        "error": run.error,
    }


def _run_row(run: Run) -> tuple[Cell, ...]:
    times = time_text(run.started_at), str(duration(run.started_at, run.ended_at))
    took = times[1] if run.started_at and run.ended_at else ""
    status = "" if run.status is Status.UNKNOWN else run.status.value
    return run.run_id, times[0], took, status, run.code_version or "", run.error or ""
