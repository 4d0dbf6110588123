"""A job that gets over one failure and dies of the next; it never stops its session.

Usage: failing_job.py FOLDER
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

base = Path(sys.argv[1])
(base / "events").mkdir(parents=True, exist_ok=True)
spark = (
    SparkSession.builder.master("local[1]")
    .appName("rebuild_returns")
    .config("spark.eventLog.enabled", "true")
    .config("spark.eventLog.dir", (base / "events").as_uri())
    .config("spark.sql.warehouse.dir", str(base / "warehouse"))
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
try:
    spark.table("not_there")
except Exception as error:
    print("as expected:", type(error).__name__)
spark.range(4).write.parquet(f"{base}/out/returns")
returns = spark.read.parquet(f"{base}/out/returns")
returns.selectExpr("assert_true(id < 2, 'customer Jane Doe, password=hunter2')").write.saveAsTable(
    "return_risk"
)
