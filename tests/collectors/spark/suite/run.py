"""Run every case of the suite in one Spark application with its event log on.

Usage: python -m tests.collectors.spark.suite.run FOLDER [CASE …]
       python -m tests.collectors.spark.suite.run FOLDER --iceberg JARS: those of `iceberg`

Everything (metastore, warehouse, landing zone, `events`) lies below the folder. What a case did is
known in the log by the job description, which is the case's name. Cases that could not run are
listed in `FOLDER/broken.json` with their errors.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from tests.collectors.spark.suite import CASES, databases, iceberg, shop
from tests.collectors.spark.suite.case import SuiteCase
from tests.collectors.spark.suite.databases import DRIVER, URL
from tests.collectors.spark.suite.servers import PORT, free_port

JDBC_CATALOG = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
VERSION = tuple(map(int, pyspark.__version__.split(".")[:2]))


def session(base: Path, more: dict[str, str]) -> SparkSession:
    """A session that keeps all it has below a folder."""
    settings = {
        **more,
        "spark.master": "local[2]",
        "spark.app.name": "suite",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (base / "events").as_uri(),
        "spark.sql.warehouse.dir": str(base / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{base}/db;create=true",
        "spark.driver.extraJavaOptions": (
            f"-Dderby.stream.error.file={base}/derby.log -XX:TieredStopAtLevel=1"
        ),
        "spark.sql.catalog.crm": JDBC_CATALOG,
        "spark.sql.catalog.crm.url": URL,
        "spark.sql.catalog.crm.driver": DRIVER,
        "spark.sql.catalog.crm.pushDownAggregate": "true",
        "spark.sql.shuffle.partitions": "1",
        # By default a list of paths is cut at 100 characters, which a long base alone would fill.
        "spark.sql.maxMetadataStringLength": "4096",
        f"spark.hadoop.{PORT}": str(free_port()),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.enableHiveSupport().getOrCreate()
    spark.sparkContext.setCheckpointDir(str(base / "checkpoints"))
    return spark


def run(case: SuiteCase, spark: SparkSession, base: Path) -> str:
    """Run a case in a session of its own; what went wrong, if anything."""
    spark.sparkContext.setJobDescription(case.name)
    try:
        case.job(spark.newSession(), base)
    except Exception:
        return traceback.format_exc()
    finally:
        spark.catalog.clearCache()
    return ""


def main(base: Path, *names: str) -> None:
    """Run the cases (all, or those of these names) and list what could not be run."""
    (base / "events").mkdir(parents=True)
    shop.land(base)
    of_iceberg = names[:1] == ("--iceberg",)
    spark = session(base, iceberg.settings(base, names[1]) if of_iceberg else {})
    spark.sparkContext.setJobDescription("shop")
    if of_iceberg:
        iceberg.fill(spark)
        chosen = list(iceberg.CASES.values())
    else:
        shop.fill(spark)
        databases.fill(spark)
        chosen = [case for case in CASES.values() if not names or case.name in names]
    problems = {case.name: run(case, spark, base) for case in chosen if case.runs_on(VERSION)}
    spark.stop()
    (base / "broken.json").write_text(
        json.dumps({name: problem for name, problem in problems.items() if problem})
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
