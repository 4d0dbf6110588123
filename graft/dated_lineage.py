"""The lineage with all runs around some datasets, for commands that ask about dates of data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from dbt_graft.collectors import store
from dbt_graft.exporters.dag_factory.operators import selections
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.reprocessing.commands import RerunSettings
from dbt_graft.graft import pipeline
from dbt_graft.graft.config import Config
from dbt_graft.graft.contracts import read_contracts
from dbt_graft.graft.progress import Progress
from dbt_graft.graft.sources import declared_dates, task_infos
from dbt_graft.lineage.build import build
from dbt_graft.lineage.contracts import matched
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Records
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


def dated_lineage(
    config: Config, tasks_of: Callable[[AccessHistory], Collection[str]]
) -> DatedLineage:
    """The lineage in the store, with dbt's if there are artifacts, and the taints on record.

    Args:
        tasks_of: The tasks whose runs are all needed, from a history that lacks some of them.

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

    def runs_of(lineage: Lineage) -> Collection[str]:
        return tasks_of(AccessHistory(replace(lineage, taints=taints)))

    if not (config.target_dir / "manifest.json").exists():
        lineage = _lineage_of_logs(config, place, runs_of)
        found = matched(read_contracts(config).contracts, lineage.datasets)
        lineage = replace(lineage, partition_columns=found.partitions())
        rerun = RerunSettings(lineage.orchestrator_runs, airflow=version)
        history = AccessHistory(replace(lineage, taints=taints))
        return DatedLineage(history, tuple(found.consumers(lineage.tasks)), {}, rerun)
    quiet = Progress(quiet=True)
    grafted = pipeline.graft(
        config, quiet, write=False, allow_empty=True, results=True, runs_of=runs_of
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


def _lineage_of_logs(
    config: Config, place: str, runs_of: Callable[[Lineage], Collection[str]]
) -> Lineage:
    def built(records: Records) -> Lineage:
        return build(
            records,
            rules,
            task_infos(config),
            failed=config.lineage.failed,
            one_name=config.one_name,
            dates=declared_dates(config),
            ignore=config.lineage.ignore_tasks,
        )

    rules = config.name_rules
    tasks = runs_of(built(store.read(place, results=True, rename=rules)))
    return built(store.read_selected(place, tasks, results=True, rename=rules))
