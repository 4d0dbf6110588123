"""Print the week's visitors of each page; the scheduler mails what is printed."""

import sys
from datetime import date

from pyspark.sql import SparkSession

day = date.fromisoformat(sys.argv[1])

spark = SparkSession.builder.appName("mail_visitor_report").enableHiveSupport().getOrCreate()
report = spark.sql(f"""
    SELECT page, visitors, seconds FROM web.weekly_visitors WHERE ds = '{day}' ORDER BY page
""")
for page, visitors, seconds in report.collect():
    print(f"{page:<12}{visitors:>6}{seconds:>9}")

spark.stop()
