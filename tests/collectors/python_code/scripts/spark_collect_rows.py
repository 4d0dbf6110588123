# lineage
# runs not: needs Spark
# dw.event_minutes = raw.events: user_id
# dw.event_minutes.minutes <- raw.events.seconds: transformation
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = spark.read.table("raw.events").select("user_id", "seconds").collect()
minutes = [(row["user_id"], row.seconds // 60) for row in rows]
frame = spark.createDataFrame(minutes, ["user_id", "minutes"])
frame.write.format("delta").mode("append").saveAsTable("dw.event_minutes")
