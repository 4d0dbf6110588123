"""The sources of `collect`: whether each can be reached, and its logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import ago, count
from dbt_graft.collectors.source import LogSource, is_below
from dbt_graft.collectors.store.door import open_sessions
from dbt_graft.graft.doctor.store_state import StoreState
from dbt_graft.graft.project.collect_section import CollectEntry, SqlServerEntry
from dbt_graft.graft.project.config import Config

_warning = partial(Finding, "LOGS", Severity.WARNING)
_note = partial(Finding, "LOGS", Severity.NOTE)
_OLD = timedelta(days=14)


def source(entry: CollectEntry, log_source: LogSource, state: StoreState) -> Iterator[Finding]:
    """An entry of `collect`.

    Raises:
        GraftError: It cannot be reached, or not be read.
    """
    label = log_source.label
    if entry.sqlserver and entry.sqlserver.connection:
        yield from _server(entry.sqlserver)
    else:
        yield from files(log_source, state, _word(entry))
    runs = [run.started_at for run in state.records.runs if is_below(run.origin, label)]
    newest = max((moment for moment in runs if moment), default=None)
    if newest and datetime.now(UTC) - newest > _OLD:
        yield _warning(
            label,
            f"the newest run started {ago(newest)}",
            "check that its logs are still written, and arrive here",
        )
    elif newest:
        yield _note(label, f"the newest run started {ago(newest)}")


def _word(entry: CollectEntry) -> str:
    return "file" if entry.declared or entry.dbt or entry.openlineage else "log"


def files(log_source: LogSource, state: StoreState, what: str) -> Iterator[Finding]:
    """The files of a source: how many there are, and how many are new.

    Args:
        what: A word for one of them.
    """
    label, left_out = log_source.label, list[Finding]()
    logs, new = (
        len(log_source.new_logs({}, left_out.append)),
        len(log_source.new_logs(state.positions)),
    )
    yield from left_out
    if not logs:
        yield _warning(
            label,
            "there are no logs of this kind here",
            "enable logging, or correct `path` in graft.yml: docs/logs.md",
        )
        return
    events = sum(n for origin, (_, n) in state.positions.items() if is_below(origin, label))
    yield _note(
        label,
        f"{count(logs, what)}, {new:,} of them new or changed"
        + (f"; {count(events, 'event')} collected" if events else ""),
        "run `graft collect`" if new else "",
    )


def _server(entry: SqlServerEntry) -> Iterator[Finding]:
    """The findings about an event session; a table of events only has to be reachable."""
    from dbt_graft.collectors.sqlserver.tools import check_server_session, try_connection

    assert entry.connection
    if not entry.session:
        try_connection(entry.connection)
        yield _note(entry.server, "can be reached")
        return
    findings = check_server_session(entry.connection, entry.session, patient=False)
    for finding in findings:
        yield replace(finding, subject=f"{entry.server}/{entry.session}: {finding.subject}")
    if not findings:
        subject = f"{entry.server}/{entry.session}"
        yield _note(subject, "runs and captures everything that lineage needs")


def sqlserver(entry: SqlServerEntry, config: Config, state: StoreState) -> Iterator[Finding]:
    """The snapshot of a SQL Server, and its open sessions.

    Raises:
        GraftError: Its snapshot cannot be read.
    """
    if entry.snapshot:
        from dbt_graft.collectors.sqlserver.tools import read_snapshot

        taken = read_snapshot(Path(config.path(entry.snapshot)))
        yield _note(
            entry.snapshot,
            f"{count(len(taken.databases), 'database')} of {taken.server}, "
            f"taken {ago(taken.taken_at)}",
        )
    if not state.fault:
        still_open = {row["session"] for row in open_sessions(state.place, entry.server)}
        if still_open:
            problem = f"{count(len(still_open), 'session')} open at the end of the last log"
            yield _note(entry.server, problem)
