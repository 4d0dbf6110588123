"""Partitioned tables, written and read by day, and a stream that is stopped: a task a step.

Usage: python dated_job.py FOLDER
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

BASE = Path(sys.argv[1])
DAYS = [f"2026-10-{day:02}" for day in range(1, 11)]


def main() -> None:
    """Run the steps, each under the job description by which its task is known."""
    (BASE / "events").mkdir()
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("dated")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", (BASE / "events").as_uri())
        .config("spark.sql.warehouse.dir", str(BASE / "warehouse"))
        .config("spark.hadoop.javax.jdo.option.ConnectionURL", f"jdbc:derby:{BASE}/db;create=true")
        .config("spark.driver.extraJavaOptions", f"-Dderby.stream.error.file={BASE}/derby.log")
        .config("spark.sql.sources.partitionOverwriteMode", "dynamic")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.maxMetadataStringLength", "2000")
        .config("spark.ui.enabled", "false")
        .enableHiveSupport()
        .getOrCreate()
    )
    for name, step in STEPS.items():
        spark.sparkContext.setJobDescription(name)
        step(spark)
    spark.stop()


def fill(spark: SparkSession) -> None:
    spark.sql("CREATE DATABASE raw")
    days = spark.createDataFrame(
        [(n, n % 2, day) for n, day in enumerate(DAYS)], "id int, hr int, ds string"
    )
    days.write.partitionBy("ds", "hr").saveAsTable("raw.orders")
    spark.sql("CREATE TABLE raw.daily (n bigint, ds string) USING parquet PARTITIONED BY (ds)")
    spark.sql("CREATE TABLE raw.weekly (n bigint, ds string) USING parquet PARTITIONED BY (ds)")
    spark.sql(
        "CREATE TABLE raw.monthly (n bigint, month string) USING parquet PARTITIONED BY (month)"
    )
    spark.sql("CREATE TABLE raw.plain (n bigint, placed date, birth_date date) USING parquet")
    spark.sql("CREATE TABLE raw.hive (n bigint) PARTITIONED BY (dt string) STORED AS TEXTFILE")


def static(spark: SparkSession) -> None:
    spark.sql(
        "INSERT OVERWRITE raw.daily PARTITION (ds = '2026-10-05')"
        " SELECT count(*) FROM raw.orders WHERE ds = '2026-10-05'"
    )


def window(spark: SparkSession) -> None:
    spark.sql(
        "INSERT OVERWRITE raw.weekly PARTITION (ds = '2026-10-10') SELECT count(*) FROM raw.orders"
        " WHERE cast(ds AS date) > date_sub(date'2026-10-10', 7) AND ds <= '2026-10-10'"
    )


def dynamic(spark: SparkSession) -> None:
    spark.sql(
        "INSERT OVERWRITE raw.daily SELECT count(*) AS n, ds FROM raw.orders"
        " WHERE ds BETWEEN '2026-10-07' AND '2026-10-08' GROUP BY ds"
    )


def again(spark: SparkSession) -> None:
    """The same partitions: none is new."""
    dynamic(spark)


def month(spark: SparkSession) -> None:
    spark.sql(
        "INSERT OVERWRITE raw.monthly SELECT count(*) AS n, date_format(ds, 'yyyy-MM') AS month"
        " FROM raw.orders WHERE ds >= '2026-10-01' AND ds < '2026-11-01' GROUP BY 2"
    )


def everything(spark: SparkSession) -> None:
    spark.sql("INSERT INTO raw.plain SELECT id, date'2026-10-01', date'1990-05-17' FROM raw.orders")


def filtered(spark: SparkSession) -> None:
    spark.sql(
        "SELECT sum(n) FROM raw.plain WHERE placed >= '2026-10-03' AND birth_date = '1990-05-17'"
    ).collect()


def personal(spark: SparkSession) -> None:
    spark.sql("SELECT sum(n) FROM raw.plain WHERE birth_date = '1990-05-17'").collect()


def hive(spark: SparkSession) -> None:
    spark.sql("INSERT INTO raw.hive PARTITION (dt = '2026-10-02') SELECT 1")


def read_hive(spark: SparkSession) -> None:
    spark.sql("SELECT sum(n) FROM raw.hive WHERE dt = '2026-10-02'").collect()


def paths(spark: SparkSession) -> None:
    spark.range(3).write.parquet(f"{BASE}/out/j/2026/11/02")
    spark.range(3).write.parquet(f"{BASE}/out/month=2026-10")


def dropped(spark: SparkSession) -> None:
    spark.sql("ALTER TABLE raw.daily DROP PARTITION (ds = '2026-10-07')")


def _write_slowly(batch: DataFrame, number: int) -> None:
    slow = F.udf(lambda value: time.sleep(60) or value if number else value, "string")
    batch.select(slow("value").alias("value")).write.mode("append").parquet(f"{BASE}/streamed")


def stream(spark: SparkSession) -> None:
    """A stream that is stopped in the middle of its second batch."""
    folder = BASE / "landing" / "clicks"
    query = (
        spark.readStream.format("text")
        .load(str(folder))
        .writeStream.queryName("stream")
        .option("checkpointLocation", str(BASE / "checkpoint"))
        .foreachBatch(_write_slowly)
        .start()
    )
    query.processAllAvailable()
    (folder / "b.txt").write_text("2\n")
    begun = threading.Event()
    for _ in range(100):
        if spark.sparkContext.statusTracker().getActiveJobsIds():
            begun.set()
            break
        time.sleep(0.2)
    time.sleep(1)
    query.stop()
    assert begun.is_set()


def files(spark: SparkSession) -> None:
    """A stream of files into files, which ends by itself."""
    folder = BASE / "landing" / "clicks"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("1\n")
    query = (
        spark.readStream.format("text")
        .load(str(folder))
        .writeStream.queryName("files")
        .option("checkpointLocation", str(BASE / "checkpoint2"))
        .trigger(availableNow=True)
        .format("parquet")
        .start(str(BASE / "sunk"))
    )
    query.awaitTermination()


STEPS = {
    "fill": fill,
    "static": static,
    "window": window,
    "dynamic": dynamic,
    "again": again,
    "month": month,
    "everything": everything,
    "filtered": filtered,
    "personal": personal,
    "hive": hive,
    "read_hive": read_hive,
    "paths": paths,
    "dropped": dropped,
    "files": files,
    "stream": stream,
}

if __name__ == "__main__":
    main()
