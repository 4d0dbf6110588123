"""A policy that gives tasks the collected lineage as inlets and outlets, without columns.

For those who cannot set `[openlineage] extractors`. In `airflow_local_settings.py`:

    from graft_airflow import task_policy
"""

from __future__ import annotations

from typing import Any

from graft_airflow.document import objects_of, text_of
from graft_airflow.errors import failure, warn_once
from graft_airflow.lineage_of_task import lineage_of


def task_policy(task: Any) -> None:
    """Add to an operator's inlets and outlets what its task was seen to read and write.

    Never raises: a policy that does keeps its DAG from loading.
    """
    try:
        lineage = lineage_of(task)
        if lineage.task:
            task.inlets = _add_datasets(task.inlets, lineage.task.content.get("inputs"))
            task.outlets = _add_datasets(task.outlets, lineage.task.content.get("outputs"))
    except Exception as error:
        warn_once(f"graft_airflow: the task policy failed for a task: {failure(error)}")


def _add_datasets(declared: Any, entries: Any) -> list[Any]:
    """The declared entries, and after them the datasets that they do not have."""
    from openlineage.client.event_v2 import Dataset

    here = list(declared or ())
    keys = {(getattr(dataset, "namespace", ""), getattr(dataset, "name", "")) for dataset in here}
    for entry in objects_of(entries):
        key = (text_of(entry.get("namespace")), text_of(entry.get("name")))
        if all(key) and key not in keys:
            keys.add(key)
            here.append(Dataset(namespace=key[0], name=key[1]))
    return here
