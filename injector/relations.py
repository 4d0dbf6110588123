"""Relations of dbt's nodes, matched to datasets; names in logs that are not those of relations.

Relations match by database, schema and identifier, ignoring case. Logs may leave the database out,
as Spark's do for its default catalog; such a name matches the one relation with this schema and
identifier. A path matches the one relation whose files lie there. With several such relations it
matches none of them. The name of a table that dbt does not know gets the database in which dbt has
its schema; that of dbt's connection, where dbt does not have the schema.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import field
from functools import cache

from dbt_graft.injector.locations import Places, location
from dbt_graft.injector.manifest import BUILDERS, Node, materialized, project_name
from dbt_graft.injector.platform import Platform
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen


@frozen
class Relations:
    """Datasets of dbt's nodes.

    Attributes:
        datasets: Node id -> its dataset, for models, seeds, snapshots and sources that have a
            relation (an ephemeral model has none).
        builders: Dataset -> the node that builds it.
        sources: Dataset -> its sources, those of the root project first.
        rivals: Dataset -> the nodes that build it, where there are several.
        locations: Path -> the datasets whose files lie there, sorted.
    """

    datasets: Mapping[str, DatasetId]
    builders: Mapping[DatasetId, str]
    sources: Mapping[DatasetId, tuple[str, ...]]
    rivals: Mapping[DatasetId, tuple[str, ...]]
    locations: Mapping[DatasetId, tuple[DatasetId, ...]] = field(default_factory=dict)

    def node_of(self, dataset: DatasetId) -> str | None:
        """Return the node of a dataset: its builder, else its first source."""
        return self.builders.get(dataset) or next(iter(self.sources.get(dataset, ())), None)

    def spelled(self, wanted: Collection[DatasetId]) -> list[DatasetId]:
        """Return those of the datasets that dbt knows, in dbt's spelling, sorted."""
        nodes = (self.node_of(dataset) for dataset in wanted)
        datasets = [self.datasets[node_id] for node_id in nodes if node_id]
        return sorted(datasets, key=lambda dataset: dataset.key)


def relations(manifest: Node, namespace: str, places: Places | None = None) -> Relations:
    """Match dbt's relations to datasets.

    Args:
        namespace: The namespace of dbt's warehouse: `spark`, `mssql://crm:1433`.
        places: Where relative paths in the manifest start.
    """
    places = places or Places()
    project = project_name(manifest)
    datasets: dict[str, DatasetId] = {}
    builders: dict[DatasetId, list[str]] = defaultdict(list)
    sources: dict[DatasetId, list[str]] = defaultdict(list)
    locations: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    of_sources = sorted(
        manifest["sources"].items(),
        key=lambda item: (item[1].get("package_name") != project, item[0]),
    )
    # Of the nodes, most are tests.
    of_nodes = sorted(
        item for item in manifest["nodes"].items() if item[1].get("resource_type") != "test"
    )
    for by_dataset, members in ((builders, of_nodes), (sources, of_sources)):
        for node_id, node in members:
            if dataset := _dataset(node, namespace):
                datasets[node_id] = dataset
                by_dataset[dataset].append(node_id)
                if path := location(node, places):
                    locations[path].add(dataset)
    return Relations(
        datasets,
        {key: ids[0] for key, ids in builders.items()},
        {key: tuple(ids) for key, ids in sources.items()},
        {key: tuple(ids) for key, ids in builders.items() if len(ids) > 1},
        {path: tuple(sorted(located)) for path, located in locations.items()},
    )


def _dataset(node: Node, namespace: str) -> DatasetId | None:
    kind = node.get("resource_type")
    if kind == "source" or (kind in BUILDERS and materialized(node) != "ephemeral"):
        return DatasetId(namespace, relation_name(node))
    return None


def relation_name(node: Node) -> str:
    """The name that a node's relation has, or would have: `db.schema.table`."""
    names = ("identifier",) if node.get("resource_type") == "source" else ("alias",)
    identifier = next((node[key] for key in (*names, "name") if node.get(key)), None)
    parts = (node.get("database"), node.get("schema"), identifier)
    return ".".join(str(part) for part in parts if part)


@frozen
class ShortNames:
    """Relations by schema and identifier alone, and by the path of their files.

    Attributes:
        full: Short name or path -> the one relation that matches.
        ambiguous: Short name or path -> the relations that match, sorted, where there are several.
        databases: Schema, as a dataset -> the databases in which dbt has it, sorted.
        database: That of dbt's connection; empty if it is not known.
        spelled: Each relation -> itself in dbt's spelling, which a log may write in another case.
        namespace: The namespace of dbt's relations.
        aliases: Other namespaces whose datasets are the same.
    """

    full: Mapping[DatasetId, DatasetId]
    ambiguous: Mapping[DatasetId, tuple[DatasetId, ...]]
    spelled: Mapping[DatasetId, DatasetId]
    databases: Mapping[DatasetId, tuple[str, ...]] = field(default_factory=dict)
    database: str = ""
    namespace: str = ""
    aliases: Collection[str] = field(default=())

    def __call__(self, dataset: DatasetId) -> DatasetId:
        """The relation that a dataset's name means, in dbt's spelling; itself where it is none."""
        if dataset.namespace.casefold() in self.aliases and self.namespace:
            dataset = DatasetId(self.namespace, dataset.name)
        candidates = self.candidates(dataset)
        relation = candidates[0] if len(candidates) == 1 else dataset
        return self.spelled.get(relation, relation)

    def candidates(self, dataset: DatasetId) -> tuple[DatasetId, ...]:
        """The full names that a short one may stand for; none for a name that is full."""
        if dataset in self.full:
            return (self.full[dataset],)
        if dataset in self.ambiguous or dataset in self.spelled:
            return self.ambiguous.get(dataset, ())
        if dataset.is_path or len(dataset.parts) != 2:
            return ()
        schema = DatasetId(dataset.namespace, dataset.parts[0])
        databases = self.databases.get(schema, ())
        if (
            not databases
            and dataset.namespace.casefold() == self.namespace.casefold()
            and self.databases
        ):
            databases = (self.database,) if self.database else ()
        return tuple(
            DatasetId(dataset.namespace, f"{database}.{dataset.name}") for database in databases
        )

    def formerly(self, dataset: DatasetId, namespaces: Collection[str]) -> DatasetId:
        """A relation of dbt that is named in one of its former namespaces, as it is named now."""
        if dataset.namespace.casefold() not in namespaces:
            return dataset
        relation = self(DatasetId(self.namespace, dataset.name))
        return relation if relation in self.spelled else dataset


def short_names(
    manifest: Node, relations: Relations, platform: Platform | None = None
) -> ShortNames:
    """Return the short names of the project's relations that have a database, and their paths."""
    full_names = set(relations.datasets.values())
    matches: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    databases: dict[DatasetId, dict[str, str]] = defaultdict(dict)
    schema_of = cache(DatasetId)  # Of thousands of relations most are in few schemas.
    for node_id, dataset in relations.datasets.items():
        node = manifest["nodes"].get(node_id) or manifest["sources"][node_id]
        database = node.get("database")
        if database and node.get("schema"):
            schema = schema_of(dataset.namespace, str(node["schema"]))
            databases[schema].setdefault(str(database).casefold(), str(database))
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
        databases={
            schema: tuple(spelled[key] for key in sorted(spelled))
            for schema, spelled in databases.items()
        },
        database=platform.database if platform else "",
        namespace=platform.namespace if platform else "",
        aliases=platform.aliases if platform else (),
    )
