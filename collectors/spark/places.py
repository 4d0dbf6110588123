"""Which dataset a table's name or a path stands for in one application."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from collectors.spark.paths import dataset_folders, path_dataset
from lineage.dataset import DatasetId, Kind

_SESSION_CATALOG = "spark_catalog"


@dataclass(slots=True)
class Places:
    """Names and paths of an application's datasets.

    A metastore table and the path its files lie in are one dataset, the table: where a plan tells
    both, the path is remembered (`locations`), and reading or writing it later by path is using
    the table. Below the warehouse folder Hive's layout tells it too: `raw.db/orders` is
    `raw.orders`.
    """

    namespace: str
    warehouse: str = ""
    locations: dict[DatasetId, DatasetId] = field(default_factory=dict)

    def table(self, parts: tuple[str, ...]) -> DatasetId:
        """The dataset of a table, named `schema.table`, with the catalog if it is not Spark's."""
        if len(parts) > 1 and parts[0] == _SESSION_CATALOG:
            parts = parts[1:]
        if len(parts) == 1:
            parts = ("default", *parts)
        return DatasetId(self.namespace, ".".join(parts))

    def learn(self, table: tuple[str, ...], paths: Iterable[str]) -> None:
        """Remember that a table's files lie in these paths, if they are in one folder."""
        folders = dataset_folders(paths)
        if table and len(folders) == 1:
            self.locations.setdefault(path_dataset(folders[0]), self.table(table))

    def resolve(self, table: tuple[str, ...], paths: Iterable[str]) -> list[tuple[DatasetId, Kind]]:
        """The table if there is one, else the datasets of the paths."""
        if table:
            return [(self.table(table), Kind.TABLE)]
        return [self._of_path(folder) for folder in dataset_folders(paths)]

    def symlinks(self, table: DatasetId) -> tuple[DatasetId, ...]:
        """The paths that are known to be this table's."""
        return tuple(sorted(path for path, owner in self.locations.items() if owner == table))

    def _of_path(self, folder: str) -> tuple[DatasetId, Kind]:
        dataset = path_dataset(folder)
        table = self.locations.get(dataset) or self._in_warehouse(dataset)
        return (table, Kind.TABLE) if table else (dataset, Kind.PATH)

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
