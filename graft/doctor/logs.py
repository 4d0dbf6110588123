"""The sources of `collect`: whether each can be reached, and what there is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dbt_graft.collectors.sqlserver.server import snapshot
from dbt_graft.collectors.store import open_sessions
from dbt_graft.graft.config import Config, SqlServer
from dbt_graft.graft.config import Source as Entry
from dbt_graft.graft.doctor.kept import Kept
from dbt_graft.graft.doctor.words import ago, count
from dbt_graft.graft.sources import Source
from dbt_graft.lineage.findings import Finding, Severity

_OLD = timedelta(days=14)


def source(entry: Entry, found: Source, held: Kept) -> Iterator[Finding]:
    """An entry of `collect`.

    Raises:
        GraftError: It cannot be reached, or not be read.
    """
    label = name(entry)
    if entry.sqlserver and entry.sqlserver.connection:
        yield from _server(entry.sqlserver)
    else:
        yield from _files(entry, found, held)
    runs = [run.started_at for run in held.records.runs if _is_below(run.origin, label)]
    newest = max((moment for moment in runs if moment), default=None)
    if newest and datetime.now(UTC) - newest > _OLD:
        yield Finding(
            Severity.WARNING,
            label,
            f"its newest run began {ago(newest)}",
            "check that its logs are still written, and that they come to this place",
        )
    elif newest:
        yield Finding(Severity.NOTE, label, f"its newest run began {ago(newest)}")


def name(entry: Entry) -> str:
    """How the store's origins name what comes from an entry."""
    if entry.spark:
        return entry.spark.place
    if entry.declared:
        return f"declared:{entry.declared.path}"
    assert entry.sqlserver
    given = entry.sqlserver
    return given.path or f"{given.server}/{given.table or given.session or given.files}"


def _is_below(origin: str, label: str) -> bool:
    top = label.rstrip("/")
    return origin == top or origin.startswith((f"{top}/", f"{top}#", f"{top}@"))


def _files(entry: Entry, found: Source, held: Kept) -> Iterator[Finding]:
    label = name(entry)
    logs, new = len(found.new_logs({})), len(found.new_logs(held.positions))
    what = "file" if entry.declared else "log"
    if not logs:
        yield Finding(
            Severity.WARNING,
            label,
            "there is no log here",
            "turn logs on, or correct `path` in graft.yml: docs/logs.md",
        )
        return
    events = sum(told[1] for origin, told in held.positions.items() if _is_below(origin, label))
    yield Finding(
        Severity.NOTE,
        label,
        f"{count(logs, what)}, {new:,} of them new or changed"
        + (f"; {count(events, 'event')} collected" if events else ""),
        "run `graft collect`" if new else "",
    )


def _server(given: SqlServer) -> Iterator[Finding]:
    """What `graft sqlserver check` says; a table of events is only reached."""
    from dbt_graft.collectors.sqlserver.odbc.connection import connect
    from dbt_graft.collectors.sqlserver.server.check import check
    from dbt_graft.collectors.sqlserver.server.session_state import session_state

    assert given.connection
    with closing(connect(given.connection, patient=False)) as connection:
        if not given.session:
            yield Finding(Severity.NOTE, given.server, "answers")
            return
        findings = check(session_state(connection, given.session), given.session)
    for finding in findings:
        yield replace(finding, subject=f"{given.server}/{given.session}: {finding.subject}")
    if not findings:
        place = f"{given.server}/{given.session}"
        yield Finding(Severity.NOTE, place, "runs and captures everything that lineage needs")


def sqlserver(given: SqlServer, config: Config, held: Kept) -> Iterator[Finding]:
    """What is known of a SQL Server beside its events.

    Raises:
        GraftError: Its snapshot cannot be read.
    """
    if given.snapshot:
        taken = snapshot.read(Path(config.path(given.snapshot)))
        yield Finding(
            Severity.NOTE,
            given.snapshot,
            f"{count(len(taken.databases), 'database')} of {taken.server}, "
            f"taken {ago(taken.taken_at)}",
        )
    if not held.fault:
        going = {row["session"] for row in open_sessions(held.place, given.server)}
        if going:
            problem = f"{count(len(going), 'session')} still open at the end of its last log"
            yield Finding(Severity.NOTE, given.server, problem)
