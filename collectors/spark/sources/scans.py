"""Scans: the operators of a plan that read datasets, by name.

| operator | dataset |
|---|---|
| `Scan parquet spark_catalog.raw.orders` | the table; its folders are in `metadata.Location` |
| `Scan csv` | the folders in `metadata.Location` |
| `Scan hive spark_catalog.raw.orders`, `HiveTableScan [a#1], HiveTableRelation …` | the table |
| `BatchScan parquet file:/landing/orders`, `BatchScan` with `Location: …` | the folders |
| `BatchScan cat.db.t[a#1] cat.db.t (branch=null) […]`, `BatchScan[a#1] cat.db.t […]` | the table |
| `Scan JDBCRelation(dbo.t) […]`, `Scan JDBCRelation((SELECT …) q) […]` | see `jdbc` |
| `Scan JDBC v1 Relation from v2 scan cat.dbo.t` | the table of the catalog |
| `Scan KafkaRelation(strategy=Subscribe[orders], …)` | the topics |
| others | see below |

`FileScan`, `PhotonScan`, `GpuScan`, `ScanTransformer` are other engines' names of `Scan`. A Delta
table is scanned as a folder of Parquet files; Delta's reads of its own log do not count.

Sources of connectors: neither files nor tables of Spark's own catalogs.

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
from dataclasses import field

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attributes,
    bracket_items,
    column_list,
    identifier,
)
from dbt_graft.collectors.spark.plans.tree import PlanNode
from dbt_graft.collectors.spark.sources.connectors import Target, options, store_target
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase
from dbt_graft.collectors.spark.sources.jdbc import ExternalTable, jdbc_relation
from dbt_graft.collectors.spark.sources.schema import first_struct, output_columns, parse_struct
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.paths import is_file
from dbt_graft.lineage.records import Column

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


# Prefixes and suffixes that other engines add to Spark's names.
_BRAND = re.compile(
    r"^(?:GpuFile)?(?:Comet|File|Gpu|Native|Orc|Parquet|Photon)*((?:Batch)?Scan)(?:Transformer)?"
    r"(?=\W|$)|^(?:Comet|Gpu|Native|Photon)(?=(?:Hive|InMemory|Local)TableScan)"
)
_PLAIN_NAME = re.compile(r"^(?:Gpu|Photon|Comet|Native)(?=[A-Z])")
# Operators that change the form of rows only.
_TRANSITIONS = words("""
    AdaptiveSparkPlan BringBackToHost CoalesceBatches ColumnarToRow HostColumnarToGpu
    InputAdapter RowToColumnar WholeStageCodegen""")
# `(length(trim(value#0, None)) > 0)`, `(gpulength(gpustringtrim(value#0)) > 0)`
_NOT_BLANK = re.compile(r"\((?:gpu)?length\((?:gpu)?(?:string)?trim\(value#")
_SCAN = re.compile(r"Scan (?P<format>[\w.$-]+)(?: (?P<table>.+))?")
_ANY_SCAN = re.compile(r"(?:\w+Scan|Scan|HiveTableScan)\b.*", re.DOTALL)
_FROM_V2 = "Scan JDBC v1 Relation from v2 scan "
_LOCATION = re.compile(r"\w+(?:\(\d+ paths\))?\s?\[(?P<paths>.*?)\]?")
_LOCATION_IN_TEXT = re.compile(
    r"Location: (?P<location>\w+(?:\(\d+ paths\))?\s?\["
    r"(?:[^\[\]]*(?:\]|$)|[^\[\]]*?\.\.\.(?=, [A-Z]\w+: )))"
)
_BETWEEN_PATHS = re.compile(
    r", (?=[a-zA-Z][a-zA-Z0-9+.-]*:/|/|\.\.\.)|,(?=[a-zA-Z][a-zA-Z0-9+.-]*:/)"
)
_CUT = re.compile(r"\.\.\.(?: \d+ entries)?\]?$")

_HIVE_COLUMNS = re.compile(r"(?:Data|Partition) Cols: (\[[^\[\]]*\])")
_HIVE_TABLE = re.compile(r"HiveTableRelation \[?(?P<table>`[^,]+)")
_SCHEMA = "ReadSchema: "
_V2_FILES = re.compile(r"BatchScan \w+ (?P<paths>(?:/|[a-zA-Z][a-zA-Z0-9+.-]*:/).*)")
_V2_TABLE = re.compile(r"(?:Micro)?BatchScan (?P<table>[\w$`-]+(?:\.[^\s.\[\]()]+)+)")
_V2_DESCRIBED = re.compile(
    r"(?:Micro)?BatchScan ?\[[^\n]*?\] (?:IcebergScan\(table=)?"
    r"(?P<table>[\w$`-]+(?:\.[^\s.,\[\]()]+)+)(?= [\[(]|,|$)"
)
_TOPICS = re.compile(r"(?P<by>Subscribe|Assign|SubscribePattern)\[(?P<topics>[^\]]*)\]")
_PARTITION = re.compile(r"-\d+$")
# Iceberg's table of the changes of a table, `db.t.changes`, and the columns that it adds.
_CHANGES, _CHANGELOG, _OF_ICEBERG = "changes", "toSnapshotId=", ("[filters=", "IcebergScan(")
CHANGE_COLUMNS = frozenset({"_change_type", "_change_ordinal", "_commit_snapshot_id"})

# Scans of data in memory: made in Python, or read by another scan of the plan.
_IN_MEMORY = (
    *("Scan ExistingRDD", "Scan OneRowRelation", "LocalTableScan", "InMemoryTableScan"),
    *("RDDScan", "Scan RDD", "Scan In-memory table", "Scan[", "ExternalRDDScan"),
    "TableCacheQueryStage",
)
_STREAMED = ("MicroBatchScan", "ContinuousScan")
_DELTA_LOG, _DELTA_LOG_INDEX = "_delta_log", "DeltaLogFileIndex"
# A scan of a JDBC catalog, without the table's name.
_UNRESOLVED = "JDBCScan$$anon$1"
_NO_PATHS = "(0 paths)"


@frozen
class Scan:
    """A read of a metastore table, of paths, or of both where the plan has both.

    Attributes:
        unresolved: The class of a scan that does not name its table (see `application.unnamed`).
        external: A table or query of a database, which is `database` if the plan names it.
        types: The type of each column in the files by its id in the plan.
        by_path: The path is that of a table of Iceberg.
        of_changes: It reads the changes of the table, with `CHANGE_COLUMNS` besides its own.
        is_cut: Spark left out some of the paths, and the plan names no table.
        from_rdd: An RDD that the plan begins with read it.
        node, location: Its operator and paths in the plan, for the dates that it reads.
    """

    table: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    unresolved: str = ""
    external: ExternalTable | None = None
    database: JdbcDatabase = field(default_factory=JdbcDatabase)
    topics: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    types: tuple[tuple[int, str], ...] = ()
    ids: tuple[int, ...] = ()
    by_path: bool = False
    of_changes: bool = False
    is_cut: bool = False
    from_rdd: bool = False
    rows_metric_id: int | None = None
    bytes_metric_id: int | None = None
    files_metric_id: int | None = None
    partitions_metric_id: int | None = None
    node: PlanNode | None = field(default=None, compare=False, repr=False)
    location: str = field(default="", compare=False, repr=False)


def read_scan(node: PlanNode) -> Scan | None:
    """Return what an operator reads; None where it reads no dataset.

    Raises:
        LookupError: There is no rule for this kind of scan.
    """
    name = _BRAND.sub(r"\1", node.name)
    # `Scan` alone reads an RDD without a name; sources of streams are in their progress, but for
    # tables of Iceberg.
    is_stream = name.startswith(_STREAMED) and not (
        _table_name(name, node.text) or connector_source(name, node.text)
    )
    if is_stream or name.startswith(_IN_MEMORY) or not _ANY_SCAN.fullmatch(name):
        return None
    if name == "Scan" and not node.text.startswith("ScanV2 "):
        return None
    location = node.metadata.get("Location", "")
    if not location and (match := _LOCATION_IN_TEXT.search(node.text)):
        location = match["location"]
    table, paths = _table_name(name, node.text), _paths(location)
    if location.startswith(_DELTA_LOG_INDEX) or (
        paths and all(f"/{_DELTA_LOG}" in path for path in paths)
    ):
        return None
    if not table and _NO_PATHS in location:
        return None
    if files := _V2_FILES.match(name):
        paths = _split_paths(files["paths"])
    relation = jdbc_relation(name, _behind_name(node))
    topics = _topics(name) if "Kafka" in name or "kafka" in node.text[:300] else ()
    database, by_path = JdbcDatabase(), False
    if relation is not None:
        table, paths = (), ()
    elif not (table or paths or topics) and (other := connector_source(name, node.text)):
        table, paths, topics = other.table, tuple(filter(None, [other.path])), other.topics
        relation, database = other.external, other.database
        by_path = bool(paths) and any(sign in node.text for sign in _OF_ICEBERG)
    unresolved = _UNRESOLVED if _UNRESOLVED in name else ""
    if not (table or paths or relation or topics or unresolved):
        raise LookupError(re.split(r"[(\[@]", " ".join(name.split()[:2]))[0])
    schema = parse_struct(node.metadata.get("ReadSchema") or first_struct(_behind_schema(node)))
    columns = scan_output(node)
    by_name = {column.name: column.type for column in schema}
    return Scan(
        table=table,
        paths=paths,
        unresolved=unresolved,
        external=relation,
        database=database,
        topics=topics,
        columns=output_columns(schema, columns),
        types=tuple((a.id, by_name[a.name]) for a in columns if a.name in by_name),
        ids=tuple(a.id for a in columns),
        by_path=by_path,
        of_changes=_CHANGELOG in node.text,
        is_cut=not table and bool(_CUT.search(location)),
        rows_metric_id=node.rows_metric_id,
        bytes_metric_id=node.metrics.get("size of files read"),
        files_metric_id=node.metrics.get("number of files read"),
        partitions_metric_id=node.metrics.get("number of partitions read"),
        node=node,
        location=location or (f"paths[{', '.join(paths)}]" if paths else ""),
    )


def scan_output(node: PlanNode) -> list[Attribute]:
    """The output columns of a scan."""
    lists = _HIVE_COLUMNS.findall(node.text) or [column_list(_behind_name(node))]
    columns = [attribute for text in lists for attribute in attributes(text)]
    added = CHANGE_COLUMNS if _CHANGELOG in node.text else ()
    return [column for column in columns if column.name not in added]


def is_complete(node: PlanNode) -> bool:
    """Whether a scan of files has all its paths and columns, in its metadata or its line."""
    if node.metadata.get("Location"):
        return True
    location, schema = _LOCATION_IN_TEXT.search(node.text), _behind_schema(node)
    has_schema = not schema or bool(first_struct(schema))
    return location is not None and not _CUT.search(location["location"]) and has_schema


def _behind_schema(node: PlanNode) -> str:
    return node.text.partition(_SCHEMA)[2]


def _behind_name(node: PlanNode) -> str:
    """An operator's line without its name, which may have brackets too."""
    return node.text.removeprefix(node.name)


def _table_name(name: str, text: str) -> tuple[str, ...]:
    if name.startswith(_FROM_V2):
        return identifier(name.removeprefix(_FROM_V2))
    if name.startswith(("BatchScan", *_STREAMED)):
        match = _V2_TABLE.match(name) or _V2_DESCRIBED.match(text)
        named = match["table"] if match else ""
        if "@" in named or named.startswith(("class", "org.apache", "file:")):
            return ()  # a Java object
        parts = identifier(named)
        return parts[:-1] if parts[-1:] == (_CHANGES,) and _CHANGELOG in text else parts
    if hive := _HIVE_TABLE.search(text):
        return identifier(hive["table"])
    match = _SCAN.fullmatch(name)
    if match is None or "(" in name or "@" in name:
        return ()
    return identifier(match["table"] or "")


def _topics(name: str) -> tuple[str, ...]:
    match = _TOPICS.search(name)
    if match is None:
        return ()
    topics = {topic.strip() for topic in match["topics"].split(",")}
    if match["by"] == "Assign":  # orders-0: a topic and its partition
        topics = {_PARTITION.sub("", topic) for topic in topics}
    return tuple(sorted(topics - {""}))


def is_schema_inference(plan: PlanNode) -> bool:
    """Whether a plan is Spark's inference of the columns of CSV or JSON files.

    It reads the text of the files as `value`: the first line that is not blank, or all lines into
    an RDD. The read of the user has its own execution.
    """
    names = ((_PLAIN_NAME.sub("", _BRAND.sub(r"\1", node.name)), node.text) for node in plan.walk())
    nodes = [(name, text) for name, text in names if name.partition(" ")[0] not in _TRANSITIONS]
    if not nodes or nodes[-1][0] != "Scan text":
        return False
    kinds, texts = [name.partition(" ")[0] for name, _ in nodes], [text for _, text in nodes]
    if kinds[:-1] == ["CollectLimit", "Filter"]:
        return texts[0].endswith("CollectLimit 1") and bool(_NOT_BLANK.search(texts[1]))
    return kinds[:-1] == ["DeserializeToObject"] and ".toString()" in texts[0]


def _paths(location: str) -> tuple[str, ...]:
    """The paths of `InMemoryFileIndex(2 paths)[file:/a, file:/b]`; later ones may be missing."""
    match = _LOCATION.fullmatch(location)
    return _split_paths(match["paths"]) if match else ()


def _split_paths(text: str) -> tuple[str, ...]:
    paths = [path.strip() for path in _BETWEEN_PATHS.split(text)]
    shown = [path for path in paths if path and not path.startswith("...")]
    # A truncated path counts only where there is no other.
    complete = tuple(path for path in shown if not path.endswith("..."))
    if len(complete) == 1 and len(paths) > 1 and is_file(complete[0]):
        return (f"{complete[0].rpartition('/')[0]}/*",)
    return complete or tuple(path.removesuffix("...").rpartition("/")[0] for path in shown)
