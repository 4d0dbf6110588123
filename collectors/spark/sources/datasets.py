"""Which dataset a table's name or a path stands for in one application."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.databases import UNKNOWN, JdbcDatabase, database_of
from dbt_graft.collectors.spark.sources.jdbc import tables
from dbt_graft.collectors.spark.sources.paths import dataset_folders, path_dataset
from dbt_graft.collectors.spark.sources.scans import Scan
from dbt_graft.lineage.dataset import DatasetId, Kind

# Spark's own catalog, and what Databricks calls it.
_SESSION_CATALOGS = ("spark_catalog", "hive_metastore")
_CATALOG = "spark.sql.catalog."
# `SetCatalogAndNamespace …CatalogManager@1f, spark_catalog, ArrayBuffer(ml)`; Spark 3.0 has them in
# `Some(…)`, Spark 2 `SetDatabaseCommand ml`.
_USE = re.compile(
    r"SetCatalogAndNamespace(?: \S+|[^\n]*\nArguments: \S+), (?:Some\()?(?P<catalog>[^,()]+)\)?,"
    r" (?:Some\()?\w+\((?P<database>[^,()]+)\)|\bSetDatabaseCommand (?P<old>`?\w+`?)$",
    re.MULTILINE,
)
_SESSION_CLASSES = ("V2SessionCatalog", "DeltaCatalog", "SparkSessionCatalog", "HoodieCatalog")
# OpenLineage's namespace of a topic has the servers, which a plan does not show.
_TOPICS = "kafka"


@dataclass(slots=True)
class DatasetResolver:
    """Names and paths of an application's datasets.

    A metastore table and the path its files lie in are one dataset, the table: where a plan tells
    both, the path is remembered (`locations`), and who reads or writes it by path, before or
    after, uses the table (`owner`). Below the warehouse folder Hive's layout tells it too:
    `raw.db/orders` is `raw.orders`.
    """

    namespace: str
    warehouse: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    locations: dict[DatasetId, DatasetId] = field(default_factory=dict)
    database_in_use: str = "default"

    def use(self, plan: str) -> None:
        """Take note of the database of names without one, where a plan's text is that of `USE`."""
        found = _USE.search(plan)
        if found and (found["catalog"] or _SESSION_CATALOGS[0]) in _SESSION_CATALOGS:
            self.database_in_use = (found["database"] or found["old"]).strip("`")

    def table(self, parts: tuple[str, ...], catalog: str = "") -> DatasetId:
        """The dataset of a table, named `schema.table`, with the catalog if it is not Spark's.

        Args:
            catalog: The class of the catalog, where the name does not hold the catalog.
        """
        if catalog and not catalog.endswith(_SESSION_CLASSES):
            named = self._catalogs_of(catalog)
            parts = (named[0], *parts) if len(named) == 1 else parts
        if len(parts) > 1 and parts[0] in _SESSION_CATALOGS:
            parts = parts[1:]
        elif len(parts) > 1 and (url := self.settings.get(f"{_CATALOG}{parts[0]}.url")):
            return database_of(url).table(parts[1:])
        if len(parts) == 1:
            parts = (self.database_in_use, *parts)
        return DatasetId(self.namespace, ".".join(parts))

    def _catalogs_of(self, class_name: str) -> list[str]:
        return [
            key.removeprefix(_CATALOG)
            for key, value in sorted(self.settings.items())
            if key.startswith(_CATALOG) and value == class_name and "." not in key[len(_CATALOG) :]
        ]

    def database(self, target: Target) -> JdbcDatabase:
        """The database of a target that is not Spark's."""
        if target.database.namespace != UNKNOWN or target.catalog != UNKNOWN:
            return target.database
        urls = {
            value
            for key, value in self.settings.items()
            if key.startswith(_CATALOG) and key.endswith(".url") and value.startswith("jdbc:")
        }
        return database_of(urls.pop()) if len(urls) == 1 else JdbcDatabase()

    def scan_database(self, scan: Scan) -> JdbcDatabase:
        """The database that ran a scan, as far as it is known."""
        catalog = scan.table[0] if len(scan.table) > 1 else ""
        return database_of(self.settings.get(f"{_CATALOG}{catalog}.url", ""))

    def read(self, scan: Scan) -> list[tuple[DatasetId, Kind]]:
        """The datasets that a scan reads."""
        if scan.external:
            return [(one, Kind.TABLE) for one in tables(scan.external, scan.database)]
        if scan.topics:
            return _topics(scan.topics)
        return self.resolve(scan.table, scan.paths)

    def written(self, target: Target) -> list[tuple[DatasetId, Kind]]:
        """The dataset that a command writes."""
        if target.external:
            found = tables(target.external, self.database(target))
            return [(one, Kind.TABLE) for one in found]
        if target.topics:
            return _topics(target.topics)
        if target.table and target.catalog and not _path_in(target.table):
            return [(self.table(target.table, target.catalog), Kind.TABLE)]
        return self.resolve(target.table, [target.path])

    def learn(self, table: tuple[str, ...], paths: Iterable[str]) -> None:
        """Remember that a table's files lie in these paths, if they are in one folder."""
        folders = dataset_folders(paths)
        if table and not _path_in(table) and len(folders) == 1:
            self.locations.setdefault(path_dataset(folders[0]), self.table(table))

    def resolve(self, table: tuple[str, ...], paths: Iterable[str]) -> list[tuple[DatasetId, Kind]]:
        """The table if there is one, else the paths, whosever they are."""
        if path := _path_in(table):
            paths = [path]
        elif table:
            return [(self.table(table), Kind.TABLE)]
        return [(path_dataset(folder), Kind.PATH) for folder in dataset_folders(paths)]

    def symlinks(self, table: DatasetId) -> tuple[DatasetId, ...]:
        """The paths that are known to be this table's."""
        return tuple(sorted(path for path, owner in self.locations.items() if owner == table))

    def owner(self, dataset: DatasetId) -> DatasetId:
        """The table whose files lie in a path, as far as it is known by now; else the dataset."""
        return self.locations.get(dataset) or self._in_warehouse(dataset) or dataset

    def _in_warehouse(self, path: DatasetId) -> DatasetId | None:
        if not self.warehouse:
            return None
        top = path_dataset(self.warehouse.rstrip("/"))
        if top.namespace != path.namespace or not path.name.startswith(f"{top.name}/"):
            return None
        match path.name[len(top.name) + 1 :].split("/"):
            case [schema, table] if schema.endswith(".db"):
                return self.table((schema.removesuffix(".db"), table))
            case [table]:
                return self.table((table,))
        return None


def _path_in(table: tuple[str, ...]) -> str:
    """The path that a name like ``delta.`/lake/t` `` has instead of a table."""
    return table[-1] if len(table) > 1 and "/" in table[-1] else ""


def _topics(topics: Iterable[str]) -> list[tuple[DatasetId, Kind]]:
    return [(DatasetId(_TOPICS, topic), Kind.TOPIC) for topic in topics]
