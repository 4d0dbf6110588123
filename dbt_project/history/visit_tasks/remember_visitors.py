"""Add the visitors of one day who never came before."""

import sys
from datetime import date

from pyspark.sql import SparkSession

day = date.fromisoformat(sys.argv[1])

spark = SparkSession.builder.appName("remember_visitors").enableHiveSupport().getOrCreate()
if not spark.catalog.tableExists("web.known_visitors"):
    spark.sql("CREATE TABLE web.known_visitors (visitor_id INT, first_page STRING) USING parquet")

spark.sql(f"""
    INSERT INTO web.known_visitors
    SELECT v.visitor_id, min(v.page)
    FROM web.visits v
    LEFT ANTI JOIN web.known_visitors k ON k.visitor_id = v.visitor_id
    WHERE v.ds = '{day}'
    GROUP BY v.visitor_id
""")

spark.stop()
