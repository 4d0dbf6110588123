"""The tables of operators: which scans read what, which commands write where."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.plans.arguments import identifier
from dbt_graft.collectors.spark.plans.tree import Operator, PlanNode
from dbt_graft.collectors.spark.sources.commands import CommandRole, find_command, read_target
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.jdbc import ExternalTable
from dbt_graft.collectors.spark.sources.relations import relation_scan
from dbt_graft.collectors.spark.sources.scans import (
    Scan,
    is_schema_inference,
    read_scan,
    scan_output,
)
from dbt_graft.lineage.dataset import DatasetId, Kind
from tests.cases import for_each

ONE = {"Location": "InMemoryFileIndex(1 paths)[file:/wh/raw.db/orders]"}
TWO = {"Location": "InMemoryFileIndex(9 paths)[file:/in/a.csv, file:/in/b, c.csv, ...]"}


@for_each(
    "name, metadata, table, paths",
    [
        ("Scan parquet spark_catalog.raw.orders", ONE, "spark_catalog.raw.orders", 1),
        ("Scan parquet raw.orders", ONE, "raw.orders", 1),
        ("FileScan parquet raw.orders", ONE, "raw.orders", 1),
        ("PhotonScan parquet main.raw.orders", ONE, "main.raw.orders", 1),
        ("GpuScan parquet", ONE, "", 1),
        ("Scan csv", TWO, "", 2),
        ("Scan hive spark_catalog.ml.t", {}, "spark_catalog.ml.t", 0),
        ("Scan parquet", {"Location": "PreparedDeltaFileIndex [file:/t]"}, "", 1),
    ],
)
def test_a_scan_has_its_table_and_paths(
    name: str, metadata: dict[str, str], table: str, paths: int
) -> None:
    scan = read_scan(PlanNode(name, name, metadata))
    assert scan
    assert (".".join(scan.table), len(scan.paths)) == (table, paths)


@for_each(
    "name",
    [
        *("Scan ExistingRDD", "Scan", "LocalTableScan", "Scan OneRowRelation"),
        *("InMemoryTableScan", "Range", "Project", "Exchange", "ExternalRDDScan", "Scan[obj#1]"),
        *("GpuInMemoryTableScan", "PhotonLocalTableScan"),
    ],
)
def test_what_is_in_memory_already_is_no_read(name: str) -> None:
    assert read_scan(PlanNode(name, name)) is None


@pytest.mark.parametrize(
    ("location", "dataset"),
    [
        ("InMemoryFileIndex(9 paths)[file:/in/a.csv, ...]", "/in"),
        ("InMemoryFileIndex [file:/in/a.csv, ... 8 entries]", "/in"),
        ("InMemoryFileIndex(1 paths)[file:/in/a.csv]", "/in/a.csv"),
        ("InMemoryFileIndex(2 paths)[file:/in/a, ...]", "/in/a"),
        ("InMemoryFileIndex[file:/in/long/pa...", "/in/long"),
    ],
)
def test_the_first_of_several_files_stands_for_its_folder(location: str, dataset: str) -> None:
    scan = read_scan(PlanNode("Scan csv", "", {"Location": location}))
    assert scan
    assert [d.name for d, _ in DatasetResolver("spark").read(scan)] == [dataset]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[a#1,b#2L] Batched: true, DataFilters: [isnotnull(a#1)]", ["a", "b"]),
        ("[a#1,b#2,... 15 more fields] Batched: true, Location: X[file:/in]", ["a", "b"]),
        ("[x[0]#1, Amount (EUR), net#2] lake.raw.t (branch=null)", ["x[0]", "Amount (EUR), net"]),
        ("[] Batched: true, PartitionFilters: [flag#1]", []),
        ("[numPartitions=1] [a#1]", []),
    ],
)
def test_the_columns_of_a_scan_are_the_list_behind_its_name(text: str, names: list[str]) -> None:
    columns = scan_output(PlanNode("Scan csv", f"Scan csv {text}"))
    assert [column.name for column in columns] == names


def test_a_scan_of_no_paths_reads_nothing() -> None:
    assert read_scan(PlanNode("Scan csv", "", {"Location": "InMemoryFileIndex(0 paths)[]"})) is None


LOCATION = "InMemoryFileIndex(1 paths)[file:/in/a, file:/in/b]"
ICEBERG = "lake.raw.orders (branch=null) [filters=id > 1, groupedBy=]"
HIVE = "HiveTableRelation [`spark_catalog`.`ml`.`t`, LazySimpleSerDe, Data Cols: [a#1]]"


@for_each(
    "name, arguments, expected",
    [
        (
            "BatchScan parquet file:/in/a,s3a://b/c",
            "[a#1]",
            Scan(paths=("file:/in/a", "s3a://b/c")),
        ),
        (
            "BatchScan",
            f"[a#1] ParquetScan Location: {LOCATION}",
            Scan(paths=("file:/in/a", "file:/in/b")),
        ),
        ("BatchScan lake.raw.orders", f"[a#1] {ICEBERG}", Scan(("lake", "raw", "orders"))),
        ("BatchScan", f"[a#1] {ICEBERG}", Scan(("lake", "raw", "orders"))),
        # A table about a table is one of its own.
        (
            "BatchScan lake.raw.orders.snapshots",
            "[a#1]",
            Scan(("lake", "raw", "orders", "snapshots")),
        ),
        ("BatchScan lake.raw.files", f"[a#1] {ICEBERG}", Scan(("lake", "raw", "files"))),
        # Since Iceberg 1.11
        (
            "BatchScan",
            "[a#1, b[0]#2] IcebergScan(table=lake.raw.orders, schemaId=0, filters=, groupedBy=)",
            Scan(("lake", "raw", "orders")),
        ),
        (
            "BatchScan",
            "[a#1] IcebergScan(table=s3://b/raw/orders, schemaId=0, filters=, groupedBy=)",
            Scan(paths=("s3://b/raw/orders",), by_path=True),
        ),
        # The progress of a stream does not name a table of Iceberg.
        ("MicroBatchScan", f"[a#1] {ICEBERG}", Scan(("lake", "raw", "orders"))),
        (
            "MicroBatchScan",
            "[a#1] /lake/raw/orders (branch=null) [filters=, groupedBy=]",
            Scan(paths=("/lake/raw/orders",), by_path=True),
        ),
        (
            "BatchScan /lake/raw/my orders",
            "[a#1] /lake/raw/my orders (branch=null) [filters=, groupedBy=]",
            Scan(paths=("/lake/raw/my orders",), by_path=True),
        ),
        (
            "BatchScan s3://b/raw/orders",
            "[a#1] s3://b/raw/orders (branch=null) [filters=, groupedBy=]",
            Scan(paths=("s3://b/raw/orders",), by_path=True),
        ),
        (
            "BatchScan lake.raw.orders.changes",
            "[a#1] lake.raw.orders [fromSnapshotId=5, toSnapshotId=91, filters=]",
            Scan(("lake", "raw", "orders")),
        ),
        ("BatchScan lake.raw.changes", f"[a#1] {ICEBERG}", Scan(("lake", "raw", "changes"))),
        ("HiveTableScan", f"[a#1], {HIVE}", Scan(("spark_catalog", "ml", "t"))),
        ("GpuScan hive spark_catalog.ml.t", f"[a#1], {HIVE}", Scan(("spark_catalog", "ml", "t"))),
        ("GpuHiveTableScan", f"[a#1], {HIVE}", Scan(("spark_catalog", "ml", "t"))),
        (
            "FileScan parquet",
            f"[a#1] Location: {LOCATION}",
            Scan(paths=("file:/in/a", "file:/in/b")),
        ),
        (
            "Scan JDBCRelation(dbo.t) [numPartitions=1]",
            "[a#1]",
            Scan(external=ExternalTable("dbo.t")),
        ),
        (
            "Scan JDBCRelation((select a from t) q) [numPartitions=4] spark_catalog.ml.t",
            "[a#1] PushedFilters: [*IsNotNull(a), *GreaterThan(a,0)], ReadSchema: struct<a:int>",
            Scan(external=ExternalTable("(select a from t) q", ("a",))),
        ),
        ("Scan JDBC v1 Relation from v2 scan crm.dbo.t", "[a#1]", Scan(("crm", "dbo", "t"))),
        ("Scan KafkaRelation(strategy=Subscribe[b, a], start=x)", "[a#1]", Scan(topics=("a", "b"))),
        ("Scan KafkaRelation(strategy=Assign[a-0, a-1], start=x)", "", Scan(topics=("a",))),
        ("Scan KafkaRelation(strategy=Subscribe[a-26], start=x)", "", Scan(topics=("a-26",))),
        ("FileScanTransformer parquet raw.t", "[a#1]", Scan(("raw", "t"))),
        ("NativeParquetScan parquet raw.t", "[a#1]", Scan(("raw", "t"))),
        ("GpuBatchScan", "[a#1] s3://b/raw/t [filters=]", Scan(paths=("s3://b/raw/t",))),
        ("BatchScan s3://b/raw/t", "[a#1]", Scan(paths=("s3://b/raw/t",))),
        (
            "DataSourceV2Scan",
            "ScanV2 kafka[key#7] (Options: [subscribe=b,kafka.bootstrap.servers=h:9092])",
            Scan(topics=("b",)),
        ),
        (
            "DataSourceV2Scan",
            "ScanV2 iceberg[a#1] (Filters: [], Options: [path=raw.t,paths=[]])",
            Scan(("raw", "t")),
        ),
        (
            "Scan MergeOnReadSnapshotRelation(org.SQLContext@1f,Map(path -> /lake/t),None)",
            "[a#1]",
            Scan(paths=("/lake/t",)),
        ),
    ],
)
def test_a_scan_of_another_kind_has_its_dataset(name: str, arguments: str, expected: Scan) -> None:
    scan = read_scan(PlanNode(name, f"{name}{arguments}"))
    assert scan
    place = (scan.table, scan.paths, scan.external, scan.topics)
    assert place == (expected.table, expected.paths, expected.external, expected.topics)
    assert scan.by_path or not expected.by_path


@pytest.mark.parametrize(
    ("name", "arguments", "dataset"),
    [
        ('Scan RedshiftRelation("raw"."t")', "[a#1] PushedFilters: []", "redshift/raw.t"),
        ("Scan PhoenixRelation(T,h:2181,false)", "[a#1]", "phoenix/T"),
        ("BatchScan", "[a#1] Cassandra Scan: raw.t\n - Cassandra Filters: []", "cassandra/raw.t"),
        (
            "Scan ElasticsearchRelation(Map(es.resource -> orders, es.nodes -> h),org.X@1f,None)",
            "[a#1]",
            "elasticsearch/orders",
        ),
    ],
)
def test_a_connectors_scan_has_its_database(name: str, arguments: str, dataset: str) -> None:
    scan = read_scan(PlanNode(name, f"{name} {arguments}"))
    assert scan
    assert [str(d) for d, _ in DatasetResolver("spark").read(scan)] == [dataset]


@pytest.mark.parametrize("name", ["MicroBatchScan", "ContinuousScan"])
@for_each(
    "source", ["class org.apache.KafkaScan", "org.apache.KafkaScan@1f", "com.shop.Scan@1f", ""]
)
def test_a_streams_scan_is_known_by_its_progress(name: str, source: str) -> None:
    assert read_scan(PlanNode(name, f"{name}[key#1] {source}")) is None


RELATIONS = [
    ("RelationV2", "[Amount (EUR), net#1, x[0]#2] lake.raw.t lake.raw.t", "lake.raw.t"),
    ("LogicalRelation", "parquet, [a#1], `spark_catalog`.`raw`.`t`, false", "raw.t"),
    ("LogicalRelation", "parquet, [a#1], false", ""),
    ("LogicalRelation", "JDBCRelation(dbo.t) [numPartitions=1], [a#1], false", "jdbc dbo.t"),
    ("Relation", "[a#1] JDBCRelation(dbo.t) [numPartitions=1]", "jdbc dbo.t"),
    ("Relation", "raw.t[a#1,b#2] parquet", "raw.t"),
    ("Relation", "[a#1] parquet", ""),
    ("HiveTableRelation", "`raw`.`t`, org.serde2.Simple, [a#1]", "raw.t"),
    ("HiveTableRelation", "[`raw`.`t`, org.serde2.Simple, Data Cols: [a#1]]", "raw.t"),
    ("RelationV2", "[a#1] lake.raw.t", "lake.raw.t"),
    ("RelationV2", "[a#1] raw.t", ""),
    ("DataSourceV2ScanRelation", "[a#1] lake.raw.t lake.raw.t (branch=null)", "lake.raw.t"),
    ("SubqueryAlias", "raw.t", ""),
]


@for_each("name, text, read", RELATIONS)
def test_a_relation_of_a_logical_plan_has_its_table(name: str, text: str, read: str) -> None:
    scan = relation_scan(Operator(name, text))
    found = DatasetResolver("spark").read(scan) if scan else []
    reason = [f"jdbc {d.name}" if d.namespace == "jdbc" else d.name for d, _ in found]
    assert reason == ([read] if read else [])


@pytest.mark.parametrize(
    "location",
    [
        "DeltaLogFileIndex(1 paths)[file:/t/_delta_log/0010.checkpoint.parquet]",
        "DeltaLogFileIndex(1 paths)[file:/a/long/path/that/is/cut...",
        "InMemoryFileIndex(1 paths)[file:/t/_delta_log]",
    ],
)
def test_deltas_own_log_is_no_read(location: str) -> None:
    log = {"Location": location}
    assert read_scan(PlanNode("Scan parquet", "FileScan parquet [txn#1]", log)) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Scan com.shop.Relation@1f (n='Jane')", "Scan com.shop.Relation"),
        ("BatchScan[a#1] class com.shop.Table", "BatchScan"),
    ],
)
def test_a_scan_without_a_rule_is_named_without_its_text(name: str, reason: str) -> None:
    with pytest.raises(LookupError) as error:
        read_scan(PlanNode(name, name))
    assert error.value.args == (reason,)


def test_schema_inference_differs_from_reading_text() -> None:
    scan = PlanNode("Scan text", "FileScan text [value#0]", ONE)
    blank = PlanNode("Filter", "Filter (length(trim(value#0, None)) > 0)", children=(scan,))
    codegen = PlanNode("WholeStageCodegen (1)", "", children=(blank,))
    to_rdd = "DeserializeToObject invoke(value#0.toString()), obj#15: java.lang.String"
    assert is_schema_inference(PlanNode("CollectLimit", "CollectLimit 1", children=(codegen,)))
    assert is_schema_inference(PlanNode("DeserializeToObject", to_rdd, children=(scan,)))
    on_gpu = PlanNode("GpuRowToColumnar", "GpuRowToColumnar", children=(scan,))
    trimmed = "GpuFilter (gpulength(gpustringtrim(value#0, None)) > 0)"
    gpu = PlanNode("GpuFilter", trimmed, children=(on_gpu,))
    back = PlanNode("GpuColumnarToRow", "GpuColumnarToRow false", children=(gpu,))
    assert is_schema_inference(PlanNode("CollectLimit", "CollectLimit 1", children=(back,)))
    limit = PlanNode("GpuCollectLimit", "GpuCollectLimit 1", children=(gpu,))
    assert is_schema_inference(PlanNode("GpuColumnarToRow", "", children=(limit,)))
    assert not is_schema_inference(PlanNode("CollectLimit", "CollectLimit 21", children=(back,)))
    assert not is_schema_inference(PlanNode("CollectLimit", "CollectLimit 21", children=(codegen,)))
    assert not is_schema_inference(scan)


C = "`spark_catalog`.`ml`.`t`"
T = ("spark_catalog", "ml", "t")
SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
DESCRIBED = (
    "CatalogTable(\nDatabase: ml\nTable: t\nOwner: me\nLocation: file:/w/t\nSchema: root\n"
    " |-- id: decimal(3,2) (nullable = true)\n |-- dt: string (nullable = true)\n)"
)


@for_each(
    "operator, arguments, operation, target",
    [
        (
            "Execute InsertIntoHadoopFsRelationCommand",
            'file:/o, false, [dt#5], Parquet, [__partition_columns=["dt"], path=/o], Overwrite,'
            " [id, dt]",
            "INSERT OVERWRITE",
            Target((), "file:/o", ("id", "dt"), mode="Overwrite"),
        ),
        (
            "Execute InsertIntoHadoopFsRelationCommand",
            f"file:/w/t, false, Parquet, [path=file:/w/t], Append, {C}, {SERDE},"
            " org.apache.spark.InMemoryFileIndex(file:/w/t), [id]",
            "INSERT",
            Target(T, "file:/w/t", ("id",), mode="Append"),
        ),
        (
            "Execute InsertIntoHadoopFsRelationCommand",
            f"file:/w/t, false, [dt#5], Parquet, [path=file:/w/t,\nmode=x], Overwrite, {DESCRIBED},"
            " org.apache.spark.CatalogFileIndex@1f, [id, dt]",
            "INSERT OVERWRITE",
            Target(T[1:], "file:/w/t", ("id", "dt"), mode="Overwrite"),
        ),
        (
            "Execute GpuInsertIntoHadoopFsRelationCommand",
            f"file:/w/t, false, [dt#5], com.nvidia.spark.rapids.GpuParquetFileFormat@1f, [a=b],"
            f" Append, {DESCRIBED}, org.apache.spark.CatalogFileIndex@1f, [id, dt], false, 0",
            "INSERT",
            Target(T[1:], "file:/w/t", ("id", "dt"), mode="Append"),
        ),
        (
            "Execute GpuInsertIntoHadoopFsRelationCommand",
            "file:/o, false, com.nvidia.spark.rapids.GpuOrcFileFormat@1f, [path=/o], Append, [id],"
            " false, 0",
            "INSERT",
            Target((), "file:/o", ("id",), mode="Append"),
        ),
        (
            "Execute GpuCreateDataSourceTableAsSelectCommand",
            "`ml`.`t`, Overwrite, [a, b], class org.ParquetFileFormat, false",
            "CREATE TABLE AS",
            Target(T[1:], columns=("a", "b"), mode="Overwrite"),
        ),
        (
            "Execute GpuInsertIntoHiveTable",
            f"`ml`.`t`, {SERDE}, [dt=Some(1)], org.rapids.GpuHiveFileFormat@1f, true, false, [a]",
            "INSERT OVERWRITE",
            Target(T[1:], columns=("a",), mode="Overwrite", partitions=((("dt", "1"),),)),
        ),
        (
            "Execute InsertIntoHiveTable",
            f"{C}, {SERDE}, [dt=Some(2026-11-01)], true, false, [a], Hive, HiveTempPath(file:/w)",
            "INSERT OVERWRITE",
            Target(T, columns=("a",), mode="Overwrite", partitions=((("dt", "2026-11-01"),),)),
        ),
        (
            "Execute InsertIntoHiveTable",
            f"{C}, {SERDE}, false, false, [a, b], Hive, HiveTempPath(file:/w)",
            "INSERT",
            Target(T, columns=("a", "b"), mode="Append"),
        ),
        (
            "Execute InsertIntoHiveDirCommand",
            "false, Storage(Location: file:/out/dir, Serde Library: x), false, [a]",
            "INSERT OVERWRITE",
            Target(path="file:/out/dir", mode="Overwrite"),
        ),
        (
            "Execute SaveAsV1TableCommand",
            "`ml`.`t`, Append, Relation [id#1] csv",
            "INSERT",
            Target(("ml", "t"), mode="Append"),
        ),
        (
            "Execute CreateDataSourceTableAsSelectCommand",
            f"{C}, ErrorIfExists, [id]",
            "CREATE TABLE AS",
            Target(T, columns=("id",), mode="ErrorIfExists"),
        ),
        (
            "Execute CreateHiveTableAsSelectCommand",
            "[Database: ml, TableName: t]",
            "CREATE TABLE AS",
            Target(("ml", "t")),
        ),
        (
            "Execute CreateHiveTableAsSelectCommand",
            "CreateHiveTableAsSelectCommand [Database:ml}, TableName: t, InsertIntoHiveTable]",
            "CREATE TABLE AS",
            Target(("ml", "t")),
        ),
        (
            "Execute CreateViewCommand",
            f"{C}, select 'LocalTempView, (' from x, false, false, PersistedView, COMPENSATION",
            "CREATE VIEW",
            Target(T, is_view=True),
        ),
        ("Execute CreateDataSourceTableCommand", f"{C}, false", "CREATE TABLE", Target(T)),
        (
            "Execute CreateTableLikeCommand",
            f"{C}, `a`.`b`, Storage()",
            "CREATE TABLE",
            Target(T, source_table=("a", "b")),
        ),
        ("Execute TruncateTableCommand", C, "TRUNCATE", Target(T)),
        ("Execute AlterTableAddColumnsCommand", f"{C}, [StructField(b)]", "ALTER", Target(T)),
        (
            "Execute AlterTableRenameCommand",
            f"`ml`.`old`, {C}, false",
            "RENAME",
            Target(T, source_table=("ml", "old")),
        ),
        (
            "Execute DropTableCommand",
            f"{C}, true, true, false",
            "DROP",
            Target(T, is_view=True, if_exists=True),
        ),
        (
            "DropTable",
            "V2SessionCatalog(spark_catalog), ml.t, false, x",
            "DROP",
            Target(T[1:], catalog="V2SessionCatalog"),
        ),
        (
            "RenameTable",
            "org.apache.iceberg.spark.SparkCatalog@1f, ml.old, ml.t",
            "RENAME",
            Target(
                T[1:],
                source_table=("ml", "old"),
                catalog="org.apache.iceberg.spark.SparkCatalog@1f",
            ),
        ),
        (
            "Execute LoadDataCommand",
            f"{C}, /landing/x.txt, true, false",
            "LOAD DATA",
            Target(T, source_path="/landing/x.txt"),
        ),
    ],
)
def test_a_command_has_its_operation_and_target(
    operator: str, arguments: str, operation: str, target: Target
) -> None:
    found = find_command(operator)
    assert found
    assert read_target(found[1], arguments) == target
    assert found[1].operation_of(target) == operation


@pytest.mark.parametrize("kind", ["LocalTempView", "GlobalTempView"])
def test_a_view_of_the_session_is_no_dataset(kind: str) -> None:
    found = find_command("Execute CreateViewCommand")
    assert found
    assert read_target(found[1], f"`tv`, select 1, false, true, {kind}, UNSUPPORTED, true") is None


@for_each(
    "operator",
    [
        *("Execute AnalyzeTableCommand", "Execute ShowTablesCommand", "Execute SetCommand"),
        *("Execute RefreshTableCommand", "Execute DescribeTableCommand", "Execute AddJarsCommand"),
        *("Execute CreateTempViewUsing", "Execute DeltaGenerateCommand"),
    ],
)
def test_looking_and_tuning_is_maintenance(operator: str) -> None:
    found = find_command(operator)
    assert found
    assert found[1].role is CommandRole.MAINTENANCE


JDBC = "org.apache.spark.sql.execution.datasources.jdbc.JdbcRelationProvider@1f"
DELTA = "org.apache.spark.sql.delta.sources.DeltaDataSource@1f"
URL = "jdbc:sqlserver://crm:1433;databaseName=Shop"
CRM = JdbcDatabase("mssql://crm:1433", "Shop", "dbo")
DELTA_TABLE = (
    "DeltaTableV2(org.apache.spark.sql.SparkSession@1,file:/wh/t,Some(CatalogTable(\nCatalog: "
    "spark_catalog\nDatabase: ml\nTable: t\nOwner: someone)),Some(spark_catalog.ml.t),None,Map())"
)
ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
HUDI = "org.apache.hudi.Spark3DefaultSource@1f"
WRITES = [
    (
        "Execute SaveIntoDataSourceCommand",
        f"{JDBC}, [url=*********(redacted), dbtable=dbo.t, user=me], Append",
        "INSERT",
        Target(external=ExternalTable("dbo.t"), mode="Append"),
    ),
    (
        "Execute SaveIntoDataSourceCommand",
        f"{JDBC}, Map(url -> {URL}, dbtable -> dbo.t, password -> x), Overwrite",
        "INSERT OVERWRITE",
        Target(external=ExternalTable("dbo.t"), database=CRM, mode="Overwrite"),
    ),
    (
        "Execute SaveIntoDataSourceCommand",
        f"{DELTA}, [path=s3://b/t], Overwrite",
        "INSERT OVERWRITE",
        Target(path="s3://b/t", mode="Overwrite"),
    ),
    (
        "Execute SaveIntoDataSourceCommand",
        f"{HUDI}, Map(hoodie.table.name -> t, path -> /lake/t), Append",
        "INSERT",
        Target(path="/lake/t", mode="Append"),
    ),
    (
        "Execute SaveIntoDataSourceCommand",
        "org.apache.spark.sql.kafka010.KafkaSourceProvider@1f, [topic=orders], Append",
        "INSERT",
        Target(topics=("orders",), mode="Append"),
    ),
    (
        "Execute SaveIntoDataSourceCommand",
        "net.snowflake.spark.snowflake.DefaultSource@1f, [sfurl=org-acc.snowflakecomputing.com, "
        "sfdatabase=DW, sfschema=RAW, dbtable=T], Append",
        "INSERT",
        Target(
            external=ExternalTable("T"),
            database=JdbcDatabase("snowflake://org-acc", "DW", "RAW"),
            mode="Append",
        ),
    ),
    (
        "Execute SaveIntoDataSourceCommand",
        "com.google.cloud.spark.bigquery.BigQueryRelationProvider@1f, [table=p:sales.orders, "
        "parentproject=billed], Append",
        "INSERT",
        Target(
            external=ExternalTable("p.sales.orders"),
            database=JdbcDatabase("bigquery"),
            mode="Append",
        ),
    ),
    (
        "Execute SaveIntoDataSourceCommand",
        "com.google.cloud.spark.bigquery.BigQueryRelationProvider@1f, [project=p, dataset=sales, "
        "table=orders], Append",
        "INSERT",
        Target(
            external=ExternalTable("orders"),
            database=JdbcDatabase("bigquery", "p", "sales"),
            mode="Append",
        ),
    ),
    (
        "Execute InsertIntoDataSourceCommand",
        "Relation spark_catalog.ml.jt[id#1] JDBCRelation(dbo.t) [numPartitions=1], true",
        "INSERT OVERWRITE",
        Target(external=ExternalTable("dbo.t"), mode="Overwrite"),
    ),
    ("AppendDataExecV1", f"{DELTA_TABLE}, Project [a#1]", "INSERT", Target(T, "file:/wh/t")),
    (
        "AppendDataExecV1",
        "JDBCTable(dbo.t,StructType(StructField(a,IntegerType,true)),x), Project [a#1]",
        "INSERT",
        Target(external=ExternalTable("dbo.t"), catalog="jdbc"),
    ),
    (
        "AppendData",
        "org.apache.spark.sql.execution.Lambda$1/0x1@2f, IcebergWrite(table=lake.raw.t, format=X)",
        "INSERT",
        Target(("lake", "raw", "t")),
    ),
    (
        "OverwriteByExpression",
        "IcebergWrite(table=lake.raw.t, format=PARQUET)",
        "INSERT OVERWRITE",
        Target(("lake", "raw", "t")),
    ),
    (
        "AppendData",
        "org.Lambda$1/0x1@2f, IcebergWrite(table=s3://b/raw/t, format=PARQUET)",
        "INSERT",
        Target(path="s3://b/raw/t", by_path=True),
    ),
    (
        "OverwritePartitionsDynamic",
        "IcebergWrite(table=lake.raw.t, format=PARQUET)",
        "INSERT OVERWRITE",
        Target(("lake", "raw", "t")),
    ),
    (
        "AtomicReplaceTableAsSelect",
        f"{ICEBERG_CATALOG}@1f, raw.t, Project [a#1], TableSpec(Map(),None), [], true",
        "CREATE TABLE AS",
        Target(("raw", "t"), catalog=f"{ICEBERG_CATALOG}@1f"),
    ),
    (
        "AtomicCreateTableAsSelect",
        f"{ICEBERG_CATALOG}@1f, `s3://b/raw`.t, Project [a#1], TableSpec(Map(),None), false",
        "CREATE TABLE AS",
        Target(path="s3://b/raw/t", by_path=True),
    ),
    (
        "AtomicCreateTableAsSelect",
        f"{ICEBERG_CATALOG}@1f, raw.t, Project [a#1], "
        "TableSpec(Map(a -> b),Some(iceberg),Map(),Some(s3://b/t),None,None,false), false",
        "CREATE TABLE AS",
        Target(("raw", "t"), "s3://b/t", catalog=f"{ICEBERG_CATALOG}@1f"),
    ),
    (
        "AtomicReplaceTableAsSelect",
        "[num_affected_rows#1L, num_inserted_rows#2L], com.databricks.UnityCatalogV2Proxy@1f, ml.t,"
        " Union false, false, TableSpec(Map(),Some(delta)), [replaceWhere=a IN ('b')], true",
        "CREATE TABLE AS",
        Target(T[1:], catalog="com.databricks.UnityCatalogV2Proxy@1f"),
    ),
    (
        "AppendData",
        "lake.raw.t, org.apache.spark.sql.util.CaseInsensitiveStringMap@1f, Project [a#1]",
        "INSERT",
        Target(("lake", "raw", "t")),
    ),
    (
        "OverwriteByExpression",
        "s3://b/raw/t, [AlwaysTrue()], org.CaseInsensitiveStringMap@1f, Project [a#1]",
        "INSERT OVERWRITE",
        Target(path="s3://b/raw/t"),
    ),
    ("DeleteFromTable", "lake.raw.t, [EqualTo(a,1)]", "DELETE", Target(("lake", "raw", "t"))),
    ("TruncateTable", "lake.raw.t, org.Lambda$1/0x1@2f", "TRUNCATE", Target(("lake", "raw", "t"))),
    (
        "Execute SaveIntoDataSourceCommand",
        "org.elasticsearch.spark.sql.DefaultSource@1f, Map(path -> orders), Append",
        "INSERT",
        Target(
            external=ExternalTable("orders"), database=JdbcDatabase("elasticsearch"), mode="Append"
        ),
    ),
    (
        "OverwriteByExpressionExecV1$",
        f"[num_affected_rows#1L], {DELTA_TABLE}, Project [a#1]",
        "INSERT OVERWRITE",
        Target(T, "file:/wh/t"),
    ),
    (
        "Execute GpuMergeIntoCommand",
        "SubqueryAlias t, Delta[version=3, file:/wh/t], (a#1 = b#2), [], []",
        "MERGE",
        Target(path="file:/wh/t"),
    ),
    (
        "Execute MergeIntoCommand",
        "SubqueryAlias s, SubqueryAlias t, Delta[version=3, file:/wh/t], (a#1 = b#2), [], []",
        "MERGE",
        Target(path="file:/wh/t"),
    ),
    (
        "Execute DeleteCommand",
        "Delta[version=3, s3a://b/t], [a#1], (a#1 > 3)",
        "DELETE",
        Target(path="s3a://b/t"),
    ),
    ("Execute MergeIntoHoodieTableCommand", f"x, {C}", "MERGE", Target(T)),
]


@for_each("operator, arguments, operation, target", WRITES)
def test_a_write_through_a_connector_has_its_target(
    operator: str, arguments: str, operation: str, target: Target
) -> None:
    found = find_command(operator)
    assert found
    assert read_target(found[1], arguments) == target
    assert found[1].operation_of(target) == operation


@pytest.mark.parametrize(
    ("table", "catalog"), [("delta.`/lake/t`", ""), ("parquet.`/lake/t`", "DeltaCatalog")]
)
def test_a_table_named_by_its_path_is_the_path(table: str, catalog: str) -> None:
    target = Target(identifier(table), catalog=catalog)
    assert DatasetResolver("spark").written_datasets(target) == [
        (DatasetId("file", "/lake/t"), Kind.PATH)
    ]


@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        ("Execute BuildFlowerBedCommand", "BuildFlowerBedCommand"),
        ("WriteToContinuousDataSource", "WriteToContinuousDataSource"),
    ],
)
def test_a_write_without_a_rule_is_named(operator: str, reason: str) -> None:
    with pytest.raises(LookupError, match=reason):
        find_command(operator)


@pytest.mark.parametrize("operator", ["Project", "ShowTables", "CreateNamespace", "WriteFiles"])
def test_other_operators_are_no_commands(operator: str) -> None:
    assert find_command(operator) is None
