"""Records and lineages of a review, under the names that datasets have in the project."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.building.foreign_models import with_foreign_models
from dbt_graft.lineage.building.ordinals import with_placed_columns
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Evidence, Records, TaskInfo


class ReviewNames:
    """Records and lineages under the names that datasets have in the project.

    Args:
        former_names: Gives the datasets that were renamed, with the names that they had before.
    """

    def __init__(
        self,
        config: Config,
        new: Artifacts,
        former_names: Callable[[], Mapping[DatasetId, Collection[DatasetId]]],
    ) -> None:
        self._config = config
        self._project = Project(config, artifacts=new)
        self._former_names = former_names
        self._read: dict[str, Records] = {}

    @cached_property
    def rename(self) -> Rename:
        """The name of today of a dataset of the logs."""
        names_of_today = self._former_names()
        today = {former: name for name, names in names_of_today.items() for former in names}
        rename = self._project.rename
        return lambda dataset: today.get(name := rename(dataset), name)

    def records(self, store_folder: str) -> Records:
        """The records of a store: each run counts."""
        if store_folder not in self._read:
            config = replace(self._config, store=store_folder)
            records = Project(config).records(LineageView(results=False, every_run=True))
            projects = self._project.settings.projects or ()
            # Columns are placed by what is defined at any time, not in the runs compared alone.
            records = with_foreign_models(records, projects)
            self._read[store_folder] = with_placed_columns(records, self.rename)
        return self._read[store_folder]

    def lineage(self, records: Records, infos: Mapping[str, TaskInfo]) -> Lineage:
        """The lineage of some records."""
        return self._project.build(records, self.rename, infos)


def writers_of(
    lineage: Lineage, evidence: Collection[Evidence] = tuple(Evidence)
) -> dict[DatasetId, set[str]]:
    """Dataset -> the tasks, models and views that write it, by some evidence."""
    writers: dict[DatasetId, set[str]] = defaultdict(set)
    for dataset in lineage.datasets:
        writers[dataset] |= {o.task for o in lineage.writers(dataset) if o.evidence in evidence}
    for definition in lineage.definitions.values():
        writers[definition.dataset].add(definition.name)
    return writers
