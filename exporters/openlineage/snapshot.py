"""The lineage of a store at one time, as the events need it: by task and by run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from uuid import UUID

from dbt_graft.exporters.openlineage.datasets import facets_in_runs
from dbt_graft.exporters.openlineage.facets import Facet
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.gaps import rejects_by_log
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.openlineage import NAMESPACE, JobId, parse_job, run_uuid, task_job
from dbt_graft.lineage.records import Access, ColumnEdge, Run
from dbt_graft.lineage.usage import Usage

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class LineageSnapshot:
    """The lineage, and what of the store's records it does not have.

    Attributes:
        at: The time of what has no time of its own.
        accesses: Those of the store, for what single runs did; of events each once.
        namespace: The namespace of our jobs.
    """

    lineage: Lineage
    at: datetime
    descriptions: Mapping[DatasetId, Description] = field(default_factory=dict)
    accesses: Sequence[Access] = ()
    namespace: str = NAMESPACE

    def job(self, task: Task) -> JobId:
        """The job of a task: that of its runs if all have the same, else one of our own."""
        jobs = {run.job for run in task.runs}
        [job] = jobs if len(jobs) == 1 else [None]
        return (parse_job(job) if job else None) or task_job(task.name, self.namespace)

    def job_of_run(self, run: Run) -> JobId:
        """The job of a run: its own, or that of its task."""
        job = parse_job(run.job) if run.job else None
        return job or task_job(run.task, self.namespace)

    def run_id(self, run: Run) -> UUID:
        """The id of a run."""
        return run_uuid(run.task, run.engine, run.run_id, self.namespace)

    @cached_property
    def parents(self) -> Mapping[str, Run]:
        """The runs by their id in the store; of several that of an orchestrator."""
        runs = dict(self.lineage.history.orchestrator_runs)
        for task in self.lineage.tasks.values():
            for run in task.runs:
                runs.setdefault(run.run_id, run)
        return runs

    @cached_property
    def flows(self) -> Mapping[str, Sequence[Flow]]:
        """Task or definition -> its flows."""
        return group_by_key((flow.task, flow) for flow in self.lineage.flows)

    @cached_property
    def edges(self) -> Mapping[str, Sequence[ColumnEdge]]:
        """Task or definition -> its column edges."""
        return group_by_key((edge.task, edge) for edge in self.lineage.column_edges)

    @cached_property
    def rejects(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Task and log -> the rejected records that are the task's, by reason."""
        return rejects_by_log(self.lineage)

    def usages_by_run(self, task: Task) -> Mapping[tuple[str, str], Sequence[Usage]]:
        """Engine and run id -> the usages of a task that the run had."""
        return group_by_key(
            ((usage.engine, run_id), usage) for usage in task.usages for run_id in usage.run_ids
        )

    @cached_property
    def accesses_by_run(self) -> Mapping[tuple[str, str], Sequence[Access]]:
        """Task and run id -> what the run did, in the order of its statements."""
        accesses = group_by_key(((access.task, access.run_id), access) for access in self.accesses)
        for run_accesses in accesses.values():
            run_accesses.sort(key=_order)
        return accesses

    def facets_in_runs(self, dataset: DatasetId) -> Mapping[str, Facet]:
        """The facets of a dataset that each run has which uses it, made once."""
        if dataset not in self._facets_in_runs:
            self._facets_in_runs[dataset] = facets_in_runs(self.lineage, dataset)
        return self._facets_in_runs[dataset]

    @cached_property
    def _facets_in_runs(self) -> dict[DatasetId, Mapping[str, Facet]]:
        return {}

    def present_name(self, dataset: DatasetId) -> DatasetId:
        """The name that a dataset of the logs has in the lineage."""
        return self._present_names.get(dataset, dataset)

    @cached_property
    def _present_names(self) -> Mapping[DatasetId, DatasetId]:
        lineage = self.lineage
        names: dict[DatasetId, DatasetId] = {}
        for dataset in lineage.datasets.values():
            names.update(dict.fromkeys(dataset.symlinks, dataset.id))
        for other_names in (lineage.names.former, lineage.names.aliases):
            for dataset_id, others in other_names.items():
                names.update(dict.fromkeys(others, dataset_id))
        names.update({dataset: dataset for dataset in lineage.datasets})
        return names


def _order(access: Access) -> tuple[datetime, str, str, tuple[str, str]]:
    at = access.first_at or _BEGINNING
    return (at, access.shape_id, access.direction, access.dataset.key)
