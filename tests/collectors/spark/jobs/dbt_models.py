"""A dbt project of two models, run by dbt-spark's session method with the event log on.

Usage: dbt_models.py FOLDER
"""

import json
import sys
from pathlib import Path

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession


def build(base: Path) -> bool:
    """Write the project and run it; whether dbt succeeded."""
    (base / "events").mkdir()
    (base / "models").mkdir()
    profile = {
        "type": "spark",
        "method": "session",
        "host": "NA",
        "schema": "analytics",
        "server_side_parameters": {
            "spark.app.name": "shop_models",
            "spark.master": "local[1]",
            "spark.ui.enabled": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (base / "events").as_uri(),
            "spark.sql.warehouse.dir": str(base / "warehouse"),
            "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{base}/db;create=true",
        },
    }
    files = {
        "dbt_project.yml": {"name": "shop", "version": "1.0", "profile": "shop"},
        "profiles.yml": {"shop": {"target": "dev", "outputs": {"dev": profile}}},
    }
    for name, content in files.items():
        (base / name).write_text(json.dumps(content))
    (base / "models" / "one.sql").write_text("{{ config(materialized='table') }} SELECT 1 AS id")
    (base / "models" / "two.sql").write_text("SELECT * FROM {{ ref('one') }}")
    where = ["--project-dir", str(base), "--profiles-dir", str(base)]
    done = dbtRunner().invoke(["run", "--quiet", *where])
    # A job that follows in this process has a session of its own.
    SparkSession.builder.getOrCreate().stop()
    return done.success


if __name__ == "__main__":
    sys.exit(not build(Path(sys.argv[1])))
