"""Plays the replication tool that copies three tables of ShopDW from SQL Server into Spark.

Such a tool leaves no Spark event log, so this script runs with the log switched off: the tables
are simply there. What *fills* them is known from SQL Server's own log in logs/.
"""

from pathlib import Path

from pyspark.sql import SparkSession

REPLICA = Path(__file__).resolve().parent / "replica"
TABLES = {
    "suppliers": """supplier_id INT, supplier_name STRING, country STRING,
                    lead_time_days INT, rating INT""",
    "products": """product_id INT, product_name STRING, category_code STRING,
                   supplier_id INT, purchase_price DECIMAL(10,2)""",
    "exchange_rates": "currency STRING, month DATE, rate_to_eur DECIMAL(10,4)",
}

spark = (
    SparkSession.builder.appName("replicate")
    .config("spark.eventLog.enabled", "false")
    .enableHiveSupport()
    .getOrCreate()
)
spark.sql("CREATE DATABASE IF NOT EXISTS raw")
for table, schema in TABLES.items():
    rows = spark.read.csv(str(REPLICA / f"{table}.csv"), schema=schema, header=True)
    rows.write.mode("overwrite").saveAsTable(f"raw.{table}")
spark.stop()
