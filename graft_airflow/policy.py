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
        known = lineage_of(task)
        if known.task:
            task.inlets = _with(task.inlets, known.task.content.get("inputs"))
            task.outlets = _with(task.outlets, known.task.content.get("outputs"))
    except Exception as error:
        warn_once(f"graft_airflow: the task policy failed for a task: {failure(error)}")


def _with(declared: Any, entries: Any) -> list[Any]:
    """The declared entries, and after them the datasets that they do not have."""
    from openlineage.client.event_v2 import Dataset

    here = list(declared or ())
    known = {(getattr(one, "namespace", ""), getattr(one, "name", "")) for one in here}
    for one in objects_of(entries):
        key = (text_of(one.get("namespace")), text_of(one.get("name")))
        if all(key) and key not in known:
            known.add(key)
            here.append(Dataset(namespace=key[0], name=key[1]))
    return here
