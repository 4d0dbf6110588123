"""The lineage with all runs around some datasets, for commands that ask about dates of data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.exporters.dag_factory.operators import selections
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.reprocessing.commands import RerunSettings
from dbt_graft.graft.project.project import Project
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.errors import GraftError


@dataclass(frozen=True, slots=True)
class DatedLineage:
    """The lineage with its accesses, and dbt's part.

    Attributes:
        consumers: dbt's exposures and the tasks that only read.
        descriptions: Those of datasets that dbt knows.
        rerun: How tasks run again.
    """

    history: AccessHistory
    consumers: tuple[Consumer, ...]
    descriptions: Mapping[DatasetId, Description]
    rerun: RerunSettings

    @property
    def owners(self) -> dict[DatasetId, str]:
        """The owners of datasets that dbt knows."""
        return {
            dataset: description.owner
            for dataset, description in self.descriptions.items()
            if description.owner
        }


def dated_lineage(
    project: Project, tasks_of: Callable[[AccessHistory], Collection[str]]
) -> DatedLineage:
    """The lineage in the store, with dbt's if there are artifacts, and the taints on record.

    Args:
        tasks_of: The tasks whose runs are all needed, from a history that lacks some of them.

    Raises:
        GraftError: Nothing was collected yet.
    """
    config = project.config
    store_folder = config.path(config.store)
    if collected_at(store_folder) is None:
        raise GraftError(
            "there is no lineage: nothing was collected yet",
            place=store_folder,
            remedy="run `graft collect`",
        )
    described, grafted = project.described_graft(
        runs_of=lambda lineage: tasks_of(AccessHistory(lineage))
    )
    lineage = described.lineage
    rerun = RerunSettings(lineage.history.orchestrator_runs, airflow=config.airflow.version)
    if grafted:
        order = demanded_order(lineage, described.descriptions)
        rerun = replace(rerun, selections=selections(order), microbatch=_microbatch_models(grafted))
    consumers = tuple(described.consumers)
    return DatedLineage(AccessHistory(lineage), consumers, described.descriptions, rerun)


def _microbatch_models(grafted: Grafted) -> frozenset[str]:
    return frozenset(
        name
        for name, node in (grafted.manifest.get("nodes") or {}).items()
        if (node.get("config") or {}).get("incremental_strategy") == "microbatch"
    )
