"""A Spark job for the tests in which each statement moves columns in a way of its own.

Usage: column_job.py FOLDER — everything (metastore, warehouse, event log) lies below it.
"""

import sys
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

base = Path(sys.argv[1])
(base / "events").mkdir(exist_ok=True)
(base / "watched").mkdir()
(base / "watched" / "a.csv").write_text("1\n")
(base / "lines.txt").write_text("a line\n")

spark = (
    SparkSession.builder.master("local[2]")
    .appName("move_columns")
    .config("spark.eventLog.enabled", "true")
    .config("spark.eventLog.dir", (base / "events").as_uri())
    .config("spark.sql.warehouse.dir", str(base / "warehouse"))
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", f"jdbc:derby:{base}/db;create=true")
    .config("spark.driver.extraJavaOptions", f"-Dderby.stream.error.file={base}/derby.log")
    .config(
        "spark.sql.catalog.crm",
        "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    )
    .config("spark.sql.catalog.crm.url", "jdbc:derby:memory:shop;create=true")
    .config("spark.sql.catalog.crm.driver", "org.apache.derby.iapi.jdbc.AutoloadedDriver")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.ui.enabled", "false")
    .enableHiveSupport()
    .getOrCreate()
)
spark.sql("CREATE DATABASE raw")
spark.sql("CREATE DATABASE ml")
spark.createDataFrame(
    [(n, n % 2, n * 1.5, ["a"], (n, "x"), f"2026-01-0{n % 2 + 1}") for n in range(4)],
    "order_id int, customer_id int, amount double, tags array<string>, "
    "addr struct<zip:int,city:string>, dt string",
).write.partitionBy("dt").saveAsTable("raw.orders")
spark.createDataFrame(
    [(n, "n", "e") for n in range(2)], "id int, name string, email string"
).write.saveAsTable("raw.customers")

QUERIES = {
    "joined": (
        "SELECT c.name, o.amount * 2 AS twice FROM raw.orders o JOIN raw.customers c "
        "ON o.customer_id = c.id WHERE o.dt > '2026-01-01'"
    ),
    "grouped": (
        "SELECT customer_id, sum(amount) AS spent, count(DISTINCT order_id) AS "
        "orders, sum(amount) FILTER (WHERE dt > 'a') AS late FROM raw.orders GROUP BY "
        "customer_id HAVING sum(amount) > 0"
    ),
    "masked": "SELECT sha2(email, 256) AS digest, id FROM raw.customers",
    "cased": (
        "SELECT CASE WHEN amount > 1 THEN order_id ELSE 0 END AS big, if(dt > 'a', "
        "customer_id, 1) AS late FROM raw.orders"
    ),
    "ranked": (
        "SELECT order_id, row_number() OVER (PARTITION BY customer_id ORDER BY "
        "amount) AS rank, sum(amount) OVER (PARTITION BY dt) AS total FROM raw.orders"
    ),
    "sorted": "SELECT order_id FROM raw.orders ORDER BY amount DESC LIMIT 3",
    "exploded": "SELECT order_id, tag FROM raw.orders LATERAL VIEW explode(tags) t AS tag",
    "cubed": (
        "SELECT customer_id, dt, max(amount) AS top FROM raw.orders GROUP BY CUBE (customer_id, dt)"
    ),
    "united": (
        "SELECT order_id AS id, dt AS label FROM raw.orders UNION ALL SELECT id, name "
        "FROM raw.customers"
    ),
    "nested": (
        "SELECT order_id, (SELECT max(id) FROM raw.customers) AS newest FROM "
        "raw.orders WHERE customer_id IN (SELECT id FROM raw.customers WHERE name <> "
        "'a')"
    ),
    "missing": (
        "SELECT name FROM raw.customers c WHERE NOT EXISTS (SELECT 1 FROM raw.orders "
        "o WHERE o.customer_id = c.id)"
    ),
    "structs": (
        "SELECT addr.city, named_struct('a', order_id, 'b', amount) AS pair FROM raw.orders"
    ),
    "shared": (
        "WITH t AS (SELECT customer_id, sum(amount) AS s FROM raw.orders GROUP BY "
        "customer_id) SELECT a.customer_id, a.s, b.s AS again FROM t a JOIN t b ON "
        "a.customer_id = b.customer_id"
    ),
    "selfish": (
        "SELECT a.order_id, b.amount FROM raw.orders a JOIN raw.orders b ON "
        "a.order_id = b.customer_id"
    ),
}
for name, query in QUERIES.items():
    spark.sql(f"CREATE TABLE ml.{name} USING parquet AS {query}")

# Cached, through views, into partitions and into two tables at once.
cached = spark.table("raw.orders").select("order_id", (F.col("amount") * 2).alias("twice")).cache()
cached.count()
cached.select("twice").write.saveAsTable("ml.cached")
spark.sql("CREATE VIEW ml.people AS SELECT upper(name) AS loud FROM raw.customers WHERE id > 0")
spark.sql("CREATE VIEW ml.louder AS SELECT loud AS name FROM ml.people")
spark.table("ml.louder").createOrReplaceTempView("loudest")
spark.sql("CREATE TABLE ml.viewed USING parquet AS SELECT name FROM loudest")
spark.sql("CREATE TABLE ml.parts (a INT, dt STRING) USING parquet PARTITIONED BY (dt)")
spark.sql("INSERT OVERWRITE ml.parts PARTITION (dt) SELECT order_id, dt FROM raw.orders")
spark.sql("CREATE TABLE ml.left (x INT) USING parquet")
spark.sql("CREATE TABLE ml.right (y DOUBLE) STORED AS textfile")
spark.sql(
    "FROM raw.orders INSERT INTO ml.left SELECT order_id WHERE amount > 1 "
    "INSERT OVERWRITE TABLE ml.right SELECT amount"
)

# Python.
loud = F.udf(lambda name, email: f"{name}{email}", "string")
spark.table("raw.customers").select(loud("name", "email").alias("both")).write.saveAsTable("ml.udf")
mean = F.pandas_udf(lambda v: v.mean(), "double", F.PandasUDFType.GROUPED_AGG)
spark.table("raw.orders").groupBy("dt").agg(mean("amount").alias("m")).write.saveAsTable("ml.means")


def halves(frames):
    """Any code: Spark does not see which column comes from which."""
    for frame in frames:
        yield pd.DataFrame({"half": frame["amount"] / 2})


orders = spark.table("raw.orders").select("order_id", "amount")
orders.mapInPandas(halves, "half double").write.saveAsTable("ml.halves")

# A database: written, read as a table, as a query, through a catalog.
url = "jdbc:derby:memory:shop;create=true"
login = {
    "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
    "user": "APP",
    "password": "hunter2",
}
spark.table("raw.customers").toDF("ID", "NAME", "EMAIL").write.option(
    "quoteIdentifiers", "false"
).jdbc(url, "APP.CUST", properties=login)
spark.read.jdbc(url, "APP.CUST", properties=login).filter("ID > 0").select(
    "NAME"
).write.saveAsTable("ml.from_table")
query = "(SELECT ID, UPPER(NAME) AS LOUD FROM APP.CUST WHERE ID > 0) q"
spark.read.jdbc(url, query, properties=login).write.saveAsTable("ml.from_query")
spark.sql(
    "CREATE TABLE ml.from_catalog USING parquet AS SELECT NAME FROM crm.APP.CUST WHERE ID > 0"
)
spark.sql("INSERT INTO crm.APP.CUST SELECT id, name, email FROM raw.customers")

# RDDs.
rows = spark.table("raw.orders").rdd.map(lambda row: (row.order_id,))
spark.createDataFrame(rows, "a int").write.saveAsTable("ml.from_rdd")
lines = spark.sparkContext.textFile(f"{base}/lines.txt").map(lambda line: (line,))
spark.createDataFrame(lines, "line string").write.saveAsTable("ml.from_lines")
spark.table("raw.customers").localCheckpoint().write.saveAsTable("ml.checkpointed")

# Streams.
watched = spark.readStream.schema("a int").csv(f"{base}/watched")
sunk = watched.writeStream.format("parquet").option("path", f"{base}/sunk")
sunk.option("checkpointLocation", f"{base}/c1").trigger(
    availableNow=True
).start().awaitTermination()
table = watched.writeStream.option("checkpointLocation", f"{base}/c2").trigger(availableNow=True)
table.toTable("ml.streamed").awaitTermination()


def save(batch, _):
    """What a batch is given to."""
    batch.write.mode("append").saveAsTable("ml.batches")


batches = watched.writeStream.foreachBatch(save)
batches.option("checkpointLocation", f"{base}/c3").trigger(
    availableNow=True
).start().awaitTermination()

spark.stop()
