"""The Spark session that collecting runs on: embedded by default, a cluster by configuration."""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dbt_graft
from dbt_graft import collectors, lineage
from dbt_graft.collectors.java import java_home
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DEFAULTS = {
    "spark.app.name": "graft collect",
    "spark.master": "local[*]",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
}
# An embedded JVM has little to do and ends soon; what is much to do is done in Python. Making its
# code fast would take it longer than its work.
_EMBEDDED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


@contextmanager
def session(
    settings: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[SparkSession]:
    """A Spark session for collecting, stopped at the end.

    Args:
        settings: Any `spark.*` key; `spark.master` defaults to `local[*]`. With `SPARK_REMOTE`
            in the environment Spark Connect takes over and needs no Java here.
        log: A file for what the JVM says on standard error; without it, it is shown.

    Raises:
        GraftError: Spark needs a Java that is not there, cannot start, or fails at its work.
    """
    remote = "SPARK_REMOTE" in os.environ
    if not remote:
        os.environ["JAVA_HOME"] = java_home()
        # Executors on this machine run the interpreter that runs us.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    chosen = {**_DEFAULTS, **(settings or {})}
    if remote:
        del chosen["spark.master"]
    elif chosen["spark.master"].startswith("local["):
        chosen = {**_EMBEDDED, **chosen}
    builder = SparkSession.builder
    for key, value in chosen.items():
        builder = builder.config(key, value)
    try:
        with _standard_error_to(log):
            spark = builder.getOrCreate()
        # Executors fetch the archive when they first need it: it stays until the session ends.
        with tempfile.TemporaryDirectory(prefix="graft-") as folder:
            try:
                if remote or not chosen["spark.master"].startswith("local["):
                    spark.addArtifacts(str(_archive(Path(folder))), pyfile=True)
                yield spark
            finally:
                spark.stop()
    except (PySparkException, Py4JError) as error:
        raise _failure(error, log) from error


def _failure(error: Exception, log: Path | None) -> GraftError:
    """Spark's pages of stack as one sentence; all of it goes to the log."""
    said = str(error)
    if log:
        with log.open("a", encoding="utf-8") as sink:
            sink.write(f"{said}\n")
    causes = [line for line in said.splitlines() if line.startswith((": ", "Caused by: "))]
    reason = (causes or said.splitlines() or [type(error).__name__])[-1 if causes else 0]
    return GraftError(
        f"Spark failed: {reason.removeprefix('Caused by').removeprefix(': ')}",
        place=str(log or ""),
        remedy="that file holds all that Spark said" if log else "",
    )


@contextmanager
def _standard_error_to(log: Path | None) -> Iterator[None]:
    """Processes started inside write their standard error to a file for all of their life."""
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    shown = os.dup(2)
    try:
        with log.open("ab") as sink:
            os.dup2(sink.fileno(), 2)
        yield
    finally:
        os.dup2(shown, 2)
        os.close(shown)


def _archive(folder: Path) -> Path:
    """The rooms that executors need, as one archive."""
    archive = folder / "graft_collectors.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as package:
        package.write(dbt_graft.__file__, "dbt_graft/__init__.py")
        for room in (lineage, collectors):
            root = Path(str(room.__file__)).parent
            for module in sorted(root.rglob("*.py")):
                name = f"dbt_graft/{root.name}/{module.relative_to(root)}"
                package.write(module, name)
    return archive
