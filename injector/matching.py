"""Which dbt relation a name in a log means where the log leaves the database out.

A relation is matched by database, schema and identifier, without case. A log that says less, as
Spark's does of its default catalog, means the one relation with this schema and identifier. Where
two databases have it, nobody can tell which is meant: it stays a dataset of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from dbt_graft.injector.relations import Node, Relations
from dbt_graft.lineage.dataset import DatasetId


@dataclass(frozen=True, slots=True)
class ShortNames:
    """Relations called by schema and identifier alone.

    Attributes:
        full: The short name -> the one relation that it means.
        ambiguous: The short name -> the relations that it could mean, sorted.
        spelled: Each relation -> itself in dbt's spelling, which a log may write in another case.
    """

    full: Mapping[DatasetId, DatasetId]
    ambiguous: Mapping[DatasetId, tuple[DatasetId, ...]]
    spelled: Mapping[DatasetId, DatasetId]

    def __call__(self, dataset: DatasetId) -> DatasetId:
        """The relation that a dataset's name means, in dbt's spelling; itself where it is none."""
        relation = self.full.get(dataset, dataset)
        return self.spelled.get(relation, relation)


def short_names(manifest: Node, known: Relations) -> ShortNames:
    """The short names of a project's relations; none where dbt itself knows no database."""
    whole = set(known.datasets.values())
    meant: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for node_id, dataset in known.datasets.items():
        node = manifest["nodes"].get(node_id) or manifest["sources"][node_id]
        database = node.get("database")
        if database and node.get("schema"):
            meant[DatasetId(dataset.namespace, dataset.name[len(str(database)) + 1 :])].add(dataset)
    unclaimed = {short: found for short, found in meant.items() if short not in whole}
    return ShortNames(
        full={short: next(iter(found)) for short, found in unclaimed.items() if len(found) == 1},
        ambiguous={
            short: tuple(sorted(found)) for short, found in unclaimed.items() if len(found) > 1
        },
        spelled={dataset: dataset for dataset in known.spelled(whole)},
    )
