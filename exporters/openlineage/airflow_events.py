"""Events after the fact: of each run in Airflow one, with what engines' logs show of it.

A task of Airflow may start runs of several engines, and of several of our tasks: they are one
event, as Airflow's run is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dbt_graft.exporters.openlineage.airflow_runs import airflow_run_of, as_airflow_event
from dbt_graft.exporters.openlineage.events import EventSelection, ExportedEvent
from dbt_graft.exporters.openlineage.facets import Event, Facet
from dbt_graft.exporters.openlineage.runs import task_run_events
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot


def airflow_events(
    snapshot: LineageSnapshot,
    selection: EventSelection | None = None,
    namespace: str = "default",
) -> Iterator[ExportedEvent]:
    """Yield the events, the oldest first.

    Args:
        selection: Its `tasks` and `since`; all events are of runs.
        namespace: The `namespace` in Airflow's section `openlineage`.
    """
    wanted = selection or EventSelection()
    events_by_run: dict[str, list[ExportedEvent]] = defaultdict(list)
    for task in snapshot.lineage.tasks.values():
        if wanted.tasks is not None and task.name not in wanted.tasks:
            continue
        airflow_runs = {
            str(snapshot.run_id(run)): of_airflow
            for run in task.runs
            if (of_airflow := airflow_run_of(run, snapshot.lineage.orchestrator_runs, namespace))
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
        for name, facet in facets.items():
            first = merged.get(name)
            if first is None:
                merged[name] = facet
            elif name == "sql":
                merged[name] = {**first, "query": f"{first['query']};\n{facet['query']}"}
            elif name == "lineage":
                merged[name] = {**first, "entries": [*first["entries"], *facet["entries"]]}
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
