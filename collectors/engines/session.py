"""The Spark session of a collect: embedded by default, a cluster by configuration."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
import sys
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import dbt_graft
from dbt_graft import analysis, collectors, lineage
from dbt_graft.collectors import debug
from dbt_graft.collectors.java import java_home
from dbt_graft.lineage.errors import GraftError, add_extra

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
# For a collect an embedded JVM does little and ends soon, as the work is done in Python. Compiling
# its code would take longer than running it.
_EMBEDDED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
_log = logging.getLogger(__name__)


@contextmanager
def session(
    settings: Mapping[str, str] | None = None,
    log: Path | None = None,
    *,
    much_work: bool = False,
) -> Iterator[SparkSession]:
    """A Spark session for collecting or folding, stopped at the end.

    Args:
        settings: Any `spark.*` key; `spark.master` defaults to `local[*]`. With `SPARK_REMOTE`
            in the environment Spark Connect takes over and needs no Java here.
        much_work: Millions of rows go through an embedded JVM, so that it compiles its code.
        log: A file for the standard error of Spark and its Python workers; without it, it is
            that of this process.

    Raises:
        GraftError: There is no PySpark or no Java for it, Spark cannot start, or a job fails.
        KeyboardInterrupt: Ctrl-C; Spark is stopped then.
    """
    _check_pyspark()
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
    elif chosen["spark.master"].startswith("local[") and not much_work:
        chosen = {**_EMBEDDED, **chosen}
    if debug.is_on() and not remote:
        chosen[f"spark.executorEnv.{debug.VARIABLE}"] = "1"
    # Values may be secrets.
    _log.debug("starting Spark with %s", ", ".join(sorted(chosen)))
    builder = SparkSession.builder
    for key, value in chosen.items():
        builder = builder.config(key, value)
    try:
        # Executors fetch the archive when they first need it: it stays until the session ends.
        archives = tempfile.TemporaryDirectory(prefix="graft-")
        with archives as folder, _silence_py4j(), _running_session(builder, log) as spark:
            if remote or not chosen["spark.master"].startswith("local["):
                spark.addArtifacts(str(_archive(Path(folder))), pyfile=True)
            yield spark
    except (PySparkException, Py4JError) as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        _log.debug("Spark failed", exc_info=True)
        raise _failure(error, log) from error


def missing_for_spark() -> str:
    """The program that Spark needs and this machine lacks: `PySpark`, `Java`; empty for none."""
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark"
    if "SPARK_REMOTE" in os.environ:
        return ""
    try:
        java_home()
    except GraftError:
        return "Java"
    return ""


def _check_pyspark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        raise GraftError(
            "Spark is to read the logs, and PySpark is not installed",
            remedy=f"{add_extra('spark')}; or read without Spark: `engine: local` in graft.yml",
        )
    from pyspark import __version__

    if sys.version_info >= (3, 12) and __version__.startswith("3."):
        raise GraftError(
            "PySpark 3.5 needs Python 3.11; PySpark 4 runs on later versions too",
            remedy="let the environment of dbt-graft have 'pyspark>=4,<5' (`pip install`, "
            "`pipx inject dbt-graft`, `uv tool install --with`)",
        )


@contextmanager
def _running_session(builder: SparkSession.Builder, log: Path | None) -> Iterator[SparkSession]:
    """Spark, stopped at the end; after Ctrl-C also if it does not answer any more."""
    before = signal.getsignal(signal.SIGINT)
    try:
        with _hold_interrupts(), _redirect_standard_error(log):
            spark = builder.getOrCreate()
    finally:
        # PySpark leaves a handler behind that cancels jobs over a connection that may be broken.
        if _in_main_thread():
            signal.signal(signal.SIGINT, before)
    try:
        yield spark
    except BaseException as error:
        with _suppress_all() if _is_interrupt(error) else nullcontext():
            spark.stop()
        raise
    spark.stop()


@contextmanager
def _suppress_all() -> Iterator[None]:
    """No word of Spark's end: Ctrl-C in a terminal ends the JVM too."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: py4j may fail on its own way out of it."""
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back: a JVM whose start is interrupted would wait for its driver for ever."""
    if not _in_main_thread():
        yield
        return
    waiting: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    yield
    if waiting:
        raise KeyboardInterrupt


def _in_main_thread() -> bool:
    """Whether Python lets this thread handle signals."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _silence_py4j() -> Iterator[None]:
    """Drop what py4j logs of a broken connection: it raises an exception as well."""

    def is_ours(record: logging.LogRecord) -> bool:
        return "py4j" not in Path(record.pathname).parts

    # py4j logs some of it by the root logger.
    root, py4j, dropped = logging.getLogger(), logging.getLogger("py4j"), logging.NullHandler()
    root.addFilter(is_ours)
    py4j.addHandler(dropped)
    propagated, py4j.propagate = py4j.propagate, False
    try:
        yield
    finally:
        root.removeFilter(is_ours)
        py4j.removeHandler(dropped)
        py4j.propagate = propagated


def _failure(error: Exception, log: Path | None) -> GraftError:
    """The cause of Spark's stack trace as one sentence; the stack trace goes to the log."""
    text = str(error)
    if log:
        with log.open("a", encoding="utf-8") as sink:
            sink.write(f"{text}\n")
    causes = [line for line in text.splitlines() if line.startswith((": ", "Caused by: "))]
    reason = (causes or text.splitlines() or [type(error).__name__])[-1 if causes else 0]
    return GraftError(
        f"Spark failed: {reason.removeprefix('Caused by').removeprefix(': ')}",
        place=str(log or ""),
        remedy="Spark's messages are in this file" if log else "",
    )


@contextmanager
def _redirect_standard_error(log: Path | None) -> Iterator[None]:
    """Redirect standard error to a file; processes started meanwhile write there to their end."""
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
    """Write the packages that executors import into a zip file."""
    archive = folder / "graft_collectors.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as package:
        for module in sorted(Path(dbt_graft.__file__).parent.glob("*.py")):
            package.write(module, f"dbt_graft/{module.name}")
        for room in (lineage, analysis, collectors):
            root = Path(str(room.__file__)).parent
            for module in sorted(root.rglob("*.py")):
                name = f"dbt_graft/{root.name}/{module.relative_to(root)}"
                package.write(module, name)
    return archive
