"""The sources of `graft.yml` as their collectors take them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from dbt_graft.collectors.declared.source import declared_source, declared_task_infos
from dbt_graft.collectors.source import LogSource
from dbt_graft.collectors.spark import collect as spark_logs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.history_server import authorization
from dbt_graft.collectors.sqlserver import collect as sqlserver_logs
from dbt_graft.collectors.sqlserver.odbc.live import LiveSession, poll
from dbt_graft.collectors.sqlserver.odbc.table import EventTable, poll_table
from dbt_graft.collectors.sqlserver.runs.captured import wanted
from dbt_graft.collectors.sqlserver.runs.folding import Rules
from dbt_graft.collectors.sqlserver.server import snapshot
from dbt_graft.collectors.store import Positions, open_sessions, run_origins, told_until
from dbt_graft.graft.config import Config, SparkEntry, SqlServerEntry
from dbt_graft.lineage.records import TaskInfo


def sources(config: Config) -> Iterator[LogSource]:
    """The entries of `collect`, in order."""
    spark_runs: set[str] = set()
    for entry in config.collect:
        if entry.spark:
            yield _spark(entry.spark, config, spark_runs)
        if entry.sqlserver:
            yield _sqlserver(entry.sqlserver, config)
        if entry.declared:
            yield declared_source(config.path(entry.declared.path), entry.declared.path)


def declared_infos(config: Config) -> dict[str, TaskInfo]:
    """Task or consumer -> its entry in files of declared lineage; the first file wins.

    Raises:
        GraftError: A file is not valid.
    """
    found: dict[str, TaskInfo] = {}
    for entry in config.collect:
        if entry.declared:
            path = entry.declared.path
            found = {**declared_task_infos(config.path(path), path), **found}
    return found


def _spark(given: SparkEntry, config: Config, taken: set[str]) -> LogSource:
    store = config.path(config.store)

    def logs() -> SparkLogs:
        return SparkLogs(
            *(config.path(given.place), given.place, given.task, given.namespace),
            given.task_from,
            authorization=authorization(given.authorization) if given.authorization else "",
        )

    return LogSource(
        lambda known: spark_logs.new_logs(logs(), known),
        lambda spark, known: spark_logs.collect(
            *(spark, logs(), known, run_origins(store), partial(told_until, store)), taken
        ),
    )


def _sqlserver(given: SqlServerEntry, config: Config) -> LogSource:
    rules = Rules(given.task, given.noise, given.idle_minutes * 60)
    store = config.path(config.store)

    def server() -> sqlserver_logs.Server:
        known = snapshot.read(Path(config.path(given.snapshot))) if given.snapshot else None
        return sqlserver_logs.Server(
            *(given.server, rules, known, given.snapshot or ""),
            open_sessions(store, given.server),
        )

    if given.path:
        path, label = config.path(given.path), given.path
        files = sqlserver_logs.SqlServerLogs(path, label)
        return LogSource(
            lambda known: sqlserver_logs.new_logs(files, known),
            lambda spark, known: sqlserver_logs.collect(spark, files, server(), known),
        )
    return _polled(_polling(given), rules, server)


def _polling(given: SqlServerEntry) -> sqlserver_logs.Polling:
    events = wanted(re.compile(given.task))
    assert given.connection
    if given.table and given.key:
        table = EventTable(given.connection, given.table, given.key, given.columns, events)
        return sqlserver_logs.Polling(f"{given.server}/{given.table}", partial(poll_table, table))
    session = LiveSession(given.connection, given.session or "", given.files or "", events)
    label = f"{given.server}/{given.session or given.files}"
    return sqlserver_logs.Polling(label, partial(poll, session))


def _polled(
    polling: sqlserver_logs.Polling, rules: Rules, server: Callable[[], sqlserver_logs.Server]
) -> LogSource:
    """A poll reads and folds at once; its segments wait here until Spark collects them."""
    found: list[sqlserver_logs.News] = []

    def news(known: Positions) -> Sequence[object]:
        found[:] = sqlserver_logs.news(polling, rules, known)
        return found

    return LogSource(news, lambda spark, _: sqlserver_logs.collect_news(spark, found, server()))
