"""Targets of writes through connectors: Delta, Iceberg, JDBC, Kafka and others.

The arguments of their operators are the `toString` of Java objects, each with its own layout:

| text | target |
|---|---|
| `…JdbcRelationProvider@1f, [url=…, dbtable=dbo.t, …], Append` | the database's table |
| `…DeltaDataSource@1f, Map(path -> s3://b/t), Overwrite` | the path |
| `…KafkaSourceProvider@1f, [topic=orders, …], Append` | the topic |
| `…SparkCatalog@1f, db.t, Project […], …` | the table of the catalog with this class |
| `IcebergWrite(table=cat.db.t, format=PARQUET)` | the table |
| `JDBCTable(dbo.t,StructType(…),…)` | the database's table |
| `DeltaTableV2(…, file:/t,Some(CatalogTable(⏎Catalog: c⏎Database: db⏎Table: t⏎…` | the table |
| `…, Delta[version=3, file:/t], …` | the path |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from dbt_graft.collectors.name_tables import words_in_order
from dbt_graft.collectors.spark.plans.arguments import bracket_items, identifier
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase, database_of
from dbt_graft.collectors.spark.sources.jdbc import ExternalTable
from dbt_graft.lineage.dates.partition_dates import Partition
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.openlineage import snowflake_namespace

_OPTIONS = re.compile(r"(?:Map\(|\[)(?P<inside>.*)[)\]]", re.DOTALL)
_OPTION = re.compile(r"(?P<key>[\w.$-]+)(?:=| -> )(?P<value>.*)", re.DOTALL)
_ICEBERG = re.compile(r"Iceberg(?:Streaming)?Write\(table=(?P<table>[^\s,()]+)")
_JDBC_TABLE = re.compile(r"JDBCTable\((?P<table>(?:\"[^\"]*\"|[^,()\"])+),")
# The start of a path of which Delta shows only the last hundred characters.
CUT_PATH = "... "
_DELTA_FILES = re.compile(r"Delta\[version=-?\d+, (?P<path>(?:\.\.\. )?[^\],\s]+)\]")
_DELTA_PATH = re.compile(r"DeltaTableV2\([^,()]+(?:\([^()]*\))?, ?(?P<path>[^,()\s]+)")
_CATALOG_TABLE = re.compile(
    r"CatalogTable\(\s*(?:Catalog: (?P<catalog>[^\n,]+)[\n,]\s*)?"
    r"(?:Database: (?P<database>[^\n,]+)[\n,]\s*)?"
    r"Table: (?P<table>[^\n,)]+)"
)
_RELATION = re.compile(
    r"(?:RelationV2|DataSourceV2Relation|Relation)(?:\[[^\]]*\])? "
    r"(?P<table>[\w$`-]+(?:\.[\w$`-]+)+)"
)
_TABLE = re.compile(r"(?:[\w$-]+|`[^`]+`)(?:\.(?:[\w$-]+|`[^`]+`))+")
_PATH = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/[^\s,()]*")
_LOCATION = re.compile(r"\bLocation: (?P<path>[^\n,)]+)")
_MAP = r"(?:Map\([^()]*\)|\[[^\[\]]*\])"
_TABLE_LOCATION = re.compile(
    rf"TableSpec\({_MAP}, ?Some\(\w+\), ?{_MAP}, ?Some\((?P<path>[^()]+)\)"
)
_REDACTED = "*********(redacted)"
# Options that name the target.
_NAMING_OPTIONS = words_in_order("""
    dbtable table collection topic index container es.resource kudu.table
    spark.mongodb.output.collection""")


@frozen
class Target:
    """The target of a command: a table, a path, or both where the plan has both.

    Attributes:
        by_path: The path is that of a table of Iceberg.
        is_cut: Spark left out some of the columns.
        source_table: The other table of the command: the old name, or the table to copy.
        source_path: The path that the command loads.
        catalog: The table's catalog as an object, `Class@hash`, where the name is without it.
        partitions: The partitions that it names, with their values.
        if_exists: The command does not fail where the target is missing.
    """

    table: tuple[str, ...] = ()
    path: str = ""
    columns: tuple[str, ...] = ()
    by_path: bool = False
    is_cut: bool = False
    source_table: tuple[str, ...] = ()
    source_path: str = ""
    mode: str = ""
    is_view: bool = False
    if_exists: bool = False
    catalog: str = ""
    external: ExternalTable | None = None
    database: JdbcDatabase = field(default_factory=JdbcDatabase)
    topics: tuple[str, ...] = ()
    partitions: tuple[Partition, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether it names any place."""
        return bool(self.table or self.path or self.external or self.topics)


def options(text: str) -> dict[str, str]:
    """`[url=…, dbtable=t]`, `Map(path -> p)`; keys in lower case."""
    match = _OPTIONS.fullmatch(text.strip())
    items = bracket_items(match["inside"]) if match else []
    pairs = (_OPTION.fullmatch(item) for item in items)
    return {pair["key"].lower(): pair["value"] for pair in pairs if pair}


def save_target(args: list[str]) -> Target | None:
    """`provider@hash, options, mode`, behind a query if there is one."""
    at = next(
        (
            n
            for n, arg in enumerate(args)
            if arg.startswith(("Map(", "[")) and ("=" in arg or "->" in arg)
        ),
        None,
    )
    if at is None or at == 0:
        return None
    provider, mode = args[at - 1].partition("@")[0], args[-1]
    settings = options(args[at])
    url = settings.get("url", "")
    if "kafka" in provider.lower():
        return Target(topics=(settings["topic"],), mode=mode) if "topic" in settings else None
    if (
        "jdbc" in provider.lower()
        or url.startswith("jdbc:")
        or ("dbtable" in settings and url == _REDACTED)
    ):
        external = ExternalTable(settings["dbtable"])
        return Target(external=external, database=database_of(url), mode=mode)
    path = settings.get("path", settings.get("hoodie.base.path", ""))
    if path and "elasticsearch" not in provider:
        return Target(path=path, mode=mode)
    return store_target(provider, settings, mode)


def store_target(provider: str, settings: Mapping[str, str], mode: str) -> Target | None:
    """A table of another system: the namespace is the connector's short name."""
    name = next((settings[key] for key in _NAMING_OPTIONS if key in settings), "")
    if not name and "elasticsearch" in provider.lower():
        name = settings.get("path", "")
    if not name:
        return None
    if "snowflake" in provider:
        database = JdbcDatabase(
            snowflake_namespace(settings.get("sfurl", "")),
            settings.get("sfdatabase", ""),
            settings.get("sfschema", "PUBLIC"),
        )
        return Target(external=ExternalTable(name), database=database, mode=mode)
    providers = words_in_order("""
        bigquery redshift mongo cassandra elasticsearch cosmos kudu sqlserver synapse""")
    short = next(
        (word for word in providers if word in provider.lower()), provider.split(".")[-2:][0]
    )
    scope = settings.get("keyspace") or settings.get("database") or settings.get("dataset") or ""
    if short == "bigquery":
        name = name.replace(":", ".", 1)  # `project:dataset.table`, as its older tools write it
    database = JdbcDatabase(short, settings.get("project", ""), scope)
    return Target(external=ExternalTable(name), database=database, mode=mode)


def catalog_table(args: list[str]) -> Target:
    """`catalog.Class@hash, ns.t, Project […], …`; Databricks has the output columns first."""
    args = args[1:] if args[0].startswith("[") else args
    table, catalog = identifier(args[1]), args[0].partition("(")[0]
    if "/" in "".join(table[:1]):
        # A table of Iceberg by its path, `` `s3://b/raw`.orders``
        return Target(path="/".join(table), by_path=True)
    location = next((found for arg in args if (found := _TABLE_LOCATION.match(arg))), None)
    return Target(table, location["path"] if location else "", catalog=catalog)


def write_target(args: list[str]) -> Target | None:
    """The target of a write whose arguments are a connector's own text.

    Before Spark 3.2 the table comes first, by its name or its path.
    """
    if _TABLE.fullmatch(args[0]):
        return Target(identifier(args[0]))
    if _PATH.fullmatch(args[0]):
        return Target(path=args[0])
    text = ", ".join(args)
    if match := _ICEBERG.search(text):
        is_path = "/" in match["table"]
        return (
            Target(path=match["table"], by_path=True)
            if is_path
            else Target(identifier(match["table"]))
        )
    if match := _JDBC_TABLE.search(text):
        return Target(external=ExternalTable(match["table"].strip()), catalog="jdbc")
    if delta := _delta(text):
        return delta
    if match := _RELATION.search(text):
        return Target(identifier(match["table"]))
    return None


def described_table(text: str) -> tuple[str, ...]:
    """The name in a `CatalogTable(⏎Database: db⏎Table: t⏎…)`; empty where there is none."""
    match = _CATALOG_TABLE.search(text)
    parts = (match["catalog"], match["database"], match["table"]) if match else ()
    return tuple(part.strip().strip("`") for part in parts if part)


def _delta(text: str) -> Target | None:
    table = described_table(text)
    path = _DELTA_FILES.search(text) or _DELTA_PATH.search(text)
    path = path or (_LOCATION.search(text) if table else None)
    return Target(table, path["path"] if path else "") if table or path else None


def change_target(args: list[str]) -> Target | None:
    """The target of MERGE, UPDATE and DELETE of Delta and Hudi: a path or a table."""
    if target := write_target(args):
        return target
    named = next((arg for arg in args if arg.startswith("`")), "")
    return Target(identifier(named)) if named else None
