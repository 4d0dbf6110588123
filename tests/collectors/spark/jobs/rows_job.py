"""Tasks, each with a job description of its name, that write what no event names.

Usage: rows_job.py FOLDER
"""

import sys
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

base = Path(sys.argv[1])
(base / "events").mkdir(parents=True, exist_ok=True)
spark = (
    SparkSession.builder.master("local[1]")
    .appName("rows")
    .config("spark.eventLog.enabled", "true")
    .config("spark.eventLog.dir", (base / "events").as_uri())
    .config("spark.sql.warehouse.dir", str(base / "warehouse"))
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
context = spark.sparkContext


def task(name: str) -> None:
    """Begin a task."""
    context.setJobDescription(name)


task("table")
spark.range(4).write.parquet(f"{base}/in")
rows = spark.read.parquet(f"{base}/in")
task("files")
rows.rdd.map(str).saveAsTextFile(f"{base}/out/files")
task("empty_files")
context.emptyRDD().saveAsTextFile(f"{base}/out/empty_files")
task("pickles")
context.parallelize([1]).saveAsPickleFile(f"{base}/out/pickles")
task("fails")
try:
    context.parallelize([1]).map(lambda row: row / 0).saveAsTextFile(f"{base}/out/fails")
except Py4JJavaError:
    print("as expected")
task("each_row")
rows.foreach(print)
task("each_part")
context.textFile(f"{base}/out/files").foreachPartition(list)
task("input_format")
context.newAPIHadoopRDD(
    "org.apache.hadoop.mapreduce.lib.input.TextInputFormat",
    "org.apache.hadoop.io.LongWritable",
    "org.apache.hadoop.io.Text",
    conf={"mapreduce.input.fileinputformat.inputdir": f"{base}/out/files"},
).count()
task("collects")
rows.toPandas()
context.textFile(f"{base}/out/files").collect()


def batch_to_files(batch: DataFrame, number: int) -> None:
    """Write a batch by an RDD."""
    batch.rdd.map(str).saveAsTextFile(f"{base}/out/batch_{number}")


def batch_to_table(batch: DataFrame, _: int) -> None:
    """Write a batch as the log shows it."""
    batch.write.mode("append").parquet(f"{base}/out/batches")


for name, write in (("batch_to_files", batch_to_files), ("batch_to_table", batch_to_table)):
    stream = spark.readStream.schema("id long").parquet(f"{base}/in").writeStream
    stream.queryName(name).foreachBatch(write).trigger(availableNow=True).start().awaitTermination()
spark.stop()
