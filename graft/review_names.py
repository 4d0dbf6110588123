"""Records and lineages of a review, under the names that datasets have in the project."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from dbt_graft.collectors import store
from dbt_graft.graft.config import Config
from dbt_graft.graft.dbt_relations import dbt_platform, dbt_relations
from dbt_graft.graft.pipeline import renames
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.manifest import projects
from dbt_graft.injector.matching import short_names
from dbt_graft.lineage.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.foreign_models import with_foreign_models
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Evidence, Records, TaskInfo


class ReviewNames:
    """Records and lineages under the names that datasets have in the project.

    Args:
        former_names: Datasets that were renamed, with the names that they had before.
    """

    def __init__(
        self,
        config: Config,
        new: Artifacts,
        former_names: Mapping[DatasetId, Collection[DatasetId]],
    ) -> None:
        self._config = config
        short = short_names(
            new.manifest, dbt_relations(config, new), dbt_platform(config, new.adapter)
        )
        self._short, self._projects = short, projects(new.manifest)
        today = {former: name for name, some in former_names.items() for former in some}
        rename = renames(config, short)
        self.rename: Rename = lambda dataset: today.get(name := rename(dataset), name)
        self._read: dict[str, Records] = {}

    def records(self, place: str) -> Records:
        """The records of a store: each run counts."""
        if place not in self._read:
            records = store.read(place, folded=False)
            self._read[place] = with_foreign_models(records, self._projects)
        return self._read[place]

    def lineage(self, records: Records, infos: Mapping[str, TaskInfo]) -> Lineage:
        """The lineage of some records."""
        config = self._config
        return build(
            records,
            self.rename,
            infos,
            infer_columns=config.lineage.infer_columns,
            one_name=replace(config.one_name, apart=self._short.spelled),
            ignore=config.lineage.ignore_tasks,
        )


def writers_of(
    lineage: Lineage, evidence: Collection[Evidence] = tuple(Evidence)
) -> dict[DatasetId, set[str]]:
    """Dataset -> the tasks, models and views that write it, by some evidence."""
    found: dict[DatasetId, set[str]] = defaultdict(set)
    for dataset in lineage.datasets:
        found[dataset] |= {o.task for o in lineage.writers(dataset) if o.evidence in evidence}
    for definition in lineage.definitions.values():
        found[definition.dataset].add(definition.name)
    return found
