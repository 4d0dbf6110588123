"""A team's Spark job for the tests: each step is a way in which tasks read and write.

Usage: shop_job.py FOLDER — everything (metastore, warehouse, landing, event log) lies below it.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

base = Path(sys.argv[1])
landing = base / "landing"
(landing / "orders").mkdir(parents=True)
(base / "events").mkdir(exist_ok=True)
for day in (1, 2):
    lines = [f"{day}{n},{n % 3},{day * 10 + n}" for n in range(5)]
    text = "\n".join(["order_id,customer_id,amount", *lines])
    (landing / "orders" / f"2026-11-0{day}.csv").write_text(text)
people = [{"id": n, "name": f"secret_{n}"} for n in range(3)]
(landing / "customers.json").write_text("\n".join(map(json.dumps, people)))

spark = (
    SparkSession.builder.master("local[2]")
    .appName("load_shop-2026-11-21T05:00")
    .config("spark.eventLog.enabled", "true")
    .config("spark.eventLog.dir", (base / "events").as_uri())
    .config("spark.sql.warehouse.dir", str(base / "warehouse"))
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", f"jdbc:derby:{base}/db;create=true")
    .config("spark.driver.extraJavaOptions", f"-Dderby.stream.error.file={base}/derby.log")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.ui.enabled", "false")
    .enableHiveSupport()
    .getOrCreate()
)
spark.sql("CREATE DATABASE raw")
spark.sql("CREATE DATABASE ml")

# Files to tables: a glob with its schema inferred, a single file, more of the same appended.
orders = spark.read.csv(f"{landing}/orders/*.csv", header=True, inferSchema=True)
orders.write.saveAsTable("raw.orders")
spark.read.json(f"{landing}/customers.json").write.saveAsTable("raw.customers")
orders.filter("amount > 20").write.mode("append").saveAsTable("raw.orders")

# SQL: with adaptive execution, into Hive's own formats, into two tables at once.
spark.sql(
    "CREATE TABLE ml.spend USING parquet AS SELECT name, sum(amount) AS spent "
    "FROM raw.orders JOIN raw.customers ON customer_id = id GROUP BY name"
)
spark.sql("CREATE TABLE ml.big (order_id INT) PARTITIONED BY (dt STRING) STORED AS textfile")
spark.sql(
    "INSERT OVERWRITE TABLE ml.big PARTITION (dt='2026-11-21') "
    "SELECT order_id FROM raw.orders WHERE amount > 12"
)
spark.sql("CREATE TABLE ml.big_copy STORED AS orc AS SELECT order_id FROM ml.big")
spark.sql("CREATE TABLE ml.ids (id INT) USING parquet")
spark.sql(
    "FROM raw.orders INSERT INTO ml.ids SELECT order_id "
    "INSERT INTO ml.big_copy SELECT order_id WHERE amount > 1"
)
spark.sql("INSERT INTO ml.ids VALUES (-77)")

# Paths: a partitioned folder, one of its partitions, and the folder of a table.
spark.table("raw.orders").write.partitionBy("customer_id").parquet(f"{base}/out/orders")
spark.read.parquet(f"{base}/out/orders/customer_id=1").count()
spark.read.parquet(f"{base}/warehouse/ml.db/spend").collect()

# Views: one that stays, one of the session.
spark.sql("CREATE VIEW ml.cheap AS SELECT order_id FROM raw.orders WHERE amount < 12")
spark.table("ml.cheap").createOrReplaceTempView("cheap_today")
spark.sql("SELECT order_id FROM cheap_today").write.saveAsTable("ml.cheap_copy")

# Cached data is read once and written twice.
cached = spark.table("raw.customers").filter("id > 0").cache()
cached.count()
cached.write.saveAsTable("ml.cached_a")
cached.select("id").write.saveAsTable("ml.cached_b")

# What Python holds: read into memory, written from there.
rows = spark.table("ml.spend").collect()
spark.createDataFrame(
    [(row.name, 0.5) for row in rows], "name string, score double"
).write.saveAsTable("ml.scores")

# No data: made, changed, renamed, emptied, dropped; and what was never there.
spark.sql("CREATE TABLE ml.scratch (a INT) USING parquet")
spark.sql("ALTER TABLE ml.scratch ADD COLUMNS (b STRING)")
spark.sql("ALTER TABLE ml.scratch RENAME TO ml.scratch2")
spark.sql("TRUNCATE TABLE ml.scratch2")
spark.sql("DROP TABLE ml.scratch2")
spark.sql("DROP TABLE IF EXISTS ml.never_there")
spark.sql("ANALYZE TABLE raw.orders COMPUTE STATISTICS")
spark.sql("SHOW TABLES IN ml").collect()

spark.stop()
