"""Datasets of the tables and paths in an application's plans.

File systems of Hadoop have one name, whichever of their hosts a path has: it may be
`hdfs://nn1:8020/x`, `hdfs://cluster/x` or `hdfs:/x`. Hadoop's settings are in the log since Spark
3.0, and say which of these are one file system:

| setting | value |
|---|---|
| `fs.defaultFS` | `hdfs://cluster` |
| `dfs.namenode.rpc-address` | `nn1:8020`, of the file system above |
| `dfs.namenode.rpc-address.<cluster>.<number>` | `nn1:8020`, of that cluster |

No log says that the hosts of two clusters hold the same data: that is for a name rule.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.spark.gap_reasons import UNKNOWN_DATABASE
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase, database_of
from dbt_graft.collectors.spark.sources.jdbc import tables
from dbt_graft.collectors.spark.sources.scans import Scan
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.paths import dataset_folders, lone_year, path_dataset, year_folders

_SCHEME = "hdfs"
_PORT = ":8020"


def namenodes(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the namespace of the file system for each namespace that names a host of it.

    Args:
        settings: Hadoop's settings from the table above.
    """
    top = path_dataset(settings.get("fs.defaultFS", "").rstrip("/") + "/").namespace
    default = top if top.startswith(f"{_SCHEME}://") else ""
    namespaces = {_SCHEME: default}
    for key, address in settings.items():
        match key.split("."):
            case ["dfs", "namenode", _]:
                namespaces[f"{_SCHEME}://{address}"] = default
            case ["dfs", "namenode", _, cluster, _]:
                namespaces[f"{_SCHEME}://{address}"] = f"{_SCHEME}://{cluster}"
    if default:
        namespaces[default.removesuffix(_PORT)] = default
    # The port may be left out where it is the usual one.
    namespaces |= {host.removesuffix(_PORT): to for host, to in namespaces.items()}
    return {host: to for host, to in namespaces.items() if to and host != to}


# Catalogs that `format("iceberg")` adds by itself: they have the tables of Hive's metastore too.
_ICEBERG_DEFAULTS = ("default_iceberg", "default_cache_iceberg")
# Spark's own catalog, and its name on Databricks.
_SESSION_CATALOGS = ("spark_catalog", "hive_metastore", *_ICEBERG_DEFAULTS)
_CATALOG = "spark.sql.catalog."
_HADOOP = ("hadoop", "org.apache.iceberg.hadoop.HadoopCatalog")
# Iceberg's tables about a table: `db.t.snapshots`.
_METADATA_TABLES = words("""
    all_data_files all_delete_files all_entries all_files all_manifests data_files delete_files
    entries files history manifests metadata_log_entries partitions position_deletes refs
    snapshots""")
# `SetCatalogAndNamespace …CatalogManager@1f, spark_catalog, ArrayBuffer(ml)`; Spark 3.0 has them in
# `Some(…)`, Spark 2 `SetDatabaseCommand ml`.
_USE = re.compile(
    r"SetCatalogAndNamespace(?: \S+|[^\n]*\nArguments: \S+), (?:Some\()?(?P<catalog>[^,()]+)\)?,"
    r" (?:Some\()?\w+\((?P<database>[^,()]+)\)|\bSetDatabaseCommand (?P<old>`?\w+`?)$",
    re.MULTILINE,
)
_SESSION_CLASSES = ("V2SessionCatalog", "DeltaCatalog", "SparkSessionCatalog", "HoodieCatalog")
# OpenLineage's namespace of a topic has the servers, which are not in a plan.
TOPICS = "kafka"


@dataclass(slots=True)
class DatasetResolver:
    """Resolves names and paths to datasets.

    A metastore table and the path of its files are one dataset, the table. Where a plan has both,
    the path is remembered (`locations`), and reads and writes of the path, before or after, count
    for the table (`owner`). Below the warehouse folder Hive's layout names the table:
    `raw.db/orders` is `raw.orders`. Likewise a folder named by a year counts for the folder around
    it if another year, or a month, shows up there (`years`). A Hadoop catalog of Iceberg has each
    table in the folder of its name.

    Attributes:
        catalogs: The name of each catalog that plans show as an object, `Class@hash`.
        namenodes: The namespace of the file system that each one-host namespace is of.
    """

    namespace: str
    warehouse: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    locations: dict[DatasetId, DatasetId] = field(default_factory=dict)
    years: dict[DatasetId, set[str]] = field(default_factory=lambda: defaultdict(set))
    catalogs: dict[str, str] = field(default_factory=dict)
    namenodes: Mapping[str, str] = field(default_factory=dict)
    database_in_use: str = "default"

    def use_database(self, plan: str) -> None:
        """Set the database of names without one, if a plan's text is that of `USE`."""
        match = _USE.search(plan)
        if match and (match["catalog"] or _SESSION_CATALOGS[0]) in _SESSION_CATALOGS:
            self.database_in_use = (match["database"] or match["old"]).strip("`")

    def table(self, parts: tuple[str, ...], catalog: str = "") -> DatasetId:
        """Return the dataset of a table: `schema.table`, with the catalog if it is not Spark's.

        Args:
            catalog: As `catalogs_of` takes it, where the name is without the catalog.
        """
        parts = self._full_name(parts, catalog)
        if len(parts) > 1 and parts[0] in _SESSION_CATALOGS:
            parts = parts[1:]
        elif len(parts) > 1 and (url := self.settings.get(f"{_CATALOG}{parts[0]}.url")):
            return database_of(url).table(parts[1:])
        if len(parts) == 1:
            parts = (self.database_in_use, *parts)
        return DatasetId(self.namespace, ".".join(parts))

    def _full_name(self, table: tuple[str, ...], catalog: str) -> tuple[str, ...]:
        named = self.catalogs_of(catalog) if table else []
        return (named[0], *table) if len(named) == 1 else table

    def catalogs_of(self, catalog: str, *, may_be_default: bool = False) -> list[str]:
        """The names that a catalog may have; none for Spark's own.

        Args:
            catalog: The object as a plan shows it: `org.apache.iceberg.spark.SparkCatalog@1f`.
            may_be_default: It may be one that Iceberg adds by itself.
        """
        class_name = catalog.partition("@")[0]
        if not class_name or class_name.endswith(_SESSION_CLASSES):
            return []
        if known := self.catalogs.get(catalog):
            return [known]
        named = [
            key.removeprefix(_CATALOG)
            for key, value in sorted(self.settings.items())
            if key.startswith(_CATALOG) and value == class_name and "." not in key[len(_CATALOG) :]
        ]
        chosen = [name for name in named if name not in _ICEBERG_DEFAULTS]
        return named if may_be_default or not chosen else chosen

    def database(self, target: Target) -> JdbcDatabase:
        """The database of an external target."""
        if target.database.namespace != UNKNOWN_DATABASE or target.catalog != UNKNOWN_DATABASE:
            return target.database
        urls = {
            value
            for key, value in self.settings.items()
            if key.startswith(_CATALOG) and key.endswith(".url") and value.startswith("jdbc:")
        }
        return database_of(urls.pop()) if len(urls) == 1 else JdbcDatabase()

    def scan_database(self, scan: Scan) -> JdbcDatabase:
        """The database that ran a scan; unknown where the catalog has no URL."""
        catalog = scan.table[0] if len(scan.table) > 1 else ""
        return database_of(self.settings.get(f"{_CATALOG}{catalog}.url", ""))

    def read(self, scan: Scan) -> list[tuple[DatasetId, Kind]]:
        """The datasets that a scan reads."""
        if scan.external:
            return [(dataset, Kind.TABLE) for dataset in tables(scan.external, scan.database)]
        if scan.topics:
            return _topics(scan.topics)
        return self.resolve(scan.table, scan.paths)

    def written_datasets(self, target: Target) -> list[tuple[DatasetId, Kind]]:
        """The dataset that a command writes."""
        if target.external:
            datasets = tables(target.external, self.database(target))
            return [(dataset, Kind.TABLE) for dataset in datasets]
        if target.topics:
            return _topics(target.topics)
        if target.table and target.catalog and not _path_in(target.table):
            return [(self.table(target.table, target.catalog), Kind.TABLE)]
        return self.resolve(target.table, [target.path])

    def learn(
        self,
        table: tuple[str, ...],
        paths: Iterable[str],
        catalog: str = "",
        *,
        by_path: bool = False,
    ) -> None:
        """Remember the folder of a table's files, if the paths are in one folder.

        Args:
            by_path: Without a table, the path is that of a table of Iceberg.
        """
        table = self._full_name(table, catalog)
        folders = dataset_folders(paths) or self._catalog_folder(table)
        if len(folders) != 1 or _path_in(table):
            return
        path = self._path(folders[0])
        if by_path and not table:
            table = self._table_in_catalog(path)
        if table:
            self.locations.setdefault(path, self.table(table))

    def _catalog_folder(self, table: tuple[str, ...]) -> list[str]:
        """The folder of a table of a Hadoop catalog."""
        catalog, *parts = table or ("",)
        folder = self._hadoop_warehouse(catalog)
        is_about = len(parts) > 2 and parts[-1] in _METADATA_TABLES
        if not folder or not parts or is_about or catalog in _SESSION_CATALOGS:
            return []  # Spark's own catalog has other tables too.
        return ["/".join((folder, *parts))]

    def _table_in_catalog(self, path: DatasetId) -> tuple[str, ...]:
        """The table of a Hadoop catalog whose folder a path is; empty where it is none."""
        keys = (key.removeprefix(_CATALOG) for key in self.settings if key.startswith(_CATALOG))
        for catalog in sorted({key.partition(".")[0] for key in keys}):
            top = self._path(self._hadoop_warehouse(catalog))
            inside = path.name.removeprefix(f"{top.name}/")
            if top.name and path.namespace == top.namespace and inside != path.name:
                # `/lake/raw/orders#files` is `lake.raw.orders.files`.
                folder, _, fragment = inside.partition("#")
                return (catalog, *folder.split("/"), *filter(None, [fragment]))
        return ()

    def _hadoop_warehouse(self, catalog: str) -> str:
        """The folder of a Hadoop catalog of Iceberg; empty for others."""
        kinds = (
            self.settings.get(f"{_CATALOG}{catalog}.{key}") for key in ("type", "catalog-impl")
        )
        is_hadoop = any(kind in _HADOOP for kind in kinds)
        return (
            self.settings.get(f"{_CATALOG}{catalog}.warehouse", "").rstrip("/") if is_hadoop else ""
        )

    def resolve(self, table: tuple[str, ...], paths: Iterable[str]) -> list[tuple[DatasetId, Kind]]:
        """The table if there is one, else the paths."""
        if path := _path_in(table):
            paths = [path]
        elif table:
            return [(self.table(table), Kind.TABLE)]
        paths = list(paths)
        for parent, year in year_folders(paths):
            self.years[self._path(parent)].add(year)
        return [(self._path(folder), Kind.PATH) for folder in dataset_folders(paths)]

    def _path(self, path: str) -> DatasetId:
        dataset = path_dataset(path)
        namespace = self.namenodes.get(dataset.namespace)
        return DatasetId(namespace, dataset.name) if namespace else dataset

    def symlinks(self, table: DatasetId) -> tuple[DatasetId, ...]:
        """The known paths of a table."""
        return tuple(sorted(path for path, owner in self.locations.items() if owner == table))

    def owner(self, dataset: DatasetId) -> DatasetId:
        """The table whose files lie in a path, if it is known by now; else the dataset itself."""
        parent = lone_year(dataset.name) if dataset.is_path else ""
        around = DatasetId(dataset.namespace, parent) if parent else dataset
        if len(self.years.get(around, ())) > 1 and dataset not in self.locations:
            dataset = around
        return self.locations.get(dataset) or self._in_warehouse(dataset) or dataset

    def _in_warehouse(self, path: DatasetId) -> DatasetId | None:
        if not self.warehouse:
            return None
        top = self._path(self.warehouse.rstrip("/"))
        if top.namespace != path.namespace or not path.name.startswith(f"{top.name}/"):
            return None
        match path.name[len(top.name) + 1 :].split("/"):
            case [schema, table] if schema.endswith(".db"):
                return self.table((schema.removesuffix(".db"), table))
            case [table]:
                return self.table((table,))
        return None


def _path_in(table: tuple[str, ...]) -> str:
    """The path in a name like ``delta.`/lake/t` ``; empty for a table."""
    return table[-1] if len(table) > 1 and "/" in table[-1] else ""


def _topics(topics: Iterable[str]) -> list[tuple[DatasetId, Kind]]:
    return [(DatasetId(TOPICS, topic), Kind.TOPIC) for topic in topics]
