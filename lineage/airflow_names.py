"""Names of runs of Airflow, as a task hands them on to what it starts.

| name | written by |
|---|---|
| `run id` | the macro `lineage_run_id` of Airflow's OpenLineage provider |
| `namespace/dag.task/run id` | its macro `lineage_parent_id` |
| `dag/task/try/logical date`, and `/map index` of a mapped task | a template without the provider |

Airflow makes its run ids of the last one and of its namespace, so each of them names one try.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from dbt_graft.lineage.openlineage import JobId, airflow_task_run_id, parse_job

# A DAG's and a task's id hold no slash; the date has an offset or is in UTC, `Z`.
_TRY = re.compile(
    r"(?P<dag>[^/]+)/(?P<task>[^/]+)/(?P<try>\d{1,4})/(?P<date>\d{4}-[^/]{6,40})(/(?P<map>\d{1,6}))?"
)
_SEPARATOR = "::"


def task_of_instance(name: str) -> str:
    """The task of an instance of a mapped task: of `part[1]` it is `part`."""
    return name.partition("[")[0]


class TaskTry(NamedTuple):
    """One try of a task in Airflow, by what its run id is made of.

    Attributes:
        task_id: With its groups: `raw.load_orders`.
        logical_date: The `run_after` of a DAG run that has no logical date.
        map_index: -1 where the task is not mapped.
    """

    dag_id: str
    task_id: str
    try_number: int
    logical_date: datetime
    map_index: int = -1

    @property
    def job_name(self) -> str:
        """Its job in OpenLineage."""
        return f"{self.dag_id}.{self.task_id}"

    def run_id(self, namespace: str) -> UUID:
        """Its run id in OpenLineage.

        Args:
            namespace: The `namespace` in Airflow's section `openlineage`, `default` if not set.
        """
        return airflow_task_run_id(
            *(namespace, self.dag_id, self.task_id),
            *(self.try_number, self.map_index, self.logical_date),
        )


class ParentId(NamedTuple):
    """The job of a task and the id of its run, as `lineage_parent_id` writes them."""

    job: JobId
    run_id: UUID


def task_try(name: str) -> TaskTry | None:
    """The try in `dag/task/try/logical date`; None for another name."""
    match = _TRY.fullmatch(name)
    try:
        at = datetime.fromisoformat(match["date"]) if match else None
    except ValueError:
        at = None
    if match is None or at is None or at.tzinfo is None:
        return None
    index = int(match["map"]) if match["map"] else -1
    return TaskTry(match["dag"], match["task"], int(match["try"]), at, index)


def parent_id(name: str) -> ParentId | None:
    """The job and the run in `namespace/dag.task/run id`; None for another name."""
    head, _, last = name.rpartition("/")
    run_id, job = uuid(last), parse_job(head)
    return ParentId(job, run_id) if run_id and job and "." in job.name else None


def split_run(name: str) -> tuple[str, str | None]:
    """The task and the run of Airflow in `task::run`; the name as it is if it names no run."""
    task, mark, run = name.strip().rpartition(_SEPARATOR)
    if mark and task and (uuid(run) or parent_id(run) or task_try(run)):
        return task, run
    return name, None


def uuid(text: str) -> UUID | None:
    """The UUID that a text is; None for another text."""
    try:
        return UUID(text)
    except ValueError:
        return None
