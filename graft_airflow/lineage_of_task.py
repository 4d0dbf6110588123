"""The collected lineage of the Airflow task at hand, and from when it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graft_airflow.document import MatchedTask, match, read_document, text_of
from graft_airflow.errors import failure, warn_once
from graft_airflow.settings import settings

PARAMETER = "graft_task"


@dataclass(frozen=True)
class KnownLineage:
    """The collected lineage of an Airflow task.

    Attributes:
        task: The task of ours that it runs; None if none is known.
        as_of: When the lineage was collected, in ISO 8601; empty if that is not known.
        problem: Why nothing is known, if something is wrong; empty else.
    """

    task: MatchedTask | None = None
    as_of: str = ""
    problem: str = ""


def lineage_of(operator: Any) -> KnownLineage:
    """The lineage of an operator's task. Never raises: what is wrong is logged once, and a result.

    Args:
        operator: An operator of Airflow, or any object with `dag_id`, `task_id` and `params`.
    """
    try:
        document = read_document(settings())
        matched_task = match(
            document,
            text_of(getattr(operator, "dag_id", "")),
            text_of(getattr(operator, "task_id", "")),
            _named_task(operator),
        )
        return KnownLineage(matched_task, document.as_of)
    except Exception as error:
        problem = failure(error)
        warn_once(f"graft_airflow: no collected lineage in events: {problem}")
        return KnownLineage(problem=problem)


def _named_task(operator: Any) -> str:
    """The task that the DAG names in `params`; empty where it does not."""
    params = getattr(operator, "params", None)
    if params is None or PARAMETER not in params:
        return ""
    return text_of(params[PARAMETER])
