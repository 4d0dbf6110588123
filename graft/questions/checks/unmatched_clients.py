"""The client names in logs of SQL Server that are of no task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.collectors.source import is_below
from dbt_graft.graft.project.collect_section import SqlServerEntry
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records


def find_unmatched_clients(
    config: Config, records: Records, positions: Callable[[], Mapping[str, tuple[str, int]]]
) -> Iterator[Finding]:
    """Entries of `collect` with events but without a run.

    Args:
        positions: Returns what `collectors.store.positions` gives; there may be millions.
    """
    if not any(entry.sqlserver for entry in config.collect):
        return
    from dbt_graft.graft.project.sources import sources  # of all engines, which takes long

    ran = {run.origin for run in records.runs} | {access.origin for access in records.accesses}
    for entry, source in zip(config.collect, sources(config), strict=False):
        if entry.sqlserver:
            label = source.label
            if any(is_below(origin, label) for origin in ran):
                continue
            events = sum(n for origin, (_, n) in positions().items() if is_below(origin, label))
            if events:
                yield _finding(label, entry.sqlserver, config, events)


def find_other_clients(config: Config, records: Records) -> Iterator[Finding]:
    """The clients of no task in logs of SQL Server that have tasks, too: other programs, or tasks
    whose connection has no name.
    """
    ran = {run.origin for run in records.runs}
    for entry in filter(None, (entry.sqlserver for entry in config.collect)):
        label = entry.path or ""
        if not label or not any(is_below(origin, label) for origin in ran):
            continue
        if names := _client_names(entry, config):
            yield Finding(
                "UNMATCHED_CLIENT",
                Severity.NOTE,
                label,
                f"the newest logs have statements of clients that are not tasks: "
                f"{join_names(names, 5)}",
                "if one of them is a task, set its client name in the connection string, APP=…, or "
                "correct `task` in graft.yml",
            )


def _client_names(entry: SqlServerEntry, config: Config) -> list[str]:
    # Importing the readers takes long; mostly each source has tasks, and no log is read.
    from dbt_graft.collectors.sqlserver.tools import client_names

    try:
        return client_names(config.path(entry.path or ""), entry.path or "", entry.task)
    except (GraftError, OSError):
        return []  # They are gone since they were collected.


def _finding(label: str, entry: SqlServerEntry, config: Config, events: int) -> Finding:
    names = _client_names(entry, config) if entry.path else []
    seen = f"; seen: {join_names(names, 5)}" if names else ""
    return Finding(
        "UNMATCHED_CLIENT",
        Severity.WARNING,
        label,
        f"{count(events, 'event')}, noise and rejects with them, and no task: no client name "
        f"matches `task`{seen}",
        f"`task` is {entry.task}: correct it in graft.yml and run `graft collect "
        "--again`, or set the client name in the connection string of the tasks: APP=…",
    )
