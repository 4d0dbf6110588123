"""Score every customer who ever ordered by value and by how likely they are gone."""

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as sf

MODEL_VERSION = "rules-3"

spark = SparkSession.builder.appName("score_customers").enableHiveSupport().getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS ml")

customers = spark.table("analytics.customers").where("order_count > 0")
today = customers.agg(sf.max("last_order_at").alias("today"))
history = customers.crossJoin(sf.broadcast(today)).select(
    "customer_id",
    "lifetime_value_eur",
    sf.datediff("today", "last_order_at").alias("days_away"),
    # How long this customer usually waits between two orders.
    (
        sf.datediff("last_order_at", "first_order_at")
        / sf.greatest(sf.col("order_count") - 1, sf.lit(1))
    )
    .cast("double")
    .alias("usual_gap"),
)

scores = history.select(
    "customer_id",
    sf.percent_rank().over(Window.orderBy("lifetime_value_eur")).alias("value_score"),
    (sf.col("days_away") / (sf.col("days_away") + sf.greatest("usual_gap", sf.lit(14.0)))).alias(
        "churn_score"
    ),
    sf.lit(MODEL_VERSION).alias("model_version"),
)
scores.write.mode("overwrite").saveAsTable("ml.customer_scores")

spark.stop()
