"""RunEvents: a START and an end of each run of a task, and of each dbt model in an invocation.

A run whose log does not show how it ended has a RUNNING event instead of an end; one without a
known start has the end alone. START has what is known of a run before it begins, and no datasets:
without the facet `lineage` they would say that each input goes into each output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache, partial
from typing import Any

from dbt_graft.exporters.openlineage.datasets import lifecycle
from dbt_graft.exporters.openlineage.facets import (
    Event,
    Facet,
    event,
    facet,
    identity,
    without_none,
)
from dbt_graft.exporters.openlineage.jobs import definition_facets, task_facets
from dbt_graft.exporters.openlineage.run_facets import extraction_error, run_facets, version_facets
from dbt_graft.exporters.openlineage.run_work import (
    AccessCounts,
    Counts,
    RunWork,
    run_work,
    work_facets,
)
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.openlineage import JobId, dbt_job
from dbt_graft.lineage.records import Direction, NodeResult, Run, Status

_ENDS = {Status.OK: "COMPLETE", Status.FAILED: "FAIL", Status.UNKNOWN: "RUNNING"}
# dbt's word for a node that it did not run.
_SKIPPED = "skipped"


def task_run_events(
    snapshot: LineageSnapshot, task: Task, since: datetime | None = None
) -> Iterator[Event]:
    """Yield the events of the runs of a task, the oldest first.

    Args:
        since: Only of runs that ended, or were seen last, at this time or later.
    """
    usages = snapshot.usages_by_run(task)
    facets_of = cache(partial(work_facets, snapshot, task.name))
    for run in reversed(task.runs):
        run_usages = usages.get((run.engine, run.run_id), ())
        ended = _last_time(snapshot, run)
        if ended is None or (since and ended < since):
            continue
        work = run_work(snapshot, run, run_usages, facets_of)
        job = snapshot.job_of_run(run)
        facets = task_facets(task, run.engine, job, run.code_version)
        yield from _events(snapshot, run, ended, job, facets, work)


def dbt_run_events(
    snapshot: LineageSnapshot, definition: Definition, since: datetime | None = None
) -> Iterator[Event]:
    """Yield the events of a dbt model in the invocations of dbt that ran it, the oldest first."""
    description = snapshot.descriptions.get(definition.dataset)
    facets = definition_facets(definition, description)
    reads = tuple(dataset for dataset in definition.reads if dataset != definition.dataset)
    shared = work_facets(snapshot, definition.name, reads, (definition.dataset,), ())
    for result in reversed(snapshot.lineage.dbt.node_results.get(definition.name, ())):
        ended = result.ended_at or result.started_at
        if ended is None or (since and ended < since) or result.word == _SKIPPED:
            continue
        work = RunWork(
            inputs=reads,
            outputs={definition.dataset: (definition.operation,)},
            facets=shared,
            counts={(definition.dataset, Direction.WRITE): AccessCounts(result.rows)},
        )
        run, job = _dbt_run(result), dbt_job(definition.name, snapshot.namespace)
        yield from _events(snapshot, run, ended, job, facets, work)


def _dbt_run(result: NodeResult) -> Run:
    """A node of an invocation as a run; the invocation's id is that of all its nodes."""
    return Run(
        run_id=f"invocation {result.invocation_id}",
        task=result.node_id,
        engine="dbt",
        started_at=result.started_at,
        ended_at=result.ended_at,
        status=result.status,
        error=result.error if result.status is Status.FAILED else None,
        parent_run_id=result.invocation_id,
    )


def _events(
    snapshot: LineageSnapshot,
    run: Run,
    ended: datetime,
    job: JobId,
    job_facets: Mapping[str, Facet],
    work: RunWork,
) -> Iterator[Event]:
    run_id = str(snapshot.run_id(run))
    facets = run_facets(snapshot, run)
    if run.started_at:
        yield event(
            "RunEvent",
            run.started_at,
            eventType="START",
            run={"runId": run_id, "facets": facets},
            job={**identity(job), "facets": _identifying(job_facets)},
            inputs=[],
            outputs=[],
        )
    if run.status is Status.FAILED and run.error:
        language = "JAVA" if run.engine == "spark" else "SQL"
        error = facet("ErrorMessageRunFacet", message=run.error, programmingLanguage=language)
        facets = {**facets, "errorMessage": error}
    if extraction := extraction_error(snapshot, run, work.shapes):
        facets = {**facets, "extractionError": extraction}
    statement_facets = {"sql": work.facets.sql, "lineage": work.facets.lineage}
    yield event(
        "RunEvent",
        ended,
        eventType=_ENDS[run.status],
        run={"runId": run_id, "facets": facets},
        job={**identity(job), "facets": {**job_facets, **without_none(statement_facets)}},
        inputs=[_input(snapshot, dataset, work.counts) for dataset in work.inputs],
        outputs=list(_outputs(snapshot, work)),
    )


def _identifying(job_facets: Mapping[str, Facet]) -> dict[str, Facet]:
    """The facets by which a reader knows which task a job is."""
    return {name: job_facets[name] for name in ("jobType", "tags") if name in job_facets}


def _input(snapshot: LineageSnapshot, dataset: DatasetId, counts: Counts) -> dict[str, Any]:
    counted = counts.get((dataset, Direction.READ), AccessCounts())
    statistics = counted.facet("InputStatisticsInputDatasetFacet")
    facets = {"inputStatistics": statistics} if statistics else {}
    facets |= counted.in_datasets(Direction.READ)
    return without_none(
        {
            **identity(dataset),
            "facets": {**snapshot.facets_in_runs(dataset), **version_facets(counted.positions)},
            "inputFacets": facets or None,
        }
    )


def _outputs(snapshot: LineageSnapshot, work: RunWork) -> Iterator[dict[str, Any]]:
    former = snapshot.lineage.names.former
    for dataset, operations in work.outputs.items():
        counted = work.counts.get((dataset, Direction.WRITE), AccessCounts())
        statistics = counted.facet("OutputStatisticsOutputDatasetFacet")
        facets = {
            "columnLineage": work.facets.columns.get(dataset),
            "lifecycleStateChange": lifecycle(operations, former.get(dataset, ())),
        }
        of_output = {"outputStatistics": statistics} if statistics else {}
        of_output |= counted.in_datasets(Direction.WRITE)
        yield without_none(
            {
                **identity(dataset),
                "facets": {
                    **snapshot.facets_in_runs(dataset),
                    **without_none(facets),
                    **version_facets(counted.positions),
                },
                "outputFacets": of_output or None,
            }
        )


def _last_time(snapshot: LineageSnapshot, run: Run) -> datetime | None:
    """The end of a run, or the last time that the log shows it; None where it has no time."""
    accesses = snapshot.accesses_by_run.get((run.task, run.run_id), ())
    times = [at for at in (run.started_at, *(access.last_at for access in accesses)) if at]
    return run.ended_at or max(times, default=None)
