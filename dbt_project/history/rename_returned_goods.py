"""Give raw.returned_goods the name that everybody uses. It ran once, on 6 October 2026."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("rename_returned_goods").enableHiveSupport().getOrCreate()
spark.sql("ALTER TABLE raw.returned_goods RENAME TO raw.returns")
spark.stop()
