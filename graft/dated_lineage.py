"""The lineage with all accesses in the store, for commands that ask about dates of data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbt_graft.collectors import store
from dbt_graft.exporters.dag_factory.operators import selections
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.reprocessing.commands import RerunSettings
from dbt_graft.graft import pipeline
from dbt_graft.graft.config import Config
from dbt_graft.graft.progress import Progress
from dbt_graft.graft.sources import declared_dates, task_infos
from dbt_graft.lineage.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.states.access_history import AccessHistory


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
        return {one: about.owner for one, about in self.descriptions.items() if about.owner}


def dated_lineage(config: Config) -> DatedLineage:
    """The lineage in the store, with dbt's if there are artifacts, and the taints on record.

    Raises:
        GraftError: Nothing was collected yet.
    """
    place = config.path(config.store)
    if store.collected_at(place) is None:
        raise GraftError(
            "there is no lineage: nothing was collected yet",
            place=place,
            remedy="run `graft collect`",
        )
    taints = store.recorded_taints(place)
    version = config.airflow.version
    if not (config.target_dir / "manifest.json").exists():
        lineage = build(
            store.read(place, results=True, folded=False),
            config.name_rules,
            task_infos(config),
            failed=config.lineage.failed,
            shards=config.date_shards,
            dates=declared_dates(config),
            ignore=config.lineage.ignore_tasks,
        )
        rerun = RerunSettings(lineage.orchestrator_runs, airflow=version)
        return DatedLineage(AccessHistory(replace(lineage, taints=taints)), (), {}, rerun)
    quiet = Progress(quiet=True)
    grafted = pipeline.graft(
        config, quiet, write=False, allow_empty=True, results=True, every_run=True
    )
    lineage = grafted.lineage
    order = demanded_order(lineage, grafted.descriptions)
    nodes = grafted.manifest.get("nodes") or {}
    microbatch = {
        name
        for name, node in nodes.items()
        if (node.get("config") or {}).get("incremental_strategy") == "microbatch"
    }
    rerun = RerunSettings(
        lineage.orchestrator_runs, selections(order), frozenset(microbatch), version
    )
    return DatedLineage(
        AccessHistory(replace(lineage, taints=taints)),
        grafted.consumers,
        grafted.descriptions,
        rerun,
    )
