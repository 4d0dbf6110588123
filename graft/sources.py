"""The sources of `graft.yml` as their collectors take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.spark import collect as spark_logs
from collectors.sqlserver import collect as sqlserver_logs
from collectors.store import Collected
from graft.config import Config, Spark, SqlServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Positions = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Source:
    """One entry of `collect`.

    Attributes:
        new_logs: What lies there that a store with these positions does not know; needs no JVM.
        collect: Reads it with Spark; None where nothing is new.
    """

    new_logs: Callable[[Positions], Sequence[object]]
    collect: Callable[[SparkSession, Positions], Collected | None]


def sources(config: Config) -> Iterator[Source]:
    """The entries of `collect`, in order."""
    for entry in config.collect:
        if entry.spark:
            yield _spark(entry.spark, config)
        if entry.sqlserver:
            yield _sqlserver(entry.sqlserver, config)


def _spark(given: Spark, config: Config) -> Source:
    logs = spark_logs.SparkLogs(config.path(given.path), given.path, given.task, given.namespace)
    return Source(
        lambda known: spark_logs.new_logs(logs, known),
        lambda spark, known: spark_logs.collect(spark, logs, known),
    )


def _sqlserver(given: SqlServer, config: Config) -> Source:
    path = config.path(given.path)
    logs = sqlserver_logs.SqlServerLogs(path, given.path, given.server, given.task)
    return Source(
        lambda known: sqlserver_logs.new_logs(logs, known),
        lambda spark, known: sqlserver_logs.collect(spark, logs, known),
    )
