"""Land the returns and rate how often each product comes back.

It fails: one clerk typed an amount with a decimal comma, and Spark's ANSI mode refuses to
guess. By then raw.returns is written and the write to ml.return_risk has begun.
"""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

LANDING = Path(__file__).resolve().parent.parent / "landing"

# Amounts are typed by hand in the warehouse, so they land as text.
RETURNS = "return_id INT, order_id INT, reason STRING, refund_amount STRING, returned_on DATE"

spark = SparkSession.builder.appName("rebuild_returns").enableHiveSupport().getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS raw")
spark.sql("CREATE DATABASE IF NOT EXISTS ml")

landed = spark.read.csv(str(LANDING / "returns"), schema=RETURNS, header=True)
landed.write.mode("overwrite").saveAsTable("raw.returns")

orders = spark.table("analytics.orders").select("order_id", "product_id", "order_amount_eur")
risk = (
    spark.table("raw.returns")
    .join(orders, "order_id", "right")
    .groupBy("product_id")
    .agg(
        (sf.count("return_id") / sf.count("*")).alias("return_rate"),
        sf.sum(sf.col("refund_amount").cast("decimal(10,2)")).alias("refunded"),
    )
)
risk.write.mode("overwrite").saveAsTable("ml.return_risk")

spark.stop()
