"""The sources of `graft.yml` as their collectors take them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.collectors.dbt.source import results_source, target_source
from dbt_graft.collectors.declared.source import declared_source
from dbt_graft.collectors.files import LogPath, is_named
from dbt_graft.collectors.openlineage.source import EventFiles, event_source
from dbt_graft.collectors.source import LogSource, settings_digest
from dbt_graft.collectors.spark.source import SparkLogs, event_log_source
from dbt_graft.collectors.sqlserver import source as sqlserver
from dbt_graft.collectors.store.door import last_event_times, positions
from dbt_graft.collectors.store.selected import run_origins
from dbt_graft.graft.project.collect_section import (
    CollectEntry,
    OpenLineageEntry,
    SparkEntry,
    SqlServerEntry,
)
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.contracts import partition_columns
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.records import Records, Reject

_MOST_NAMED = 5


def sources(config: Config, without: Collection[str] = ()) -> Iterator[LogSource]:
    """The entries of `collect`, in order; after them the results in dbt's target folder, if any.

    Args:
        without: Damaged batches of the store to do without.
    """
    spark_runs: set[str] = set()
    for entry in config.collect:
        if entry.spark:
            yield _spark(entry.spark, config, spark_runs, without)
        if entry.sqlserver:
            yield _sqlserver(entry.sqlserver, config, without)
        if entry.declared:
            yield declared_source(config.path(entry.declared.path), entry.declared.path)
        if entry.openlineage:
            yield _openlineage(entry.openlineage, config)
        if entry.dbt:
            yield results_source(config.path(entry.dbt.path), entry.dbt.path)
    if target := target_source(config.target_dir):
        yield target


def unnamed_rejects(config: Config, records: Records) -> tuple[Reject, ...]:
    """The rejects of logs that no entry of `collect` names, and that brought nothing else.

    A path in `graft.yml` was wrong then, and is corrected. What is left of other logs, such as
    those that were rotated away, is still lost; and a task whose log was damaged may have done
    more than is known, whether that log is named or not.
    """
    parts = (records.accesses, records.runs, records.datasets, records.column_edges)
    useful = {record.origin for part in (*parts, records.task_metadata) for record in part}
    useful |= {record.origin for record in records.dataset_metadata}
    if records.run_repeats:
        # Of what is folded nobody knows the logs.
        useful |= {
            log for log, (_, events) in positions(config.path(config.store)).items() if events
        }
    labels = [source.label for source in sources(config) if source.label]
    return tuple(
        reject
        for reject in records.rejects
        if reject.origin not in useful
        and not any(is_named(reject.origin, label) for label in labels)
    )


def unnamed_text(rejects: Sequence[Reject]) -> str:
    """The rejects that are left out as no entry of `collect` names their logs."""
    logs = [*dict.fromkeys(reject.origin for reject in rejects)]
    return (
        f"{count(len(rejects), 'reject')} of {count(len(logs), 'log')} that `collect` in graft.yml "
        f"names no more: left out, as nothing else came of {join_names(logs, _MOST_NAMED)}"
    )


def date_columns(config: Config) -> DateColumns:
    """The rules of `dates` in graft.yml, and the partition columns of contracts."""
    return replace(config.date_columns, contracted=partition_columns(config))


def _spark(
    entry: SparkEntry, config: Config, taken: set[str], without: Collection[str]
) -> LogSource:
    store = config.path(config.store)

    def logs() -> SparkLogs:
        header = ""
        if entry.authorization:
            from dbt_graft.collectors.http_session import authorization  # a History Server's

            header = authorization(entry.authorization)
        return SparkLogs(
            *(config.path(entry.place), entry.place, entry.task, entry.namespace),
            entry.task_from,
            authorization=header,
            date_columns=date_columns(config),
        )

    return event_log_source(
        logs,
        entry.place,
        _digest(config, entry, "task", "task_from", "namespace"),
        partial(run_origins, store, without=without),
        partial(last_event_times, store, without),
        taken,
    )


def _sqlserver(entry: SqlServerEntry, config: Config, without: Collection[str]) -> LogSource:
    keys = ("server", "task", "noise", "idle_minutes", "columns", "snapshot")
    return sqlserver.event_source(
        _events(entry, config),
        sqlserver.ServerSettings(
            namespace=entry.server,
            store=config.path(config.store),
            without=without,
            rules=sqlserver.RunRules(
                *(entry.task, entry.noise, entry.idle_minutes * 60),
                date_columns(config),
                entry.timezone or "UTC",
            ),
            snapshot=Path(config.path(entry.snapshot)) if entry.snapshot else None,
            snapshot_label=entry.snapshot or "",
        ),
        CollectEntry(sqlserver=entry).label,
        _digest(config, entry, *keys, *(["timezone"] if entry.timezone else [])),
    )


def _openlineage(entry: OpenLineageEntry, config: Config) -> LogSource:
    path, task = entry.path, entry.task or ""
    files = EventFiles(config.path(path), path, task, date_columns(config), entry.timezone or "")
    settings = {"task": task, **({"timezone": entry.timezone} if entry.timezone else {})}
    return event_source(files, _settings_digest(config, settings))


def _digest(config: Config, entry: SparkEntry | SqlServerEntry, *keys: str) -> str:
    return _settings_digest(config, {key: getattr(entry, key) for key in keys})


def _settings_digest(config: Config, settings: dict[str, Any]) -> str:
    # Without rules for dates, as before there were any.
    dates = asdict(config.dates)
    if any(dates.values()):
        settings = {**settings, "dates": dates}
    if of_contracts := partition_columns(config):
        settings = {**settings, "partition columns": of_contracts}
    return settings_digest(settings)


def _events(
    entry: SqlServerEntry, config: Config
) -> LogPath | sqlserver.LiveSession | sqlserver.EventTable:
    if entry.path:
        return LogPath(config.path(entry.path), entry.path)
    assert entry.connection
    if entry.table and entry.key:
        return sqlserver.EventTable(entry.connection, entry.table, entry.key, entry.columns)
    return sqlserver.LiveSession(entry.connection, entry.session or "", entry.files or "")
