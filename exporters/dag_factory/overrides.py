"""Additions that people make to exported DAGs, in dag-factory's own keys.

Mappings are merged, lists grow, another value takes the place of ours, and null takes a key out.
Tasks and task groups are merged by their ids; one that is not there is added. So no dependency that
lineage demands gets lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.lineage.graph import Graph

Documents = Mapping[str, Mapping[str, Any]]
# The lists of a DAG that are merged by id -> the key that has it.
_BY_ID = {"tasks": "task_id", "task_groups": "group_name"}


def override(
    documents: Documents, overrides: Documents
) -> tuple[dict[str, Mapping[str, Any]], list[Finding]]:
    """The DAGs with their overrides, without those that an override breaks; and what is wrong.

    Args:
        documents: Id of a DAG -> its keys, as `document.documents` makes them.
        overrides: Id of a DAG -> the keys that people write.
    """
    merged = {
        dag_id: _merge_dag(document, overrides.get(dag_id, {}))
        for dag_id, document in documents.items()
    }
    faults = {dag_id: list(_faults(merged[dag_id])) for dag_id in documents if dag_id in overrides}
    faults |= {
        dag_id: [f"there is no DAG of this id: there is {', '.join(documents) or 'none'}"]
        for dag_id in overrides
        if dag_id not in documents
    }
    return (
        {dag_id: document for dag_id, document in merged.items() if not faults.get(dag_id)},
        [_finding(dag_id, problem) for dag_id in sorted(faults) for problem in faults[dag_id]],
    )


def added_tasks(overrides: Documents) -> set[tuple[str, str]]:
    """DAG and id, with that of its group, of each task that overrides bring along."""
    return {
        (
            dag_id,
            f"{group}.{task['task_id']}"
            if (group := task.get("task_group_name"))
            else task["task_id"],
        )
        for dag_id, document in overrides.items()
        for task in document.get("tasks", ())
        if "operator" in task or "decorator" in task
    }


def _merge_dag(document: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in override.items() if key not in _BY_ID}
    merged = {**_merge(document, rest)}
    for section, key in _BY_ID.items():
        if section in override:
            entries = {entry[key]: entry for entry in document.get(section, ())}
            for entry in override[section]:
                entries[entry[key]] = _merge(entries.get(entry[key], {}), entry)
            merged[section] = list(entries.values())
    return merged


def _merge(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**ours}
    for key, value in theirs.items():
        old = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(old, Mapping):
            merged[key] = _merge(old, value)
        elif isinstance(value, list) and isinstance(old, list):
            merged[key] = [*old, *(entry for entry in value if entry not in old)]
        else:
            merged[key] = value
    return merged


def _faults(document: Mapping[str, Any]) -> Iterator[str]:
    """The reasons for which dag-factory would not load a DAG."""
    tasks = {task["task_id"]: task for task in document["tasks"]}
    groups = {group["group_name"] for group in document.get("task_groups", ())}
    edges = []
    for task_id, task in tasks.items():
        if "operator" not in task and "decorator" not in task:
            yield f"{task_id} is not a task of the DAG, and without `operator` it cannot be added"
        if task.get("task_group_name", "") not in {"", *groups}:
            yield f"{task_id} is in {task['task_group_name']}, which is not a task group"
        for dependency in task.get("dependencies", ()):
            if dependency in tasks:
                edges.append((dependency, task_id))
            elif dependency not in groups:
                yield f"{task_id} waits for {dependency}, which is not a task of the DAG"
    for path in Graph(edges, tasks).cycles():
        yield f"its tasks would wait for each other: {' -> '.join([*path, path[0]])}"


def _finding(dag_id: str, problem: str) -> Finding:
    remedy = "correct it in the file that `airflow.overrides` names"
    return Finding("WRONG_OVERRIDE", Severity.ERROR, dag_id, problem, remedy)
