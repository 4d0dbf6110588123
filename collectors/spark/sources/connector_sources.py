"""Sources of connectors: neither files nor tables of Spark's own catalogs.

Each connector names its source in its own way, and many do not at all (`BigQuery`, `Kudu`,
`Snowflake` and `MongoDB` show an object's address, or nothing). Those that do:

| text | source |
|---|---|
| `Scan RedshiftRelation("public"."t") […]`, `SqlDWRelation`, `PhoenixRelation(T, …)` | the table |
| `Scan ElasticsearchRelation(Map(es.resource -> index, …), …)` | the index |
| `Scan MergeOnReadSnapshotRelation(…, Map(path -> /lake/t), …)` of Hudi | the path |
| `BatchScan[a#1] Cassandra Scan: keyspace.t` | the table |
| `BatchScan[a#1] file:/lake/t [filters=…]`, `BatchScan /lake/t` of Iceberg | the path |
| `ScanV2 kafka[a#1] (Options: [subscribe=orders, …])` of Spark 2.4 | topics, path or table |
"""

from __future__ import annotations

import re

from dbt_graft.collectors.spark.plans.arguments import bracket_items, identifier
from dbt_graft.collectors.spark.sources.connectors import Target, options, store_target
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase
from dbt_graft.collectors.spark.sources.jdbc import ExternalTable

_RELATION = re.compile(r"Scan (?P<kind>\w+)Relation\((?P<inside>.*)\)[^)]*", re.DOTALL)
# Relations whose first argument is the table, and OpenLineage's name of the system.
_TABLE_FIRST = {"Redshift": "redshift", "SqlDW": "synapse", "Phoenix": "phoenix"}
_SCAN_V2 = re.compile(r"ScanV2 (?P<source>[\w.$]+)\[")
_CASSANDRA = re.compile(r"\bCassandra Scan: (?P<table>[\w.]+)")
# Iceberg's, in the name or behind the columns.
_PATH = re.compile(
    r"BatchScan(?: ?\[[^\]]*\])? (?:IcebergScan\(table=)?"
    r"(?P<path>(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?/[^\s\[,]+)"
)
_PATH_NAME = re.compile(r"BatchScan (?P<path>(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?/[^\[]+)")


def connector_source(name: str, text: str) -> Target | None:
    """Return the source that a connector's operator names; None where it names none.

    Args:
        name: The operator's name, without the prefix of an engine.
        text: Its line.
    """
    if match := _RELATION.fullmatch(name):
        return _relation(match["kind"], bracket_items(match["inside"]))
    if match := _SCAN_V2.search(text):
        settings = text.rpartition("Options: ")[2].removesuffix(")")
        return _with_options(match["source"], options(settings))
    if match := _CASSANDRA.search(text):
        return Target(external=ExternalTable(match["table"]), database=JdbcDatabase("cassandra"))
    match = _PATH_NAME.fullmatch(name) or _PATH.search(text) or _PATH.match(name)
    return Target(path=match["path"]) if match else None


def _relation(kind: str, args: list[str]) -> Target | None:
    if store := _TABLE_FIRST.get(kind):
        return Target(external=ExternalTable(args[0]), database=JdbcDatabase(store))
    settings = next((options(arg) for arg in args if arg.startswith("Map(")), {})
    return _with_options(kind, settings)


def _with_options(source: str, settings: dict[str, str]) -> Target | None:
    if topics := settings.get("subscribe", ""):
        return Target(topics=tuple(sorted(topic.strip() for topic in topics.split(","))))
    if target := store_target(source, settings, ""):
        return target
    name = settings.get("path", "")
    if "/" in name:
        return Target(path=name)
    return Target(identifier(name)) if name else None
