"""The task policy for Airflow's entry point `airflow.policy`, where a setting turns it on.

Airflow imports it as soon as this package is installed: without
`AIRFLOW__GRAFT__TASK_POLICY=True` it does nothing.
"""

from __future__ import annotations

from typing import Any

from airflow.policies import hookimpl

from graft_airflow.errors import failure, warn_once
from graft_airflow.policy import task_policy as _policy
from graft_airflow.settings import settings


@hookimpl  # type: ignore[untyped-decorator]
def task_policy(task: Any) -> None:
    """Add the collected lineage to an operator, if that is wanted."""
    try:
        wanted = settings().task_policy
    except Exception as error:
        warn_once(f"graft_airflow: the task policy is off: {failure(error)}")
        return
    if wanted:
        _policy(task)
