"""Files read and written by path, in every format and layout that Spark has by itself."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.collectors.spark.suite.case import Instead, case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

V2 = ("spark.sql.sources.useV1SourceList", "")


@case(
    "CREATE TABLE AS ml.csv_glob 10 <- /landing/orders 10",
    columns="""
    order_id    <- /landing/orders.order_id
    customer_id <- /landing/orders.customer_id
    amount      <- /landing/orders.amount
    """,
)
def csv_glob(spark: SparkSession, at: Path) -> None:
    frame = spark.read.csv(f"{at}/landing/orders/*.csv", header=True, inferSchema=True)
    frame.write.saveAsTable("ml.csv_glob")


@case(
    "INSERT /out/csv_schema 8 <- /landing/orders 8",
    columns="""
    id <- /landing/orders.order_id
    *  <- /landing/orders.amount FILTER
    """,
)
def csv_schema(spark: SparkSession, at: Path) -> None:
    frame = spark.read.schema("order_id int, customer_id int, amount int").csv(
        f"{at}/landing/orders", header=True
    )
    frame.where("amount > 11").selectExpr("order_id AS id").write.parquet(f"{at}/out/csv_schema")


@case(
    "INSERT OVERWRITE /out/json_file 3 <- /landing/customers.json 3",
    columns="id <- /landing/customers.json.id\nname <- /landing/customers.json.name",
)
def json_file(spark: SparkSession, at: Path) -> None:
    frame = spark.read.json(f"{at}/landing/customers.json")
    frame.write.mode("overwrite").orc(f"{at}/out/json_file")


@case(
    "INSERT /out/text_file 2 <- /landing/notes.txt 2",
    columns="value <- /landing/notes.txt.value TRANSFORMATION",
)
def text_file(spark: SparkSession, at: Path) -> None:
    frame = spark.read.text(f"{at}/landing/notes.txt")
    frame.selectExpr("upper(value) AS value").write.text(f"{at}/out/text_file")


@case(
    "INSERT /out/binary_file 1 <- /landing/notes.txt 1",
    columns="length <- /landing/notes.txt.length",
)
def binary_file(spark: SparkSession, at: Path) -> None:
    frame = spark.read.format("binaryFile").load(f"{at}/landing/notes.txt")
    frame.select("length").write.json(f"{at}/out/binary_file")


@case(
    "INSERT /out/date_folder 2 <- /landing/events 2",
    columns="id <- /landing/events.id\nkind <- /landing/events.kind",
)
def date_folder(spark: SparkSession, at: Path) -> None:
    spark.read.json(f"{at}/landing/events/2026/01/02").write.csv(f"{at}/out/date_folder")


@case(
    "INSERT /out/date_folders 4 <- /landing/events 4",
    columns="id <- /landing/events.id\nkind <- /landing/events.kind",
)
def date_folders(spark: SparkSession, at: Path) -> None:
    days = [f"{at}/landing/events/2026/01/0{day}/events.json" for day in (1, 2)]
    spark.read.json(days).write.csv(f"{at}/out/date_folders")


@case(
    "INSERT /out/hours 2 <- /landing/hourly 2",
    columns="""
    _c1  <- /landing/hourly._c1
    hour <- /landing/hourly.hour
    *    <- /landing/hourly.dt FILTER
    """,
)
def hours(spark: SparkSession, at: Path) -> None:
    frame = spark.read.csv(f"{at}/landing/hourly")
    frame.where("dt = '2026-01-02'").select("_c1", "hour").write.parquet(f"{at}/out/hours")


@case(
    "SELECT <- /landing/hourly 2",
)
def one_hour(spark: SparkSession, at: Path) -> None:
    spark.read.csv(f"{at}/landing/hourly/dt=2026-01-01/hour=05").collect()


@case(
    "SELECT <- /landing/hourly 4",
)
def recursive(spark: SparkSession, at: Path) -> None:
    reader = spark.read.option("recursiveFileLookup", "true").option("pathGlobFilter", "*.csv")
    reader.schema("a int, b string").csv(f"{at}/landing/hourly").toPandas()


@case(
    "INSERT /out/both 16 <- /landing/orders 10, raw.orders 6",
    columns="id <- /landing/orders.order_id, raw.orders.order_id",
)
def both(spark: SparkSession, at: Path) -> None:
    landed = spark.read.schema("order_id int, customer_id int, amount int").csv(
        f"{at}/landing/orders", header=True
    )
    known = spark.table("raw.orders").selectExpr("order_id AS id")
    landed.selectExpr("order_id AS id").union(known).write.parquet(f"{at}/out/both")


@case(
    "INSERT /out/partitioned 6 <- raw.orders 6",
    "SELECT <- /out/partitioned 2",
    columns="""
    order_id    <- raw.orders.order_id
    customer_id <- raw.orders.customer_id
    """,
)
def partitioned(spark: SparkSession, at: Path) -> None:
    frame = spark.table("raw.orders").select("order_id", "customer_id")
    frame.write.partitionBy("customer_id").parquet(f"{at}/out/partitioned")
    spark.read.parquet(f"{at}/out/partitioned/customer_id=1").collect()


@case(
    "INSERT /out/daily/sales 3 <- raw.orders 3",
    columns="order_id <- raw.orders.order_id\n* <- raw.orders.dt FILTER",
)
def dated_output(spark: SparkSession, at: Path) -> None:
    frame = spark.table("raw.orders").where("dt = '2026-01-01'").select("order_id")
    frame.write.parquet(f"{at}/out/daily/sales/dt=2026-01-01")


@case(
    "INSERT /out/dynamic 6 <- raw.orders 6",
    "INSERT OVERWRITE /out/dynamic 3 <- raw.orders 3",
    columns="""
    order_id <- raw.orders.order_id
    dt       <- raw.orders.dt
    *        <- raw.orders.dt FILTER
    """,
    older={
        (3, 1): Instead(
            columns="""
            order_id <- raw.orders.order_id
            dt       <- raw.orders.dt
            *        <- raw.orders.dt FILTER
            """
        )
    },
)
def dynamic_path(spark: SparkSession, at: Path) -> None:
    frame = spark.table("raw.orders").select("order_id", "dt")
    frame.write.partitionBy("dt").parquet(f"{at}/out/dynamic")
    writer = frame.where("dt = '2026-01-02'").write.mode("overwrite").partitionBy("dt")
    writer.option("partitionOverwriteMode", "dynamic").parquet(f"{at}/out/dynamic")


@case(
    "INSERT /out/v2/orders 10 <- /landing/orders 10",
    "INSERT /out/v2/orc 10 <- /out/v2/orders 10",
    "INSERT /out/v2/json 8 <- /out/v2/orc 10",
    "SELECT <- /out/v2/json 8",
    columns="""
    /out/v2/orders: id <- /landing/orders.order_id
    /out/v2/orc: id    <- /out/v2/orders.id
    /out/v2/json: id   <- /out/v2/orc.id
    /out/v2/json: *    <- /out/v2/orc.id FILTER
    """,
)
def v2_files(spark: SparkSession, at: Path) -> None:
    spark.conf.set(*V2)
    frame = spark.read.csv(f"{at}/landing/orders", header=True, inferSchema=True)
    frame.selectExpr("order_id AS id").write.parquet(f"{at}/out/v2/orders")
    spark.read.parquet(f"{at}/out/v2/orders").write.orc(f"{at}/out/v2/orc")
    spark.read.orc(f"{at}/out/v2/orc").where("id > 11").write.json(f"{at}/out/v2/json")
    spark.read.json(f"{at}/out/v2/json").toPandas()


@case(
    "INSERT /out/v2_joined 4 <- /landing/customers.json 3, /landing/hourly 4",
    columns="""
    name <- /landing/customers.json.name
    dt   <- /landing/hourly.dt
    *    <- /landing/customers.json.id JOIN, /landing/hourly._c0 JOIN
    """,
)
def v2_joined(spark: SparkSession, at: Path) -> None:
    spark.conf.set(*V2)
    hourly = spark.read.csv(f"{at}/landing/hourly")
    people = spark.read.json(f"{at}/landing/customers.json")
    joined = hourly.join(people, people["id"] == hourly["_c0"].cast("int"))
    joined.select("name", "dt").write.parquet(f"{at}/out/v2_joined")


@case(
    "CREATE TABLE AS ml.of_path 3 <- /landing/customers.json 3",
    columns="name <- /landing/customers.json.name",
)
def sql_on_path(spark: SparkSession, at: Path) -> None:
    spark.sql(
        f"CREATE TABLE ml.of_path USING orc AS SELECT name FROM json.`{at}/landing/customers.json`"
    )


@case(
    "INSERT OVERWRITE /out/directory 3 <- raw.customers 3",
    columns="name <- raw.customers.name\nage <- raw.customers.age TRANSFORMATION",
    older={(3, 1): Instead(("INSERT OVERWRITE /out/directory 3 <- raw.customers",))},
)
def insert_directory(spark: SparkSession, at: Path) -> None:
    spark.sql(
        f"INSERT OVERWRITE DIRECTORY '{at}/out/directory' USING csv "
        "SELECT name, age + 1 AS age FROM raw.customers"
    )


@case(
    "INSERT OVERWRITE /out/hive_directory 3 <- raw.customers 3",
    columns="name <- raw.customers.name",
)
def insert_hive_directory(spark: SparkSession, at: Path) -> None:
    spark.sql(
        f"INSERT OVERWRITE LOCAL DIRECTORY '{at}/out/hive_directory' "
        "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' SELECT name FROM raw.customers"
    )


@case(
    "failed INSERT /out/twice <- raw.customers",
    "INSERT /out/twice 3 <- raw.customers 3",
    columns="name <- raw.customers.name",
    older={(3, 1): Instead(("2 x INSERT /out/twice 3 <- raw.customers 3",))},
)
def saved_twice(spark: SparkSession, at: Path) -> None:
    frame = spark.table("raw.customers").select("name")
    frame.write.json(f"{at}/out/twice")
    with suppress(Exception):
        frame.write.json(f"{at}/out/twice")


@case(
    "SELECT <- raw.customers 3",
)
def saved_nowhere(spark: SparkSession, _: Path) -> None:
    spark.table("raw.customers").write.format("noop").mode("overwrite").save()


@case(
    "INSERT /out/reshaped 6 <- raw.orders 6",
    columns="""
    order_id <- raw.orders.order_id
    amount   <- raw.orders.amount
    *        <- raw.orders.amount SORT
    """,
)
def repartitioned(spark: SparkSession, at: Path) -> None:
    frame = spark.table("raw.orders").repartition(2, "customer_id").select("order_id", "amount")
    frame.orderBy("amount").coalesce(1).write.option("compression", "gzip").csv(
        f"{at}/out/reshaped"
    )


@case(
    "INSERT /out/xml 3 <- raw.customers 3",
    "SELECT <- /out/xml 3",
    columns="name <- raw.customers.name",
    since=(4, 0),
)
def xml_files(spark: SparkSession, at: Path) -> None:
    frame = spark.table("raw.customers").select("name")
    frame.write.option("rowTag", "person").format("xml").save(f"{at}/out/xml")
    spark.read.option("rowTag", "person").format("xml").load(f"{at}/out/xml").collect()
