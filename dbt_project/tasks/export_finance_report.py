"""Write the month's revenue by segment to a CSV file for finance: reads only."""

import argparse
import csv
from pathlib import Path

from pyspark.sql import SparkSession

arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument("--out", type=Path, required=True, help="the CSV file to write")
out = arguments.parse_args().out

spark = SparkSession.builder.appName("export_finance_report").enableHiveSupport().getOrCreate()

report = spark.sql("""
    SELECT date_format(o.ordered_at, 'yyyy-MM') AS month,
           s.segment,
           count(*) AS orders,
           sum(o.order_amount_eur) AS revenue_eur,
           sum(o.order_amount_eur - o.paid_amount_eur) AS open_eur
    FROM analytics.orders o
    JOIN analytics.customer_segments s ON s.customer_id = o.customer_id
    GROUP BY 1, 2
    ORDER BY 1, 2
""")

out.parent.mkdir(parents=True, exist_ok=True)
with out.open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(report.columns)
    writer.writerows(report.collect())

spark.stop()
