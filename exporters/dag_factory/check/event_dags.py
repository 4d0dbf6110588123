"""DAGs from the OpenLineage events that Airflow sent while it ran them, whoever wrote them.

The start of a DAG's run has all its tasks in the job facet `airflow`, and in `jobDependencies` the
tasks whose assets started it. A task's events have its own part: `airflow dags test` sends no more.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_graft.exporters.dag_factory.check.scheduled import (
    ScheduledDag,
    ScheduledTask,
    TaskKey,
    links_between_dags,
    upstream_by_rule,
)

_ANY = ("asset_any", "dataset_any")
_LONGEST = 1_000_000  # a text longer than this is not read as a list


@dataclass
class _SeenDag:
    """A DAG as its events show it; of each part the newest."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    facts_at: str = ""
    tasks: Mapping[str, Any] = field(default_factory=dict)
    tasks_at: str = ""
    task_facets: dict[str, tuple[str, Mapping[str, Any], str]] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    starts_after: dict[TaskKey, None] = field(default_factory=dict)


def event_dags(events: Iterable[Any]) -> tuple[ScheduledDag, ...]:
    """The DAGs that events of Airflow show, sorted; other events are passed over."""
    dags: dict[str, _SeenDag] = defaultdict(_SeenDag)
    for event in events:
        at = str(_get(event, "eventTime") or "")
        run, job = _get(event, "run", "facets"), _get(event, "job", "facets")
        _add_task(dags, at, _get(run, "airflow"), _get(job, "sourceCode", "sourceCode"))
        _add_sensor(dags, _get(run, "airflow"), _get(event, "inputs"))
        _add_dag(dags, at, run, job)
    return tuple(_dag(dag_id, dags[dag_id]) for dag_id in sorted(dags))


def _add_task(dags: dict[str, _SeenDag], at: str, facet: Any, code: Any) -> None:
    dag_id, task_id = _get(facet, "dag", "dag_id"), _get(facet, "task", "task_id")
    if not isinstance(dag_id, str) or not isinstance(task_id, str):
        return
    dag = dags[dag_id]
    if at >= dag.facts_at:
        dag.facts, dag.facts_at = facet["dag"], at
    last_at, _, command = dag.task_facets.get(task_id, ("", {}, ""))
    if at >= last_at:
        # Only the start has the command.
        dag.task_facets[task_id] = (at, facet["task"], code if isinstance(code, str) else command)


def _add_sensor(dags: dict[str, _SeenDag], facet: Any, inputs: Any) -> None:
    """The dataset that a sensor on lineage waits for: its input, or as its id has it."""
    dag_id, task_id = _get(facet, "dag", "dag_id"), _get(facet, "task", "task_id")
    if _get(facet, "task", "operator_class") != "LineageSensor" or not isinstance(task_id, str):
        return
    first = inputs[0] if isinstance(inputs, list) and inputs else None
    namespace, name = _get(first, "namespace"), _get(first, "name")
    dataset = f"{namespace}/{name}" if namespace and name else task_id.rpartition(".")[2]
    dags[str(dag_id)].inputs[task_id] = dataset


def _add_dag(dags: dict[str, _SeenDag], at: str, run: Any, job: Any) -> None:
    dag_id = _get(run, "airflowDagRun", "dag", "dag_id")
    if not isinstance(dag_id, str):
        return
    dag = dags[dag_id]
    if at >= dag.facts_at:
        dag.facts, dag.facts_at = run["airflowDagRun"]["dag"], at
    tasks = _get(job, "airflow", "tasks")
    if isinstance(tasks, dict) and at >= dag.tasks_at:
        dag.tasks, dag.tasks_at = tasks, at
    upstream = _get(run, "jobDependencies", "upstream")
    for dependency in upstream if isinstance(upstream, list) else ():
        name = _get(dependency, "job", "name")
        if isinstance(name, str) and name:
            other, _, task = name.partition(".")
            dag.starts_after[other, task] = None


def _dag(dag_id: str, dag: _SeenDag) -> ScheduledDag:
    place = str(_get(dag.facts, "fileloc") or "")
    upstream: dict[str, set[str]] = defaultdict(set)
    for task_id, task_facts in dag.tasks.items():
        for child in _names(_get(task_facts, "downstream_task_ids")):
            upstream[child].add(task_id)
    task_ids: set[str] = set(dag.tasks)
    for task_id, (at, facet, _) in dag.task_facets.items():
        # A task that an older version of the DAG had is gone.
        if not dag.tasks or task_id in dag.tasks or at > dag.tasks_at:
            task_ids.add(task_id)
            if task_id not in dag.tasks:
                upstream[task_id].update(_names(_get(facet, "upstream_task_ids")))
                # One that does nothing sends no events.
                task_ids.update(upstream[task_id], _names(_get(facet, "downstream_task_ids")))
    timetable = _get(dag.facts, "timetable")
    assets = tuple(dict.fromkeys(_uris(timetable)))
    if _get(timetable, "timetable") is not None:
        assets = ()  # a clock starts it, too
    summary = str(
        _get(dag.facts, "timetable_summary") or _get(dag.facts, "schedule_interval") or "None"
    )
    no_clock = ("none", "asset", "dataset", "assets", "datasets", "@once", "never", "null", "")
    return ScheduledDag(
        dag_id,
        tuple(
            _task(dag_id, task_id, sorted(upstream[task_id]), dag, place)
            for task_id in sorted(task_ids)
        ),
        schedule="" if assets or summary.strip().lower() in no_clock else summary.strip(),
        assets=assets,
        starts_after=tuple(dag.starts_after),
    )


def _task(
    dag_id: str, task_id: str, upstream: Iterable[str], dag: _SeenDag, place: str
) -> ScheduledTask:
    _, facet, command = dag.task_facets.get(task_id, ("", {}, ""))
    waits, triggers, awaits = links_between_dags(facet, _names)
    return ScheduledTask(
        dag_id,
        task_id,
        upstream_by_rule(tuple(upstream), _get(facet, "trigger_rule")),
        command=command,
        announces=tuple(dict.fromkeys(_uris(_list(_get(facet, "outlets"))))),
        dataset=dag.inputs.get(task_id, ""),
        waits_for=waits,
        triggers=triggers,
        awaits=awaits,
        place=place,
    )


def _get(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _list(value: Any) -> Any:
    """A list that Airflow sent as text: `"['a', 'b']"`."""
    if isinstance(value, str) and value.startswith("[") and len(value) < _LONGEST:
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return []
    return value


def _names(value: Any) -> list[str]:
    value = _list(value)
    if isinstance(value, str):
        return [value]
    return [str(name) for name in value] if isinstance(value, list) else []


def _uris(value: Any) -> Iterator[str]:
    waiting, steps = [value], 0
    while waiting and steps < _LONGEST:
        steps += 1
        entry = waiting.pop()
        if isinstance(entry, list):
            waiting += entry
        elif isinstance(entry, dict):
            objects = entry.get("objects")
            if isinstance(entry.get("uri"), str):
                yield entry["uri"]
            # Any of several is enough: it needs none of them.
            elif not (entry.get("__type") in _ANY and isinstance(objects, list) and objects[1:]):
                waiting += entry.values()
