"""Artifacts of a dbt project in a few lines: models with their SQL, columns and parents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt_graft.collectors.dbt.column_cache import ColumnCache
from dbt_graft.collectors.dbt.columns import dbt_columns
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionColumns
from dbt_graft.lineage.paths import dataset_folders, path_dataset
from dbt_graft.lineage.records import Subtype

Json = dict[str, Any]
_QUOTES = {"databricks": "``", "fabric": "[]", "snowflake": ("", ""), "spark": ("", "")}


class DbtProject:
    """Builds a manifest and a catalog; relations are `db.s.<name>`, of sources `db.raw.<name>`."""

    def __init__(self, adapter: str = "postgres") -> None:
        self.manifest: Json = {"metadata": {"adapter_type": adapter}, "nodes": {}, "sources": {}}
        self.catalog: Json = {"nodes": {}, "sources": {}}
        self.datasets: dict[str, DatasetId] = {}
        self.files: dict[str, DatasetId] = {}  # path in SQL -> the relation of these files
        self._quotes = _QUOTES.get(adapter, '""')

    def source(self, name: str, columns: str = "", documented: str = "") -> str:
        """Add a source with the columns of its catalog entry, and of its YAML file."""
        return self._add(f"source.shop.raw.{name}", "source", name, "", "", columns, documented)

    def model(
        self,
        name: str,
        sql: str = "",
        columns: str = "",
        *,
        reads: str = "",
        kind: str = "model",
        documented: str = "",
        **more: Any,
    ) -> str:
        """Add a model, snapshot or seed; `reads` lists unique ids."""
        key = f"{kind}.shop.{name}"
        self._add(key, kind, name, sql, reads, columns, documented)
        self.manifest["nodes"][key].update(more)
        if (more.get("config") or {}).get("materialized") == "ephemeral":
            del self.datasets[key]
        return key

    def _add(
        self, key: str, kind: str, name: str, sql: str, reads: str, columns: str, documented: str
    ) -> str:
        schema = "raw" if kind == "source" else "s"
        begin, end = self._quotes
        part = "sources" if kind == "source" else "nodes"
        self.manifest[part][key] = {
            "unique_id": key,
            "resource_type": kind,
            "package_name": "shop",
            "source_name": "raw",
            "name": name,
            "database": "db",
            "schema": schema,
            "alias": name,
            "relation_name": ".".join(f"{begin}{one}{end}" for one in ("db", schema, name)),
            "compiled_code": sql or None,
            "depends_on": {"nodes": reads.split()},
            "columns": {one: {"name": one} for one in documented.split()},
            "config": {},
        }
        if columns:
            self.catalog[part][key] = {
                "columns": {
                    one: {"name": one, "index": at} for at, one in enumerate(columns.split())
                }
            }
        self.datasets[key] = DatasetId("pg", f"db.{schema}.{name}")
        return key

    def follow(self, cache: ColumnCache | None = None) -> DefinitionColumns:
        """The column edges of the project."""
        return dbt_columns(
            self.manifest, self.catalog, self.datasets, cache, find_file=self._find_file
        )

    def _find_file(self, path: str) -> DatasetId:
        absolute = path if ":/" in path or path[0] == "/" else f"/shop/{path}"
        return self.files.get(path) or path_dataset(dataset_folders([absolute])[0])

    def full_edges(self, name: str) -> str:
        """The edges of a model, with namespaces: `total<-pg/db.raw.orders.amount:AGGREGATION`."""
        return self._written_edges(name, str)

    def edges(self, name: str) -> str:
        """The edges of a model on one line: `total<-orders.amount:AGGREGATION`."""
        return self._written_edges(name, lambda dataset: dataset.parts[-1])

    def _written_edges(self, name: str, written: Callable[[DatasetId], str]) -> str:
        [found] = [
            edges for key, edges in self.follow().edges.items() if key.rpartition(".")[2] == name
        ]
        return " ".join(
            sorted(
                f"{edge.to_column}<-{written(edge.from_dataset)}.{edge.from_column}"
                + ("" if edge.subtype is Subtype.IDENTITY else f":{edge.subtype}")
                for edge in found
            )
        )
