"""Short names: names in logs that leave the database out, matched to dbt relations.

Relations match by database, schema and identifier, ignoring case. Logs may leave the database out,
as Spark's do for its default catalog; such a name matches the one relation with this schema and
identifier. With several such relations in several databases, it matches none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from dbt_graft.injector.manifest import Node
from dbt_graft.injector.relations import Relations
from dbt_graft.lineage.dataset import DatasetId


@dataclass(frozen=True, slots=True)
class ShortNames:
    """Relations by schema and identifier alone.

    Attributes:
        full: Short name -> the one relation that matches.
        ambiguous: Short name -> the relations that match, sorted, where there are several.
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
    """Return the short names of the project's relations that have a database."""
    full_names = set(known.datasets.values())
    matches: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for node_id, dataset in known.datasets.items():
        node = manifest["nodes"].get(node_id) or manifest["sources"][node_id]
        database = node.get("database")
        if database and node.get("schema"):
            matches[DatasetId(dataset.namespace, dataset.name[len(str(database)) + 1 :])].add(
                dataset
            )
    unclaimed = {short: found for short, found in matches.items() if short not in full_names}
    return ShortNames(
        full={short: next(iter(found)) for short, found in unclaimed.items() if len(found) == 1},
        ambiguous={
            short: tuple(sorted(found)) for short, found in unclaimed.items() if len(found) > 1
        },
        spelled={dataset: dataset for dataset in known.spelled(set(known.datasets.values()))},
    )
