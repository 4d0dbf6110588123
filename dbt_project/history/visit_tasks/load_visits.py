"""Load the web shop's visits of one day into their partition of web.visits."""

import sys
from datetime import date
from pathlib import Path

from pyspark.sql import SparkSession

LANDING = Path(__file__).resolve().parents[2] / "landing/visits"
day = date.fromisoformat(sys.argv[1])

spark = SparkSession.builder.appName("load_visits").enableHiveSupport().getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS web")
if not spark.catalog.tableExists("web.visits"):
    spark.sql("""
        CREATE TABLE web.visits (visitor_id INT, page STRING, seconds INT, ds STRING)
        USING parquet PARTITIONED BY (ds)
    """)

visits = spark.read.csv(
    str(LANDING / str(day)), schema="visitor_id INT, page STRING, seconds INT", header=True
)
visits.createOrReplaceTempView("landed_visits")
spark.sql(f"""
    INSERT OVERWRITE TABLE web.visits PARTITION (ds = '{day}')
    SELECT visitor_id, page, seconds FROM landed_visits
""")

spark.stop()
