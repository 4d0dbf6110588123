"""Count the visitors of each page in the seven days that end with one day."""

import sys
from datetime import date, timedelta

from pyspark.sql import SparkSession

day = date.fromisoformat(sys.argv[1])
first = day - timedelta(days=6)

spark = SparkSession.builder.appName("count_weekly_visitors").enableHiveSupport().getOrCreate()
if not spark.catalog.tableExists("web.weekly_visitors"):
    spark.sql("""
        CREATE TABLE web.weekly_visitors (page STRING, visitors BIGINT, seconds BIGINT, ds STRING)
        USING parquet PARTITIONED BY (ds)
    """)

spark.sql(f"""
    INSERT OVERWRITE TABLE web.weekly_visitors PARTITION (ds = '{day}')
    SELECT page, count(DISTINCT visitor_id), sum(seconds)
    FROM web.visits
    WHERE ds BETWEEN '{first}' AND '{day}'
    GROUP BY page
""")

spark.stop()
