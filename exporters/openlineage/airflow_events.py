"""Events after the fact: of each run in Airflow one, with what engines' logs show of it.

A task of Airflow may start runs of several engines, and of several of our tasks: they are one
event, as Airflow's run is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dbt_graft.exporters.openlineage.airflow_runs import airflow_run_of, under_airflow
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
    found: dict[str, list[ExportedEvent]] = defaultdict(list)
    for task in snapshot.lineage.tasks.values():
        if wanted.tasks is not None and task.name not in wanted.tasks:
            continue
        above = {
            str(snapshot.run_id(run)): of_airflow
            for run in task.runs
            if (of_airflow := airflow_run_of(run, snapshot.lineage.orchestrator_runs, namespace))
        }
        for event in task_run_events(snapshot, task, wanted.since) if above else ():
            run = above.get(event["run"]["runId"])
            if run and (made := under_airflow(event, run, snapshot.at)):
                found[str(run.run_id)].append(ExportedEvent(task.name, made))
    together = [
        ExportedEvent(of_run[0].task, _together([one.event for one in of_run]))
        for of_run in found.values()
    ]
    yield from sorted(together, key=lambda one: (one.event["eventTime"], one.event["run"]["runId"]))


def _together(events: list[Event]) -> Event:
    """One event of those of one run: the last, with the datasets and facets of all."""
    last = max(events, key=lambda one: (one["eventType"] == "FAIL", one["eventTime"]))
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
    found: Facet = {}
    for facets in groups:
        for name, facet in facets.items():
            known = found.get(name)
            if known is None:
                found[name] = facet
            elif name == "sql":
                found[name] = {**known, "query": f"{known['query']};\n{facet['query']}"}
            elif name == "lineage":
                found[name] = {**known, "entries": [*known["entries"], *facet["entries"]]}
    return found


def _datasets(groups: Iterable[list[Event]]) -> list[Event]:
    """The datasets of all, each once, with the facets of all; of two of a name the first one's."""
    found: dict[tuple[str, str], Event] = {}
    for dataset in (one for group in groups for one in group):
        key = (dataset["namespace"], dataset["name"])
        known = found.get(key, {})
        facets = {
            part: {**dataset[part], **known.get(part, {})}
            for part in ("facets", "inputFacets", "outputFacets")
            if part in dataset
        }
        found[key] = {**dataset, **known, **facets}
    return list(found.values())
