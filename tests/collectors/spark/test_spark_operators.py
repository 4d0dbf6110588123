"""The tables of operators: which scans read what, which commands write where."""

from __future__ import annotations

import pytest

from collectors.spark.commands import Role, Target, find_command, read_target
from collectors.spark.plans.info import Node
from collectors.spark.scans import is_schema_inference, read_scan

ONE = {"Location": "InMemoryFileIndex(1 paths)[file:/wh/raw.db/orders]"}
TWO = {"Location": "InMemoryFileIndex(9 paths)[file:/in/a.csv, file:/in/b, c.csv, ...]"}


@pytest.mark.parametrize(
    ("name", "metadata", "table", "paths"),
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
def test_a_scan_tells_its_table_and_paths(
    name: str, metadata: dict[str, str], table: str, paths: int
) -> None:
    scan = read_scan(Node(name, name, metadata))
    assert scan
    assert (".".join(scan.table), len(scan.paths)) == (table, paths)


@pytest.mark.parametrize(
    "name",
    [
        *("Scan ExistingRDD", "Scan", "LocalTableScan", "Scan OneRowRelation"),
        *("InMemoryTableScan", "Range", "Project", "Exchange"),
    ],
)
def test_what_is_in_memory_already_is_no_read(name: str) -> None:
    assert read_scan(Node(name, name)) is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Scan JDBCRelation((select * from t where n='Jane') q)", "Scan JDBCRelation"),
        ("BatchScan parquet file:/x", "BatchScan parquet"),
    ],
)
def test_a_scan_without_a_rule_is_named_without_its_text(name: str, told: str) -> None:
    with pytest.raises(LookupError) as error:
        read_scan(Node(name, name))
    assert error.value.args == (told,)


def test_spark_looking_for_a_schema_is_told_from_reading_text() -> None:
    scan = Node("Scan text", "FileScan text [value#0]", ONE)
    blank = Node("Filter", "Filter (length(trim(value#0, None)) > 0)", children=(scan,))
    codegen = Node("WholeStageCodegen (1)", "", children=(blank,))
    to_rdd = "DeserializeToObject invoke(value#0.toString()), obj#15: java.lang.String"
    assert is_schema_inference(Node("CollectLimit", "CollectLimit 1", children=(codegen,)))
    assert is_schema_inference(Node("DeserializeToObject", to_rdd, children=(scan,)))
    assert not is_schema_inference(Node("CollectLimit", "CollectLimit 21", children=(codegen,)))
    assert not is_schema_inference(scan)


C = "`spark_catalog`.`ml`.`t`"
T = ("spark_catalog", "ml", "t")
SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


@pytest.mark.parametrize(
    ("operator", "arguments", "operation", "target"),
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
            "Execute InsertIntoHiveTable",
            f"{C}, {SERDE}, [dt=Some(2026-11-01)], true, false, [a], Hive, HiveTempPath(file:/w)",
            "INSERT OVERWRITE",
            Target(T, columns=("a",), mode="Overwrite"),
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
            "Execute CreateViewCommand",
            f"{C}, select 'LocalTempView, (' from x, false, false, PersistedView, COMPENSATION",
            "CREATE VIEW",
            Target(T, is_view=True),
        ),
        ("Execute CreateDataSourceTableCommand", f"{C}, false", "CREATE TABLE", Target(T)),
        ("Execute CreateTableLikeCommand", f"{C}, `a`, Storage()", "CREATE TABLE", Target(T)),
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
        ("DropTable", "V2SessionCatalog(spark_catalog), ml.t, false, x", "DROP", Target(T[1:])),
        (
            "Execute LoadDataCommand",
            f"{C}, /landing/x.txt, true, false",
            "LOAD DATA",
            Target(T, source_path="/landing/x.txt"),
        ),
    ],
)
def test_a_command_tells_what_it_does_and_where(
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


@pytest.mark.parametrize(
    "operator",
    [
        *("Execute AnalyzeTableCommand", "Execute ShowTablesCommand", "Execute SetCommand"),
        *("Execute RefreshTableCommand", "Execute DescribeTableCommand", "Execute AddJarsCommand"),
    ],
)
def test_looking_and_tuning_is_maintenance(operator: str) -> None:
    found = find_command(operator)
    assert found
    assert found[1].role is Role.MAINTENANCE


@pytest.mark.parametrize(
    ("operator", "told"),
    [
        ("Execute SaveIntoDataSourceCommand", "SaveIntoDataSourceCommand"),
        ("AppendData", "AppendData"),
        ("OverwriteByExpression", "OverwriteByExpression"),
        ("AtomicReplaceTableAsSelect", "AtomicReplaceTableAsSelect"),
    ],
)
def test_a_write_without_a_rule_is_named(operator: str, told: str) -> None:
    with pytest.raises(LookupError, match=told):
        find_command(operator)


@pytest.mark.parametrize("operator", ["Project", "ShowTables", "CreateNamespace", "WriteFiles"])
def test_other_operators_are_no_commands(operator: str) -> None:
    assert find_command(operator) is None
