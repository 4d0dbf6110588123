# lineage
# runs not: needs Spark
# dw.order_totals = shop.orders: order_id
# dw.order_totals.total <- shop.orders.(quantity, unit_price): transformation
# dw.order_totals.* <- shop.orders.status: filter
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("totals").enableHiveSupport().getOrCreate()
pdf = spark.sql("SELECT order_id, quantity, unit_price FROM shop.orders WHERE status = 'paid'").toPandas()
pdf["total"] = pdf["quantity"] * pdf["unit_price"]
sdf = spark.createDataFrame(pdf[["order_id", "total"]])
sdf.write.mode("overwrite").saveAsTable("dw.order_totals")
