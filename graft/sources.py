"""The sources of `graft.yml` as their collectors take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.collectors.declared import collect as declared_lineage
from dbt_graft.collectors.spark import source as spark_logs
from dbt_graft.collectors.sqlserver import source as sqlserver
from dbt_graft.collectors.store import Collected, last_event_times, run_origins
from dbt_graft.graft.config import Config, Declared, Spark, SqlServer
from dbt_graft.lineage.records import TaskInfo

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
    spark_runs: set[str] = set()
    for entry in config.collect:
        if entry.spark:
            yield _spark(entry.spark, config, spark_runs)
        if entry.sqlserver:
            yield _sqlserver(entry.sqlserver, config)
        if entry.declared:
            yield _declared(_declared_files(entry.declared, config))


def declared_infos(config: Config) -> dict[str, TaskInfo]:
    """What files of declared lineage say of tasks and consumers, the first that names one first.

    Raises:
        GraftError: A file is not valid.
    """
    found: dict[str, TaskInfo] = {}
    for entry in config.collect:
        if entry.declared:
            read = declared_lineage.documents(_declared_files(entry.declared, config))
            found = {**declared_lineage.infos(read), **found}
    return found


def _declared_files(given: Declared, config: Config) -> declared_lineage.DeclaredFiles:
    return declared_lineage.DeclaredFiles(config.path(given.path), given.path)


def _declared(files: declared_lineage.DeclaredFiles) -> Source:
    return Source(
        lambda known: declared_lineage.news(files, known),
        lambda spark, known: declared_lineage.collect(spark, declared_lineage.news(files, known)),
    )


def _spark(given: Spark, config: Config, taken: set[str]) -> Source:
    store = config.path(config.store)

    def logs() -> spark_logs.SparkLogs:
        return spark_logs.SparkLogs(
            *(config.path(given.place), given.place, given.task, given.namespace),
            given.task_from,
            authorization=spark_logs.authorization(given.authorization)
            if given.authorization
            else "",
        )

    return Source(
        lambda known: spark_logs.new_logs(logs(), known),
        lambda spark, known: spark_logs.collect(
            *(spark, logs(), known, run_origins(store), partial(last_event_times, store)), taken
        ),
    )


def _sqlserver(given: SqlServer, config: Config) -> Source:
    source = sqlserver.event_source(
        _events(given, config),
        sqlserver.ServerSettings(
            namespace=given.server,
            store=config.path(config.store),
            rules=sqlserver.RunRules(given.task, given.noise, given.idle_minutes * 60),
            snapshot=Path(config.path(given.snapshot)) if given.snapshot else None,
            snapshot_label=given.snapshot or "",
        ),
    )
    return Source(source.new_logs, source.collect)


def _events(
    given: SqlServer, config: Config
) -> sqlserver.SqlServerLogs | sqlserver.LiveSession | sqlserver.EventTable:
    if given.path:
        return sqlserver.SqlServerLogs(config.path(given.path), given.path)
    assert given.connection
    if given.table and given.key:
        return sqlserver.EventTable(given.connection, given.table, given.key, given.columns)
    return sqlserver.LiveSession(given.connection, given.session or "", given.files or "")
