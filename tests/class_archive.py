"""Java's archive of the classes that Spark loads: with it a session starts in half the time.

Usage: python -m tests.class_archive FILE: run a bit of all that tests do, and write the archive

`make test` has it in the environment whose PySpark it belongs to; a run without it only takes
longer. Java itself leaves an archive alone that is not of its version or of these jars.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "spark.jsa"
# A JVM of tests lives too short for a second compiler: with it, jobs take twice the time.
OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"


def java_options(settings: Mapping[str, str] | None = None) -> str:
    """The options of each JVM that tests start, as `SPARK_SUBMIT_OPTS` has them.

    Args:
        settings: Those of Spark. A folder with them, `SPARK_CONF_DIR`, is before Spark's jars in
            Java's list of places, and Java leaves the archive alone.
    """
    usable = ARCHIVE.is_file() and " " not in str(ARCHIVE)
    archive = [f"-XX:SharedArchiveFile={ARCHIVE}"] if usable else []
    return " ".join([OPTIONS, *archive, *(f"-D{key}={it}" for key, it in (settings or {}).items())])


def main(target: Path) -> None:
    """Run jobs and workers of Python, and wait until their JVM has ended and written."""
    os.environ["SPARK_SUBMIT_OPTS"] = f"{OPTIONS} -XX:ArchiveClassesAtExit={target.absolute()}"
    from pyspark import SparkContext

    from dbt_graft.collectors.engines.session import session
    from tests.collectors.spark.jobs.run import run
    from tests.collectors.spark.suite import SAMPLE

    with tempfile.TemporaryDirectory() as name:
        with session({"spark.master": "local[1]"}) as spark:
            rows = spark.range(9).selectExpr("id", "id % 2 AS part")
            rows.rdd.map(tuple).collect()
            rows.mapInPandas(lambda frames: frames, rows.schema).collect()
            rows.mapInArrow(lambda batches: batches, rows.schema).collect()
        run(Path(name, "shop"), "shop_job")
        run(Path(name, "suite"), "suite", *SAMPLE)
    # It ends with its input, and writes for seconds.
    java = SparkContext._gateway.proc  # type: ignore[union-attr]
    java.stdin.close()
    java.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
