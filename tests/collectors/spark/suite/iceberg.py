"""Tables of Iceberg: made, changed, read and looked after in all ways, in a Hadoop catalog `lake`.

`lake.raw.orders` has 20 rows with the columns order_id, cust_id, amount and day. These jobs need
Iceberg's jars, so their log is made by `logs.generate` and no part of the suite.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.collectors.spark.suite.case import Instead, SuiteCase, case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CASES: dict[str, SuiteCase] = {}
CATALOG = "org.apache.iceberg.spark.SparkCatalog"
KEPT = "order_id <- lake.raw.orders.order_id\namount <- lake.raw.orders.amount"
CHANGES = ("delete", "merge", "update")
ON_READ = ", ".join(f"'write.{change}.mode'='merge-on-read'" for change in CHANGES)


def settings(base: Path, jars: str) -> dict[str, str]:
    """The settings of a session with these jars."""
    return {
        "spark.jars": jars,
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": CATALOG,
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": f"{base}/lake",
    }


def fill(spark: SparkSession) -> None:
    """Make the table that the jobs read."""
    spark.sql("CREATE DATABASE ml")
    spark.sql(
        "CREATE TABLE lake.raw.orders (order_id bigint, cust_id bigint, amount double, day date) "
        "USING iceberg PARTITIONED BY (day)"
    )
    _rows(spark).writeTo("lake.raw.orders").append()


def _rows(spark: SparkSession) -> DataFrame:
    return spark.range(20).selectExpr(
        "id AS order_id", "id % 3 AS cust_id", "id * 1.5D AS amount", "DATE '2026-11-25' AS day"
    )


def _orders(spark: SparkSession, *columns: str) -> DataFrame:
    return spark.table("lake.raw.orders").selectExpr(*columns or ("order_id", "amount"))


@case(
    "CREATE TABLE AS lake.raw.totals 3 <- lake.raw.orders 20",
    columns="""
    cust_id <- lake.raw.orders.cust_id
    total   <- lake.raw.orders.amount AGGREGATION
    *       <- lake.raw.orders.cust_id GROUP_BY
    """,
    cases=CASES,
)
def create_as(spark: SparkSession, _: Path) -> None:
    spark.sql(
        "CREATE TABLE lake.raw.totals USING iceberg AS SELECT cust_id, sum(amount) AS total, "
        "count(*) AS n FROM lake.raw.orders GROUP BY cust_id"
    )


@case(
    "2 x CREATE TABLE AS lake.raw.tops 6 <- lake.raw.orders 40",
    columns="""
    cust_id <- lake.raw.orders.cust_id
    top     <- lake.raw.orders.amount AGGREGATION
    low     <- lake.raw.orders.amount AGGREGATION
    *       <- lake.raw.orders.cust_id GROUP_BY, lake.raw.orders.amount FILTER
    """,
    cases=CASES,
)
def replace_as(spark: SparkSession, _: Path) -> None:
    query = "FROM lake.raw.orders WHERE amount > 3 GROUP BY cust_id"
    table = "TABLE lake.raw.tops USING iceberg AS SELECT cust_id,"
    spark.sql(f"CREATE OR REPLACE {table} max(amount) AS top {query}")
    spark.sql(f"REPLACE {table} min(amount) AS low {query}")


@case(
    "2 x CREATE TABLE AS lake.raw.made 40 <- lake.raw.orders 40",
    "INSERT lake.raw.made 20 <- lake.raw.orders 20",
    "2 x INSERT OVERWRITE lake.raw.made 37 <- lake.raw.orders 40",
    columns=f"""
    {KEPT.splitlines()[0]}
    {KEPT.splitlines()[1]}, lake.raw.orders.amount TRANSFORMATION
    day <- lake.raw.orders.day
    *   <- lake.raw.orders.amount FILTER
    """,
    cases=CASES,
)
def write_to(spark: SparkSession, _: Path) -> None:
    from pyspark.sql.functions import col

    orders = _orders(spark, "order_id", "amount", "day")
    twice = _orders(spark, "order_id", "amount * 2 AS amount", "day")
    orders.writeTo("lake.raw.made").partitionedBy(col("day")).create()
    twice.writeTo("lake.raw.made").partitionedBy(col("day")).createOrReplace()
    orders.writeTo("lake.raw.made").append()
    orders.where("amount > 3").writeTo("lake.raw.made").overwritePartitions()
    orders.writeTo("lake.raw.made").overwrite(col("order_id") > 100)


@case(
    "2 x CREATE TABLE AS lake.raw.saved 40 <- lake.raw.orders 40",
    "INSERT lake.raw.saved 20 <- lake.raw.orders 20",
    "INSERT OVERWRITE lake.raw.saved 20 <- lake.raw.orders 20",
    columns=KEPT,
    cases=CASES,
)
def save_as_table(spark: SparkSession, _: Path) -> None:
    write = _orders(spark).write
    write.format("iceberg").saveAsTable("lake.raw.saved")
    write.format("iceberg").mode("append").saveAsTable("lake.raw.saved")
    write.format("iceberg").mode("overwrite").saveAsTable("lake.raw.saved")
    write.insertInto("lake.raw.saved")  # in the mode of before


def _changed(table: str, merged: int) -> tuple[str, ...]:
    """The statements of `_change`, of which MERGE reads so many rows."""
    return (
        f"CREATE TABLE lake.raw.{table}",
        f"INSERT lake.raw.{table} 20 <- lake.raw.orders 20",
        f"MERGE lake.raw.{table} <- lake.raw.orders {merged}",
        f"UPDATE lake.raw.{table}",
        f"DELETE lake.raw.{table} <- lake.raw.orders 20",
    )


# What MERGE puts into columns, the extended layout does not show.
INSERTED = f"{KEPT}\n* <- lake.raw.orders.order_id JOIN, lake.raw.orders.amount FILTER"
AMOUNT = "amount <- lake.raw.orders.amount TRANSFORMATION"
HIDDEN = "the plan does not show all columns: set spark.sql.ui.explainMode to formatted"


def _change(spark: SparkSession, table: str, properties: str) -> None:
    spark.sql(f"CREATE TABLE {table} (order_id bigint, amount double) USING iceberg {properties}")
    spark.sql(f"INSERT INTO {table} SELECT order_id, amount FROM lake.raw.orders")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT order_id, amount + 1 AS amount FROM lake.raw.orders) o"
        " ON t.order_id = o.order_id WHEN MATCHED THEN UPDATE SET t.amount = o.amount"
        " WHEN NOT MATCHED THEN INSERT *"
    )
    spark.sql(f"UPDATE {table} SET amount = amount * 2 WHERE order_id < 5")
    spark.sql(
        f"DELETE FROM {table} WHERE order_id IN "
        "(SELECT order_id FROM lake.raw.orders WHERE amount > 20)"
    )


def _found(table: str) -> str:
    """The columns by which the statements of `_change` find the rows that they change."""
    return f"* <- lake.raw.{table}.order_id JOIN, lake.raw.{table}.order_id FILTER"


# Files with rows to change are found by the source first.
COPIED = f"{INSERTED}\n* <- lake.raw.orders.order_id FILTER\n{_found('copied')}"
MARKED = f"{INSERTED}\n{_found('marked')}"


@case(
    *_changed("copied", 40),
    columns=f"{COPIED}\n{AMOUNT}",
    extended={(3, 5): Instead(columns=COPIED, gaps=HIDDEN)},
    cases=CASES,
)
def change_by_copy(spark: SparkSession, _: Path) -> None:
    _change(spark, "lake.raw.copied", "")


@case(
    *_changed("marked", 20),
    columns=f"{MARKED}\n{AMOUNT}",
    extended={(3, 5): Instead(columns=MARKED, gaps=HIDDEN)},
    cases=CASES,
)
def change_on_read(spark: SparkSession, _: Path) -> None:
    _change(spark, "lake.raw.marked", f"TBLPROPERTIES ('format-version'='2', {ON_READ})")


@case(
    "INSERT /out/by_path 20 <- lake.raw.orders 20",
    columns=KEPT,
    cases=CASES,
)
def read_by_path(spark: SparkSession, at: Path) -> None:
    rows = spark.read.format("iceberg").load(f"{at}/lake/raw/orders").select("order_id", "amount")
    rows.write.json(f"{at}/out/by_path")


@case(
    "CREATE TABLE AS lake.raw.placed 20 <- lake.raw.orders 20",
    "INSERT lake.raw.placed 20 <- lake.raw.orders 20",
    columns=KEPT,
    cases=CASES,
)
def write_by_path(spark: SparkSession, at: Path) -> None:
    _orders(spark).writeTo("lake.raw.placed").create()
    _orders(spark).write.format("iceberg").mode("append").save(f"{at}/lake/raw/placed")


@case(
    "CREATE TABLE AS lake.raw.after 20 <- lake.raw.orders 20",
    "INSERT /out/loaded 20 <- lake.raw.orders 20",
    columns="""
    lake.raw.after: order_id <- lake.raw.orders.order_id
    lake.raw.after: amount   <- lake.raw.orders.amount
    /out/loaded: order_id    <- lake.raw.orders.order_id
    """,
    cases=CASES,
)
def format_adds_a_catalog_of_the_same_class(spark: SparkSession, at: Path) -> None:
    loaded = spark.read.format("iceberg").load("lake.raw.orders")
    loaded.select("order_id").write.csv(f"{at}/out/loaded")
    spark.sql(
        "CREATE TABLE lake.raw.after USING iceberg AS SELECT order_id, amount FROM lake.raw.orders"
    )


@case(
    "CREATE TABLE AS lake.raw.sizes 1 <- lake.raw.orders.files 1",
    "INSERT lake.raw.sizes 1 <- lake.raw.orders.snapshots 1",
    "INSERT /out/files 1 <- lake.raw.orders.files 1",
    columns="""
    lake.raw.sizes: path <- lake.raw.orders.files.file_path
    lake.raw.sizes: path <- lake.raw.orders.snapshots.manifest_list
    lake.raw.sizes: size <- lake.raw.orders.files.record_count
    /out/files: file_path <- lake.raw.orders.files.file_path
    """,
    cases=CASES,
)
def tables_about_a_table(spark: SparkSession, at: Path) -> None:
    spark.sql(
        "CREATE TABLE lake.raw.sizes USING iceberg AS "
        "SELECT file_path AS path, record_count AS size FROM lake.raw.orders.files"
    )
    spark.sql("INSERT INTO lake.raw.sizes SELECT manifest_list, 0 FROM lake.raw.orders.snapshots")
    files = spark.read.format("iceberg").load(f"{at}/lake/raw/orders#files")
    files.select("file_path").write.parquet(f"{at}/out/files")


@case(
    "INSERT /out/changes 20 <- lake.raw.orders 20",
    columns="order_id <- lake.raw.orders.order_id",
    cases=CASES,
)
def changes_of_a_table(spark: SparkSession, at: Path) -> None:
    changes = spark.table("lake.raw.orders.changes")
    changes.select("order_id", "_change_type").write.parquet(f"{at}/out/changes")


@case(
    "CREATE TABLE AS lake.raw.tuned 20 <- lake.raw.orders 20",
    columns=KEPT,
    cases=CASES,
)
def maintenance_moves_no_data(spark: SparkSession, _: Path) -> None:
    _orders(spark).writeTo("lake.raw.tuned").create()
    for call in (
        "rewrite_data_files(table => 'raw.tuned', options => map('rewrite-all', 'true'))",
        "rewrite_data_files('raw.tuned', 'sort', 'order_id DESC', map('rewrite-all', 'true'))",
        "rewrite_manifests('raw.tuned')",
        "expire_snapshots(table => 'raw.tuned', older_than => TIMESTAMP '2030-01-01 00:00:00')",
        "remove_orphan_files(table => 'raw.tuned')",
        "rewrite_position_delete_files('raw.tuned')",
        "create_changelog_view('raw.tuned')",
    ):
        spark.sql(f"CALL lake.system.{call}").collect()


@case(
    "CREATE TABLE lake.raw.added",
    "INSERT /out/add 20 <- lake.raw.orders 20",
    columns=KEPT,
    cases=CASES,
)
def files_added_to_a_table(spark: SparkSession, at: Path) -> None:
    spark.sql("CREATE TABLE lake.raw.added (order_id bigint, amount double) USING iceberg")
    _orders(spark).write.parquet(f"{at}/out/add")
    spark.sql(f"CALL lake.system.add_files('raw.added', '`parquet`.`{at}/out/add`')").collect()


@case(
    "CREATE TABLE lake.raw.arrived",
    "CREATE TABLE lake.raw.doubled",
    "INSERT lake.raw.arrived 3 <- /watched 3",
    "INSERT lake.raw.doubled 3 <- lake.raw.arrived 3",
    "INSERT /out/arrived 3 <- lake.raw.arrived 3",
    columns="""
    lake.raw.arrived: a <- /watched.a
    lake.raw.arrived: b <- /watched.b
    lake.raw.doubled: a <- lake.raw.arrived.a TRANSFORMATION
    /out/arrived: a <- lake.raw.arrived.a
    /out/arrived: b <- lake.raw.arrived.b
    """,
    cases=CASES,
)
def streams(spark: SparkSession, at: Path) -> None:
    spark.sql("CREATE TABLE lake.raw.arrived (a int, b string) USING iceberg")
    spark.sql("CREATE TABLE lake.raw.doubled (a int) USING iceberg")
    source = spark.readStream.schema("a int, b string").csv(f"{at}/watched")
    arrived = spark.readStream.table("lake.raw.arrived")
    for frame, sink in (
        (source, "lake.raw.arrived"),
        (arrived.selectExpr("a * 2 AS a"), "lake.raw.doubled"),
        (arrived, f"{at}/out/arrived"),
    ):
        writer = frame.writeStream.queryName("streams").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{at}/checkpoints/{abs(hash(sink))}")
        is_path = "/" in sink
        query = writer.format("parquet").start(sink) if is_path else writer.toTable(sink)
        query.awaitTermination()


@case(
    "2 x SELECT <- lake.raw.orders 40",
    "CREATE TABLE AS lake.raw.c1 3 <- lake.raw.orders",
    "CREATE TABLE AS lake.raw.c2 3 <- lake.raw.orders",
    "INSERT /out/c3 3 <- lake.raw.orders",
    "CREATE TABLE AS lake.raw.c4 3 <- lake.raw.orders",
    columns="""
    lake.raw.c1: cust_id <- lake.raw.orders.cust_id
    lake.raw.c1: total   <- lake.raw.orders.amount AGGREGATION
    lake.raw.c1: *       <- lake.raw.orders.cust_id GROUP_BY
    lake.raw.c2: cust_id <- lake.raw.orders.cust_id
    lake.raw.c2: again   <- lake.raw.orders.amount AGGREGATION
    lake.raw.c2: *       <- lake.raw.orders.cust_id GROUP_BY
    /out/c3: total       <- lake.raw.orders.amount AGGREGATION
    /out/c3: *           <- lake.raw.orders.cust_id GROUP_BY, lake.raw.orders.amount FILTER
    lake.raw.c4: top     <- lake.raw.orders.amount AGGREGATION
    lake.raw.c4: *       <- lake.raw.orders.cust_id GROUP_BY, lake.raw.orders.amount FILTER
    """,
    cases=CASES,
)
def cached(spark: SparkSession, at: Path) -> None:
    orders = spark.table("lake.raw.orders").groupBy("cust_id")
    totals = orders.agg({"amount": "sum"}).withColumnRenamed("sum(amount)", "total").cache()
    totals.count()
    totals.writeTo("lake.raw.c1").create()
    again = orders.agg({"amount": "sum"}).withColumnRenamed("sum(amount)", "again")
    again.writeTo("lake.raw.c2").create()
    totals.where("total > 3").select("total").write.parquet(f"{at}/out/c3")
    query = "SELECT cust_id, max(amount) AS top FROM lake.raw.orders GROUP BY cust_id"
    spark.sql(f"CACHE TABLE hot AS {query}")
    spark.sql("CREATE TABLE lake.raw.c4 USING iceberg AS SELECT top FROM hot WHERE top > 1")


@case(
    "CREATE TABLE AS lake.raw.odd 20 <- lake.raw.orders 20",
    "INSERT /out/odd 20 <- lake.raw.odd 20",
    "INSERT /out/odder 3 <- lake.raw.odd 20",
    columns="""
    lake.raw.odd: Amount (EUR); net <- lake.raw.orders.order_id
    lake.raw.odd: a AS b <- lake.raw.orders.amount
    lake.raw.odd: x[0] <- lake.raw.orders.cust_id
    lake.raw.odd: price (net <- lake.raw.orders.amount TRANSFORMATION
    /out/odd: n <- lake.raw.odd.Amount (EUR); net
    /out/odd: with.dot <- lake.raw.odd.a AS b
    /out/odd: p <- lake.raw.odd.price (net
    /out/odder: x[0] <- lake.raw.odd.x[0]
    /out/odder: sum(Amount (EUR); net) <- lake.raw.odd.Amount (EUR); net AGGREGATION
    /out/odder: m AS n <- lake.raw.odd.a AS b AGGREGATION
    /out/odder: * <- lake.raw.odd.x[0] GROUP_BY
    """,
    cases=CASES,
)
def names_with_signs(spark: SparkSession, at: Path) -> None:
    named = _orders(
        spark,
        "order_id AS `Amount (EUR); net`",
        "amount AS `a AS b`",
        "cust_id AS `x[0]`",
        "amount * 2 AS `price (net`",
    )
    named.writeTo("lake.raw.odd").create()
    odd = spark.table("lake.raw.odd")
    read = ("`Amount (EUR); net` AS n", "`a AS b` AS `with.dot`", "`price (net` AS p")
    odd.selectExpr(*read).write.json(f"{at}/out/odd")
    values = "`x[0]`, sum(`Amount (EUR); net`), max(`a AS b`) AS `m AS n`"
    grouped = spark.sql(f"SELECT {values} FROM lake.raw.odd GROUP BY 1")
    grouped.write.json(f"{at}/out/odder")


@case(
    "CREATE VIEW ml.late <- lake.raw.orders",
    "INSERT /out/late 17 <- lake.raw.orders 20",
    columns="""
    ml.late: id <- lake.raw.orders.order_id
    ml.late: * <- lake.raw.orders.amount FILTER
    /out/late: id <- lake.raw.orders.order_id
    /out/late: * <- lake.raw.orders.amount FILTER
    """,
    cases=CASES,
)
def view_of_a_table(spark: SparkSession, at: Path) -> None:
    spark.sql("CREATE VIEW ml.late AS SELECT order_id AS id FROM lake.raw.orders WHERE amount > 3")
    spark.table("ml.late").write.parquet(f"{at}/out/late")


# The last: from now on the log has two catalogs of the same class.
@case(
    "CREATE TABLE AS <- lake.raw.orders 20",
    "INSERT sea.raw.one 20 <- lake.raw.orders 20",
    columns="order_id <- lake.raw.orders.order_id",
    cases=CASES,
)
def several_catalogs_of_a_class(spark: SparkSession, at: Path) -> None:
    spark.conf.set("spark.sql.catalog.sea", CATALOG)
    spark.conf.set("spark.sql.catalog.sea.type", "hadoop")
    spark.conf.set("spark.sql.catalog.sea.warehouse", f"{at}/sea")
    spark.sql("CREATE TABLE sea.raw.one USING iceberg AS SELECT order_id FROM lake.raw.orders")
    _orders(spark, "order_id").writeTo("sea.raw.one").append()
