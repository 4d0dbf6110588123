"""This machine: Python and packages, Java, the ODBC driver."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from pathlib import Path

from dbt_graft import __version__
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.collectors.engines.session import missing_for_spark
from dbt_graft.collectors.java import java_home, version
from dbt_graft.graft.project.config import Config

_note = partial(Finding, "MACHINE", Severity.NOTE)


def python() -> Iterator[Finding]:
    """Versions of the interpreter and of important packages."""
    packages = (f"{name} {_version(name)}" for name in ("pyspark", "dbt-core"))
    versions = ", ".join((f"dbt-graft {__version__}", *packages))
    yield _note("Python", f"{platform.python_version()} at {sys.executable}; {versions}")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def engine(config: Config) -> Iterator[Finding]:
    """The engine that reads logs, and the Java runtime for an embedded Spark.

    Raises:
        GraftError: Logs are to be read on Spark, and there is no Java.
    """
    if config.reads_on_spark:
        yield from java()
        return
    reason = "as graft.yml says" if config.engine else f"as there is no {missing_for_spark()}"
    text = f"logs are read in processes of this machine, without Spark, {reason}"
    yield _note("Engine", text)


def java() -> Iterator[Finding]:
    """The Java runtime for an embedded Spark.

    Raises:
        GraftError: There is none.
    """
    if "SPARK_REMOTE" in os.environ:
        yield _note("Java", "not needed: SPARK_REMOTE names a Spark Connect server")
        return
    home = java_home()
    yield _note("Java", f"{version(Path(home) / 'bin' / 'java')} at {home}")


def odbc() -> Iterator[Finding]:
    """The default driver for connections to SQL Server.

    Raises:
        GraftError: The driver manager or a driver is missing.
    """
    from dbt_graft.collectors.sqlserver.tools import best_installed_driver

    yield _note("ODBC", f"connections use the driver {best_installed_driver()}")
