"""Events after the fact: of each run in Airflow one, with what engines' logs show of it.

A task in Airflow knows of itself that it ran. What it read and wrote is known when the logs of its
engine are collected: hours later, and for its very run. An event under Airflow's own run id adds
that to the run that receivers already have. A task of Airflow may start runs of several engines,
and of several of our tasks: they are one event, as Airflow's run is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from uuid import UUID

from dbt_graft.exporters.openlineage.events import EventSelection, ExportedEvent
from dbt_graft.exporters.openlineage.facets import (
    GRAFT,
    GRAFT_SCHEMA,
    PRODUCER,
    Event,
    Facet,
    facet,
    identity,
    timestamp,
)
from dbt_graft.exporters.openlineage.runs import task_run_events
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.airflow_names import parent_id, task_try, uuid
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.openlineage import JobId, parse_job
from dbt_graft.lineage.records import Run, Status

_AIRFLOW = "airflow"
# What Airflow emits itself, and knows better.
_AIRFLOWS_RUN_FACETS = frozenset({"parent", "processing_engine", "nominalTime", "tags"})
_JOB_FACETS = frozenset({"lineage", "sql"})
# The end of Airflow's run is repeated: receivers take another type for a run that goes on.
_ENDS = {Status.OK: "COMPLETE", Status.FAILED: "FAIL"}


@frozen
class AirflowRun:
    """A run of a task in Airflow, one try of it, as its events name it.

    Attributes:
        status, ended_at: How and when it ended, if its events are collected.
    """

    run_id: UUID
    job: JobId
    status: Status = Status.UNKNOWN
    ended_at: datetime | None = None


def airflow_run_of(
    run: Run, orchestrator_runs: Mapping[str, Run], namespace: str = "default"
) -> AirflowRun | None:
    """The run of Airflow that did, or started, a run of an engine; None if nothing shows one.

    The task may have passed it on as its run, or as the run's parent: as Airflow's run id, whose
    events are collected, or as another name of `lineage.airflow_names`.
    """
    if run.engine == _AIRFLOW:  # what it did, Airflow says itself
        return None
    for name in filter(None, (run.parent_run_id, run.run_id)):
        orchestrator_run = orchestrator_runs.get(name)
        airflow_run = (
            _collected_run(orchestrator_run) if orchestrator_run else _named_run(name, namespace)
        )
        if airflow_run:
            return airflow_run
    return None


def _collected_run(run: Run) -> AirflowRun | None:
    job, run_id = parse_job(run.job or ""), uuid(run.run_id)
    if run.engine != _AIRFLOW or not job or not run_id or not _is_of_task(run, job):
        return None
    return AirflowRun(run_id, job, run.status, run.ended_at)


def _named_run(name: str, namespace: str) -> AirflowRun | None:
    """The run of Airflow that a text names by all that belongs to it."""
    if parent := parent_id(name):
        return AirflowRun(parent.run_id, parent.job)
    attempt = task_try(name)
    return (
        AirflowRun(attempt.run_id(namespace), JobId(namespace, attempt.job_name))
        if attempt
        else None
    )


def _is_of_task(run: Run, job: JobId) -> bool:
    """Whether a run of Airflow is that of a task, `dag/task/run`, and not of a DAG, `dag/run`."""
    names = (run.application_id or "").split("/")
    return len(names) > 2 if run.application_id else "." in job.name


def as_airflow_event(event: Event, run: AirflowRun, as_of: datetime) -> Event | None:
    """The event of the end of a run, as one of Airflow's run that did it; None for another event.

    Airflow's own facets of run and job stay as Airflow emitted them: of the job there is only the
    lineage that was observed, of the run an error, and `graft`, which tells who added it.
    """
    kind = event.get("eventType")
    if kind not in ("COMPLETE", "FAIL"):
        return None
    facets = event["run"].get("facets", {})
    job_facets = event["job"].get("facets", {})
    graft_facet = {"_producer": PRODUCER, "_schemaURL": GRAFT_SCHEMA, "asOf": timestamp(as_of)}
    return {
        **event,
        "eventTime": timestamp(run.ended_at) if run.ended_at else event["eventTime"],
        "eventType": _ENDS.get(run.status, kind),
        "run": {
            "runId": str(run.run_id),
            "facets": {
                **{k: v for k, v in facets.items() if k not in _AIRFLOWS_RUN_FACETS},
                GRAFT: {**graft_facet, "matchedBy": "run"},
            },
        },
        "job": {
            **identity(run.job),
            "facets": {
                **{k: v for k, v in job_facets.items() if k in _JOB_FACETS},
                # As Airflow has it: readers know by it whose job this is.
                "jobType": facet(
                    "JobTypeJobFacet",
                    processingType="BATCH",
                    integration="AIRFLOW",
                    jobType="TASK",
                ),
            },
        },
    }


def airflow_events(
    snapshot: LineageSnapshot,
    selection: EventSelection | None = None,
    namespace: str = "default",
) -> Iterator[ExportedEvent]:
    """Yield the events, the oldest first."""
    wanted = selection or EventSelection()
    events_by_run: dict[str, list[ExportedEvent]] = defaultdict(list)
    for task in snapshot.lineage.tasks.values():
        if wanted.tasks is not None and task.name not in wanted.tasks:
            continue
        airflow_runs = {
            str(snapshot.run_id(run)): of_airflow
            for run in task.runs
            if (
                of_airflow := airflow_run_of(
                    run, snapshot.lineage.history.orchestrator_runs, namespace
                )
            )
        }
        for event in task_run_events(snapshot, task, wanted.since) if airflow_runs else ():
            run = airflow_runs.get(event["run"]["runId"])
            if run and (airflow_event := as_airflow_event(event, run, snapshot.at)):
                events_by_run[str(run.run_id)].append(ExportedEvent(task.name, airflow_event))
    merged_events = [
        ExportedEvent(
            exported_events[0].task, _merge_events([exported.event for exported in exported_events])
        )
        for exported_events in events_by_run.values()
    ]
    yield from sorted(
        merged_events,
        key=lambda exported: (exported.event["eventTime"], exported.event["run"]["runId"]),
    )


def _merge_events(events: list[Event]) -> Event:
    """One event of those of one run: the last, with the datasets and facets of all."""
    last = max(events, key=lambda event: (event["eventType"] == "FAIL", event["eventTime"]))
    if len(events) == 1:
        return last
    run_facets: Facet = {}
    for event in events:
        run_facets |= event["run"]["facets"]
    return {
        **last,
        "run": {**last["run"], "facets": run_facets},
        "job": {**last["job"], "facets": _job_facets(event["job"]["facets"] for event in events)},
        "inputs": _datasets(event["inputs"] for event in events),
        "outputs": _datasets(event["outputs"] for event in events),
    }


def _job_facets(groups: Iterable[Facet]) -> Facet:
    """The statements of all, one after the other, and all entries of lineage."""
    merged: Facet = {}
    for facets in groups:
        for name, other in facets.items():
            first = merged.get(name)
            if first is None:
                merged[name] = other
            elif name == "sql":
                merged[name] = {**first, "query": f"{first['query']};\n{other['query']}"}
            elif name == "lineage":
                merged[name] = {**first, "entries": [*first["entries"], *other["entries"]]}
    return merged


def _datasets(groups: Iterable[list[Event]]) -> list[Event]:
    """The datasets of all, each once, with the facets of all; of two of a name the first one's."""
    merged: dict[tuple[str, str], Event] = {}
    for dataset in (member for group in groups for member in group):
        key = (dataset["namespace"], dataset["name"])
        first = merged.get(key, {})
        facets = {
            part: {**dataset[part], **first.get(part, {})}
            for part in ("facets", "inputFacets", "outputFacets")
            if part in dataset
        }
        merged[key] = {**dataset, **first, **facets}
    return list(merged.values())
