"""What plans say of sources that are no files and no tables of Spark's own catalogs.

Each connector has its own way to name what it reads, and many have none (`BigQuery`, `Kudu`,
`Snowflake` and `MongoDB` show an object's address, or nothing at all). What can be told:

| text | source |
|---|---|
| `Scan RedshiftRelation("public"."t") […]`, `SqlDWRelation`, `PhoenixRelation(T, …)` | the table |
| `Scan ElasticsearchRelation(Map(es.resource -> index, …), …)` | the index |
| `Scan MergeOnReadSnapshotRelation(…, Map(path -> /lake/t), …)` of Hudi | the path |
| `BatchScan[a#1] Cassandra Scan: keyspace.t` | the table |
| `BatchScan[a#1] file:/lake/t [filters=…]` of Iceberg | the path |
| `ScanV2 kafka[a#1] (Options: [subscribe=orders, …])` of Spark 2.4 | topics, path or table |
"""

from __future__ import annotations

import re

from dbt_graft.collectors.spark.plans.arguments import bracketed, identifier
from dbt_graft.collectors.spark.sources.connectors import Target, options, store_target
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase
from dbt_graft.collectors.spark.sources.jdbc import ExternalTable

_RELATION = re.compile(r"Scan (?P<kind>\w+)Relation\((?P<inside>.*)\)[^)]*", re.DOTALL)
# Relations whose first argument is the table, and OpenLineage's word for the store.
_TABLE_FIRST = {"Redshift": "redshift", "SqlDW": "synapse", "Phoenix": "phoenix"}
_SCAN_V2 = re.compile(r"ScanV2 (?P<source>[\w.$]+)\[")
_CASSANDRA = re.compile(r"\bCassandra Scan: (?P<table>[\w.]+)")
# Iceberg's, in the name or behind the columns.
_PATH = re.compile(r"BatchScan(?: ?\[[^\]]*\])? (?P<path>[a-zA-Z][a-zA-Z0-9+.-]*:/[^\s\[]+)")


def connector_source(name: str, text: str) -> Target | None:
    """The source that an operator tells of in a connector's own way; None where it tells none.

    Args:
        name: The operator's name, without the brand of an engine.
        text: Its whole line.
    """
    if found := _RELATION.fullmatch(name):
        return _relation(found["kind"], bracketed(found["inside"]))
    if found := _SCAN_V2.search(text):
        given = text.rpartition("Options: ")[2].removesuffix(")")
        return _with_options(found["source"], options(given))
    if found := _CASSANDRA.search(text):
        return Target(external=ExternalTable(found["table"]), database=JdbcDatabase("cassandra"))
    found = _PATH.search(text) or _PATH.match(name)
    return Target(path=found["path"]) if found else None


def _relation(kind: str, args: list[str]) -> Target | None:
    if store := _TABLE_FIRST.get(kind):
        return Target(external=ExternalTable(args[0]), database=JdbcDatabase(store))
    given = next((options(arg) for arg in args if arg.startswith("Map(")), {})
    return _with_options(kind, given)


def _with_options(source: str, given: dict[str, str]) -> Target | None:
    if topics := given.get("subscribe", ""):
        return Target(topics=tuple(sorted(topic.strip() for topic in topics.split(","))))
    if found := store_target(source, given, ""):
        return found
    place = given.get("path", "")
    if "/" in place:
        return Target(path=place)
    return Target(identifier(place)) if place else None
