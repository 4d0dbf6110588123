"""Names in logs that are not those of dbt's relations, matched to them.

Relations match by database, schema and identifier, ignoring case. Logs may leave the database out,
as Spark's do for its default catalog; such a name matches the one relation with this schema and
identifier. A path matches the one relation whose files lie there. With several such relations it
matches none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from dbt_graft.injector.manifest import Node
from dbt_graft.injector.platform import Platform
from dbt_graft.injector.relations import Relations
from dbt_graft.lineage.dataset import DatasetId


@dataclass(frozen=True, slots=True)
class ShortNames:
    """Relations by schema and identifier alone, and by the path of their files.

    Attributes:
        full: Short name or path -> the one relation that matches.
        ambiguous: Short name or path -> the relations that match, sorted, where there are several.
        spelled: Each relation -> itself in dbt's spelling, which a log may write in another case.
        namespace: The namespace of dbt's relations.
        aliases: Other namespaces whose datasets are the same.
    """

    full: Mapping[DatasetId, DatasetId]
    ambiguous: Mapping[DatasetId, tuple[DatasetId, ...]]
    spelled: Mapping[DatasetId, DatasetId]
    namespace: str = ""
    aliases: Collection[str] = field(default=())

    def __call__(self, dataset: DatasetId) -> DatasetId:
        """The relation that a dataset's name means, in dbt's spelling; itself where it is none."""
        if dataset.key[0] in self.aliases and self.namespace:
            dataset = DatasetId(self.namespace, dataset.name)
        relation = self.full.get(dataset, dataset)
        return self.spelled.get(relation, relation)

    def formerly(self, dataset: DatasetId, namespaces: Collection[str]) -> DatasetId:
        """A relation of dbt that is named in one of its former namespaces, as it is named now."""
        if dataset.key[0] not in namespaces:
            return dataset
        relation = self(DatasetId(self.namespace, dataset.name))
        return relation if relation in self.spelled else dataset


def short_names(
    manifest: Node, relations: Relations, platform: Platform | None = None
) -> ShortNames:
    """Return the short names of the project's relations that have a database, and their paths."""
    full_names = set(relations.datasets.values())
    matches: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for node_id, dataset in relations.datasets.items():
        node = manifest["nodes"].get(node_id) or manifest["sources"][node_id]
        database = node.get("database")
        if database and node.get("schema"):
            matches[DatasetId(dataset.namespace, dataset.name[len(str(database)) + 1 :])].add(
                dataset
            )
    for path, located in relations.locations.items():
        matches[path].update(located)
    unclaimed = {
        short: candidates for short, candidates in matches.items() if short not in full_names
    }
    return ShortNames(
        full={
            short: next(iter(candidates))
            for short, candidates in unclaimed.items()
            if len(candidates) == 1
        },
        ambiguous={
            short: tuple(sorted(candidates))
            for short, candidates in unclaimed.items()
            if len(candidates) > 1
        },
        spelled={
            dataset: dataset for dataset in relations.spelled(set(relations.datasets.values()))
        },
        namespace=platform.namespace if platform else "",
        aliases=platform.aliases if platform else (),
    )
