"""Tables and views of Spark's own catalog: made, filled, changed, read and dropped."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.collectors.spark.suite.case import Instead, case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@case(
    "CREATE TABLE AS ml.saved 3 <- raw.customers 3",
    "INSERT ml.saved 3 <- raw.customers 3",
    columns="name <- raw.customers.name",
)
def save_as_table(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.customers").select("name")
    frame.write.saveAsTable("ml.saved")
    frame.write.mode("append").saveAsTable("ml.saved")
    frame.write.mode("ignore").saveAsTable("ml.saved")


@case(
    "CREATE TABLE AS ml.resaved 3 <- raw.customers 3",
    "CREATE TABLE AS ml.resaved 6 <- raw.orders 6",
    columns="id <- raw.customers.id, raw.orders.order_id",
)
def save_over_table(spark: SparkSession, _: Path) -> None:
    spark.table("raw.customers").select("id").write.saveAsTable("ml.resaved")
    other = spark.table("raw.orders").selectExpr("order_id AS id")
    other.write.mode("overwrite").saveAsTable("ml.resaved")


@case(
    "CREATE TABLE AS ml.outside 3 <- raw.customers 3",
    "SELECT <- ml.outside 3",
    columns="name <- raw.customers.name",
    older={
        (3, 1): Instead(
            ("CREATE TABLE AS ml.outside 3 <- raw.customers 3", "SELECT <- /out/outside 3")
        )
    },
)
def save_outside(spark: SparkSession, at: Path) -> None:
    writer = spark.table("raw.customers").select("name").write
    writer.option("path", f"{at}/out/outside").saveAsTable("ml.outside")
    spark.read.parquet(f"{at}/out/outside").collect()


@case(
    "CREATE TABLE AS ml.bucketed 6 <- raw.orders 6",
    "SELECT <- ml.bucketed 12",
    columns="""
    order_id    <- raw.orders.order_id
    customer_id <- raw.orders.customer_id
    dt          <- raw.orders.dt
    """,
    older={
        (3, 1): Instead(
            columns="""
            order_id    <- raw.orders.order_id
            customer_id <- raw.orders.customer_id
            dt          <- raw.orders.dt
            """
        )
    },
)
def bucketed(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.orders").select("order_id", "customer_id", "dt")
    writer = frame.write.partitionBy("dt").bucketBy(2, "customer_id").sortBy("order_id")
    writer.saveAsTable("ml.bucketed")
    spark.sql("SELECT count(*) FROM ml.bucketed a JOIN ml.bucketed b USING (customer_id)").collect()


@case(
    "CREATE TABLE AS ml.orc_made 3 <- raw.customers 3",
    columns="id <- raw.customers.id\nloud <- raw.customers.name TRANSFORMATION",
)
def create_as_select(spark: SparkSession, _: Path) -> None:
    spark.sql(
        "CREATE TABLE ml.orc_made USING orc PARTITIONED BY (loud) TBLPROPERTIES ('a' = 'b') "
        "COMMENT 'people, loudly' AS SELECT id, upper(name) AS loud FROM raw.customers"
    )


@case(
    "CREATE TABLE AS ml.hive_made 3 <- raw.customers 3",
    "SELECT <- ml.hive_made 3",
    columns="id <- raw.customers.id",
)
def create_hive_as_select(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.hive_made STORED AS textfile AS SELECT id FROM raw.customers")
    spark.table("ml.hive_made").collect()


@case(
    "CREATE TABLE AS ml.hive_parquet 3 <- raw.customers 3",
    "SELECT <- ml.hive_parquet 3",
    columns="id <- raw.customers.id",
)
def create_hive_parquet(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.hive_parquet STORED AS parquet AS SELECT id FROM raw.customers")
    spark.table("ml.hive_parquet").collect()


@case(
    "CREATE TABLE ml.hive_own",
    "INSERT ml.hive_own 3 <- raw.customers 3",
    "SELECT <- ml.hive_own 3",
    columns="name <- raw.customers.name",
)
def hive_parquet_unconverted(spark: SparkSession, _: Path) -> None:
    spark.conf.set("spark.sql.hive.convertMetastoreParquet", "false")
    spark.sql("CREATE TABLE ml.hive_own (name STRING) STORED AS parquet")
    spark.sql("INSERT INTO ml.hive_own SELECT name FROM raw.customers")
    spark.table("ml.hive_own").collect()


@case(
    "CREATE TABLE ml.inserted",
    "2 x INSERT ml.inserted 6 <- raw.customers 6",
    "INSERT ml.inserted 1",
    "INSERT OVERWRITE ml.inserted 3 <- raw.orders 3",
    columns="""
    id   <- raw.customers.id, raw.orders.order_id
    name <- raw.customers.name, raw.orders.dt
    *    <- raw.orders.dt FILTER
    """,
    older={
        (3, 1): Instead(
            columns="""
            id   <- raw.customers.id, raw.orders.order_id TRANSFORMATION
            name <- raw.customers.name, raw.orders.dt TRANSFORMATION
            *    <- raw.orders.dt FILTER
            """
        )
    },
)
def insert_into(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.inserted (id INT, name STRING) USING parquet")
    spark.sql("INSERT INTO ml.inserted SELECT id, name FROM raw.customers")
    spark.table("raw.customers").select("id", "name").write.insertInto("ml.inserted")
    spark.sql("INSERT INTO ml.inserted VALUES (-77, 'secret')")
    spark.sql(
        "INSERT OVERWRITE ml.inserted SELECT order_id, dt FROM raw.orders WHERE dt = '2026-01-01'"
    )


@case(
    "CREATE TABLE ml.named",
    "INSERT ml.named 3 <- raw.customers 3",
    columns="id <- raw.customers.id\nname <- raw.customers.email",
    older={
        (3, 1): Instead(
            columns="id <- raw.customers.id\nname <- raw.customers.email TRANSFORMATION"
        )
    },
)
def insert_by_name(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.named (id INT, name STRING) USING parquet")
    spark.sql("INSERT INTO ml.named (name, id) SELECT email, id FROM raw.customers")


@case(
    "CREATE TABLE ml.days",
    "INSERT OVERWRITE ml.days 3 <- raw.orders 3",
    "INSERT ml.days 6 <- raw.orders 6",
    columns="""
    id <- raw.orders.order_id
    dt <- raw.orders.dt
    *  <- raw.orders.dt FILTER
    """,
    older={
        (3, 1): Instead(
            columns="""
            id <- raw.orders.order_id TRANSFORMATION
            dt <- raw.orders.dt
            *  <- raw.orders.dt FILTER
            """
        )
    },
)
def insert_partitions(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.days (id INT, dt STRING) USING parquet PARTITIONED BY (dt)")
    spark.sql(
        "INSERT OVERWRITE ml.days PARTITION (dt='2026-01-01') "
        "SELECT order_id FROM raw.orders WHERE dt = '2026-01-01'"
    )
    spark.sql("INSERT INTO ml.days PARTITION (dt) SELECT order_id, dt FROM raw.orders")


@case(
    "CREATE TABLE ml.dynamic",
    "INSERT OVERWRITE ml.dynamic 6 <- raw.orders 6",
    columns="id <- raw.orders.order_id\ndt <- raw.orders.dt",
    older={
        (3, 1): Instead(columns="id <- raw.orders.order_id TRANSFORMATION\ndt <- raw.orders.dt")
    },
)
def insert_dynamic(spark: SparkSession, _: Path) -> None:
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    spark.sql("CREATE TABLE ml.dynamic (id INT, dt STRING) USING orc PARTITIONED BY (dt)")
    frame = spark.table("raw.orders").select("order_id", "dt")
    frame.write.mode("overwrite").insertInto("ml.dynamic")


@case(
    "CREATE TABLE ml.hive_days",
    "INSERT OVERWRITE ml.hive_days 3 <- raw.orders 3",
    "INSERT ml.hive_days 6 <- raw.orders 6",
    "SELECT <- ml.hive_days 3",
    columns="""
    id   <- raw.orders.order_id
    dt   <- raw.orders.dt
    *    <- raw.orders.dt FILTER
    """,
    older={
        (3, 1): Instead(
            columns="""
            id <- raw.orders.order_id TRANSFORMATION
            dt <- raw.orders.dt
            *  <- raw.orders.dt FILTER
            """
        )
    },
)
def hive_partitions(spark: SparkSession, _: Path) -> None:
    spark.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    spark.sql(
        "CREATE TABLE ml.hive_days (id INT) PARTITIONED BY (dt STRING, hour INT) STORED AS textfile"
    )
    spark.sql(
        "INSERT OVERWRITE TABLE ml.hive_days PARTITION (dt='2026-01-01', hour=5) "
        "SELECT order_id FROM raw.orders WHERE dt = '2026-01-01'"
    )
    spark.sql(
        "INSERT INTO ml.hive_days PARTITION (dt, hour) SELECT order_id, dt, 6 FROM raw.orders"
    )
    spark.sql("SELECT id FROM ml.hive_days WHERE hour = 5").collect()


@case(
    "CREATE TABLE AS ml.grown 3 <- raw.customers 3",
    "INSERT ml.grown 3 <- ml.grown 3",
    columns="id <- raw.customers.id, ml.grown.id TRANSFORMATION",
)
def insert_of_itself(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.grown USING parquet AS SELECT id FROM raw.customers")
    spark.sql("INSERT INTO ml.grown SELECT id + 100 FROM ml.grown")


@case(
    "CREATE TABLE ml.multi_a",
    "CREATE TABLE ml.multi_b",
    "INSERT ml.multi_a 4 <- raw.orders 6",
    "INSERT OVERWRITE ml.multi_b 6 <- raw.orders 6",
    columns="""
    ml.multi_a: x <- raw.orders.order_id
    ml.multi_a: * <- raw.orders.amount FILTER
    ml.multi_b: y <- raw.orders.amount
    """,
    older={
        (3, 1): Instead(
            columns="""
            ml.multi_a: x <- raw.orders.order_id TRANSFORMATION
            ml.multi_a: * <- raw.orders.amount FILTER
            ml.multi_b: y <- raw.orders.amount TRANSFORMATION
            """
        )
    },
)
def multi_insert(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.multi_a (x INT) USING parquet")
    spark.sql("CREATE TABLE ml.multi_b (y DOUBLE) STORED AS textfile")
    spark.sql(
        "FROM raw.orders INSERT INTO ml.multi_a SELECT order_id WHERE amount > 15 "
        "INSERT OVERWRITE TABLE ml.multi_b SELECT amount"
    )


@case(
    "CREATE VIEW ml.adults <- raw.customers",
    "CREATE VIEW ml.names <- ml.adults",
    "CREATE TABLE AS ml.viewed 2 <- raw.customers 3",
    columns="""
    ml.adults: id   <- raw.customers.id
    ml.adults: name <- raw.customers.name TRANSFORMATION
    ml.adults: *    <- raw.customers.age FILTER
    ml.names: who   <- ml.adults.name
    ml.viewed: who  <- raw.customers.name TRANSFORMATION
    ml.viewed: *    <- raw.customers.age FILTER
    """,
    older={
        (3, 1): Instead(
            columns="who <- raw.customers.name TRANSFORMATION\n* <- raw.customers.age FILTER",
            gaps="the log does not show the query",
        )
    },
)
def views(spark: SparkSession, _: Path) -> None:
    spark.sql(
        "CREATE VIEW ml.adults AS SELECT id, upper(name) AS name FROM raw.customers WHERE age > 30"
    )
    spark.sql("CREATE OR REPLACE VIEW ml.names (who) AS SELECT name FROM ml.adults")
    spark.sql("CREATE TABLE ml.viewed USING parquet AS SELECT who FROM ml.names")


@case(
    "2 x CREATE VIEW ml.altered <- raw.customers",
    "DROP ml.altered",
    columns="id <- raw.customers.id\nname <- raw.customers.name",
    older={(3, 1): Instead(columns="", gaps="the log does not show the query")},
)
def alter_view(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE VIEW ml.altered AS SELECT id FROM raw.customers")
    spark.sql("ALTER VIEW ml.altered AS SELECT name FROM raw.customers")
    spark.sql("DROP VIEW ml.altered")


@case(
    "CREATE TABLE AS ml.from_temporary 3 <- raw.customers 3, raw.orders 6",
    columns="""
    name  <- raw.customers.name
    spent <- raw.orders.amount AGGREGATION
    *     <- raw.customers.id JOIN, raw.orders.customer_id JOIN, raw.customers.name GROUP_BY
    """,
)
def temporary_views(spark: SparkSession, _: Path) -> None:
    spark.table("raw.orders").createOrReplaceTempView("orders")
    spark.table("raw.customers").createGlobalTempView("people")
    spark.sql(
        "CREATE TEMPORARY VIEW joined AS SELECT name, amount FROM orders "
        "JOIN global_temp.people ON customer_id = id"
    )
    spark.sql("SELECT name, sum(amount) AS spent FROM joined GROUP BY name").write.saveAsTable(
        "ml.from_temporary"
    )
    spark.catalog.dropGlobalTempView("people")


@case(
    "CREATE TABLE AS ml.from_view_of_files 3 <- /landing/customers.json 3",
    columns="name <- /landing/customers.json.name",
)
def view_of_files(spark: SparkSession, at: Path) -> None:
    spark.sql(
        f"CREATE TEMPORARY VIEW landed USING json OPTIONS (path '{at}/landing/customers.json')"
    )
    spark.sql("CREATE TABLE ml.from_view_of_files USING parquet AS SELECT name FROM landed")


@case(
    "CREATE TABLE ml.loaded",
    "LOAD DATA ml.loaded <- /landing/notes.txt",
    "LOAD DATA ml.loaded <- /landing/hourly",
    "SELECT <- ml.loaded 4",
    gaps="those of a file go by their places",
)
def load_data(spark: SparkSession, at: Path) -> None:
    spark.sql("CREATE TABLE ml.loaded (line STRING) PARTITIONED BY (dt STRING) STORED AS textfile")
    spark.sql(
        f"LOAD DATA LOCAL INPATH '{at}/landing/notes.txt' "
        "INTO TABLE ml.loaded PARTITION (dt='2026-01-01')"
    )
    spark.sql(
        f"LOAD DATA LOCAL INPATH '{at}/landing/hourly/dt=2026-01-01/hour=05/h.csv' "
        "OVERWRITE INTO TABLE ml.loaded PARTITION (dt='2026-01-02')"
    )
    spark.table("ml.loaded").collect()


@case(
    "CREATE TABLE ml.alike <- raw.customers",
    "INSERT ml.alike 3 <- raw.customers 3",
    columns="""
    id    <- raw.customers.id
    name  <- raw.customers.name
    email <- raw.customers.email
    age   <- raw.customers.age
    """,
)
def create_like(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.alike LIKE raw.customers")
    spark.sql("INSERT INTO ml.alike TABLE raw.customers")


@case(
    "CREATE TABLE ml.landed",
    "SELECT <- ml.landed 2",
)
def create_on_path(spark: SparkSession, at: Path) -> None:
    spark.sql(
        "CREATE TABLE ml.landed (order_id INT, reason STRING) USING csv "
        f"LOCATION '{at}/landing/returns'"
    )
    spark.table("ml.landed").collect()


@case(
    "CREATE TABLE ml.external",
    "ALTER ml.external",
    "SELECT <- ml.external 2",
)
def create_external(spark: SparkSession, at: Path) -> None:
    spark.sql(
        "CREATE EXTERNAL TABLE ml.external (a STRING, b STRING) PARTITIONED BY (dt STRING) "
        f"ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '{at}/landing/external'"
    )
    spark.sql(
        "ALTER TABLE ml.external ADD PARTITION (dt='2026-01-01') "
        f"LOCATION '{at}/landing/hourly/dt=2026-01-01/hour=05'"
    )
    spark.table("ml.external").where("dt = '2026-01-01'").collect()


@case(
    "CREATE TABLE ml.scratch",
    "5 x ALTER ml.scratch",
    "RENAME ml.scratched <- ml.scratch",
    "TRUNCATE ml.scratched",
    "DROP ml.scratched",
)
def lifecycle(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.scratch (a INT, dt STRING) USING parquet PARTITIONED BY (dt)")
    spark.sql("ALTER TABLE ml.scratch ADD COLUMNS (b STRING)")
    spark.sql("ALTER TABLE ml.scratch SET TBLPROPERTIES ('note' = 'secret')")
    spark.sql("ALTER TABLE ml.scratch ADD PARTITION (dt='2026-01-01')")
    spark.sql("ALTER TABLE ml.scratch DROP PARTITION (dt='2026-01-01')")
    spark.sql("ALTER TABLE ml.scratch CHANGE COLUMN a a INT COMMENT 'secret'")
    spark.sql("ALTER TABLE ml.scratch RENAME TO ml.scratched")
    spark.sql("TRUNCATE TABLE ml.scratched")
    spark.sql("DROP TABLE ml.scratched")
    spark.sql("DROP TABLE IF EXISTS ml.scratched")


@case(
    "CREATE TABLE AS ml.stage 6 <- raw.orders 6",
    "RENAME ml.final <- ml.stage",
    columns="order_id <- raw.orders.order_id",
    since=(4, 0),
)
def built_then_renamed(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE ml.stage USING parquet AS SELECT order_id FROM raw.orders")
    spark.sql("ALTER TABLE ml.stage RENAME TO ml.final")


@case(
    older={(3, 1): Instead(("SELECT <- raw.customers 3",))},
)
def maintenance(spark: SparkSession, _: Path) -> None:
    for statement in (
        "ANALYZE TABLE raw.orders COMPUTE STATISTICS FOR COLUMNS order_id, amount",
        "ANALYZE TABLE raw.customers COMPUTE STATISTICS",
        "MSCK REPAIR TABLE raw.orders",
        "REFRESH TABLE raw.orders",
        "SHOW TABLES IN raw",
        "SHOW PARTITIONS raw.orders",
        "SHOW CREATE TABLE raw.orders",
        "DESCRIBE TABLE EXTENDED raw.orders",
        "DESCRIBE DATABASE raw",
        "EXPLAIN SELECT * FROM raw.orders",
        "CREATE DATABASE scratch",
        "DROP DATABASE scratch CASCADE",
        "SET spark.sql.shuffle.partitions=1",
        "SHOW FUNCTIONS LIKE 'upper'",
        "USE ml",
    ):
        spark.sql(statement).collect()
    spark.catalog.listTables("raw")
    spark.catalog.refreshTable("raw.orders")


@case(
    "CREATE TABLE AS ml.unqualified 3 <- raw.customers 3",
    "SELECT <- ml.unqualified 3",
    columns="id <- raw.customers.id",
)
def current_database(spark: SparkSession, _: Path) -> None:
    spark.sql("USE raw")
    frame = spark.table("customers").select("id")
    spark.sql("USE ml")
    frame.write.saveAsTable("unqualified")
    spark.sql("SELECT * FROM unqualified").collect()


@case(
    "failed CREATE TABLE AS ml.retried <- raw.customers",
    "CREATE TABLE AS ml.retried 3 <- raw.customers 3",
    columns="id <- raw.customers.id\n* <- raw.customers.id FILTER",
)
def retried(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.customers")
    for limit in (1, 10):
        with suppress(Exception):
            checked = frame.selectExpr("id", f"assert_true(id < {limit}, 'secret') AS ok")
            checked.where("ok IS NULL").select("id").write.saveAsTable("ml.retried")


@case(
    "failed SELECT <- raw.customers",
)
def failed_select(spark: SparkSession, _: Path) -> None:
    with suppress(Exception):
        spark.sql("SELECT raise_error(name) FROM raw.customers").collect()
    with suppress(Exception):
        spark.sql("SELECT * FROM raw.not_there").collect()


@case(
    "CREATE TABLE AS ml.transformed 3 <- raw.customers 3",
    columns="a <- raw.customers.id TRANSFORMATION, raw.customers.name TRANSFORMATION",
    gaps="a user function takes and returns all columns at once",
)
def script_transform(spark: SparkSession, _: Path) -> None:
    spark.sql(
        "SELECT TRANSFORM (id, name) USING 'cat' AS (a STRING) FROM raw.customers"
    ).write.saveAsTable("ml.transformed")
