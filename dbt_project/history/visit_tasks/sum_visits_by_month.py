"""Sum the visits of a month up to one day."""

import sys
from datetime import date

from pyspark.sql import SparkSession

day = date.fromisoformat(sys.argv[1])

spark = SparkSession.builder.appName("sum_visits_by_month").enableHiveSupport().getOrCreate()
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
if not spark.catalog.tableExists("web.visits_by_month"):
    spark.sql("""
        CREATE TABLE web.visits_by_month (page STRING, visits BIGINT, seconds BIGINT, month STRING)
        USING parquet PARTITIONED BY (month)
    """)

spark.sql(f"""
    INSERT OVERWRITE TABLE web.visits_by_month PARTITION (month)
    SELECT page, count(visitor_id), sum(seconds), substring(ds, 1, 7) AS month
    FROM web.visits
    WHERE ds >= '{day.replace(day=1)}' AND ds <= '{day}'
    GROUP BY page, substring(ds, 1, 7)
""")

spark.stop()
