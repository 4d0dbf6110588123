"""The lineage with all runs around some datasets, for commands that ask about dates of data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.exporters.dag_factory.operators import selections
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.reprocessing.commands import RerunSettings
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.collected import not_collected
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.frozen import frozen


@frozen
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
    asked: AskedLineage, tasks_of: Callable[[AccessHistory], Collection[str]]
) -> DatedLineage:
    """A lineage that was collected, with the taints on record.

    Args:
        tasks_of: The tasks whose runs are all needed, from a history that lacks some of them.

    Raises:
        GraftError: Nothing was collected yet.
    """
    config = asked.config
    if collected_at(config.path(config.store)) is None:
        raise not_collected(config)
    described = asked.with_runs(lambda lineage: tasks_of(AccessHistory(lineage)))
    lineage = described.lineage
    rerun = RerunSettings(
        lineage.history.orchestrator_runs,
        selections(demanded_order(lineage, described.descriptions)),
        frozenset(
            definition.name
            for definition in lineage.definitions.values()
            if definition.by_event_time
        ),
        config.airflow.version,
    )
    consumers = tuple(described.consumers)
    return DatedLineage(AccessHistory(lineage), consumers, described.descriptions, rerun)
