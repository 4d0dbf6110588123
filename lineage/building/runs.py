"""The runs of tasks and of dbt's nodes: one that several logs show is one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from dbt_graft.lineage.records import NodeResult, Run

_BEGINNING = datetime.min.replace(tzinfo=UTC)


def runs_by_task(runs: Iterable[Run]) -> dict[str, tuple[Run, ...]]:
    """For each task its runs, newest first; one that several logs show is one, on each engine."""
    by_task: dict[str, dict[tuple[str, str], Run]] = {}
    for run in runs:
        of_task = by_task.setdefault(run.task, {})
        key = (run.run_id, run.engine)
        earlier = of_task.get(key)
        of_task[key] = merge_run(earlier, run) if earlier else run
    return {
        task: tuple(sorted(of_task.values(), key=_recency, reverse=True))
        for task, of_task in by_task.items()
    }


def results_by_node(results: Iterable[NodeResult]) -> dict[str, tuple[NodeResult, ...]]:
    """For each dbt node its results, newest first, each invocation once."""
    by_node: dict[str, dict[str, NodeResult]] = {}
    for result in results:
        by_node.setdefault(result.node_id, {}).setdefault(result.invocation_id, result)
    return {
        node_id: tuple(sorted(of_node.values(), key=result_recency, reverse=True))
        for node_id, of_node in by_node.items()
    }


def result_recency(result: NodeResult) -> tuple[datetime, str]:
    """A key by which results are sorted, the oldest first."""
    return (result.started_at or _BEGINNING, result.invocation_id)


def merge_run(a: Run, b: Run) -> Run:
    """One run of two logs: the one that reaches furthest decides how it ended."""
    last, first = (b, a) if (b.ended_at or _BEGINNING) > (a.ended_at or _BEGINNING) else (a, b)
    return replace(
        last,
        started_at=min((t for t in (a.started_at, b.started_at) if t), default=None),
        error=last.error if last.error or last.status is not first.status else first.error,
        application_id=a.application_id or b.application_id,
        engine_version=last.engine_version or first.engine_version,
        code_version=a.code_version or b.code_version,
        parent_run_id=a.parent_run_id or b.parent_run_id,
        job=last.job or first.job,
        url=last.url or first.url,
        attempt=last.attempt or first.attempt,
        nominal_start=last.nominal_start or first.nominal_start,
        nominal_end=last.nominal_end or first.nominal_end,
        timezone=last.timezone or first.timezone,
        gaps=tuple(sorted({*a.gaps, *b.gaps})),
    )


def _recency(run: Run) -> tuple[datetime, str]:
    return (run.started_at or _BEGINNING, run.run_id)
