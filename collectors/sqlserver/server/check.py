"""The check of an event session: what lineage needs of it, and what it captures in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbt_graft.analysis.finding import Finding, Severity, worst_first
from dbt_graft.collectors.sqlserver.server.session_events import (
    ACTIONS,
    EVENTS,
    NEEDLESS,
    PERSONAL,
    SessionEvent,
)
from dbt_graft.collectors.sqlserver.server.session_state import CapturedEvent, SessionState

_FILE = "event_file"
_APPLICATION = "client_app_name"
_LEAST_KILOBYTES = 16 * 1024
_LEAST_MEGABYTES = 1024
# The defaults: a file is filled up to 1 GB, and five remain beside the current one.
_DEFAULT_MEGABYTES = 1024
_DEFAULT_FILES = 5
# Asked for by no version's default, and the loss without; the others are texts of statements.
_OFF_BY_DEFAULT = {
    "collect_object_name": "which object is unknown",
    "collect_options_text": "whether double quotes hold names or values is unknown",
}
_ANEW = "drop it and create it anew: graft logs sqlserver-session"


def check_session(session: SessionState | None, name: str) -> list[Finding]:
    """The findings on a session, the worst first; empty where it serves lineage.

    Args:
        session: None where the server has none of that name.
    """
    if session is None:
        return [
            Finding(
                "EVENT_SESSION",
                Severity.ERROR,
                name,
                "there is no such session, or the login may not see it",
                "create it: graft logs sqlserver-session; or grant the login VIEW SERVER STATE",
            )
        ]
    findings = [
        *_running_state(session),
        *_targets(session),
        *_events(session),
        *_actions(session),
        *_options(session),
        *_needless_actions(session),
    ]
    return worst_first(findings)


def _running_state(session: SessionState) -> Iterator[Finding]:
    dropped = session.dropped
    if dropped is None:
        yield Finding(
            "EVENT_SESSION",
            Severity.ERROR,
            "state",
            "the session does not run, so nothing is captured",
            "start it: ALTER EVENT SESSION … STATE = START",
        )
    elif dropped.events or dropped.buffers:
        largest = f", the largest of {dropped.largest} bytes" if dropped.largest else ""
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            "dropped",
            f"{dropped.events} events and {dropped.buffers} buffers were lost since the session "
            f"was started{largest}",
            "raise MAX_MEMORY, so that a third of it holds the largest event",
        )
    if not session.starts_itself:
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            "STARTUP_STATE",
            "after the server is restarted nothing is captured",
            "set STARTUP_STATE = ON",
        )


def _targets(session: SessionState) -> Iterator[Finding]:
    if _FILE not in session.targets:
        yield Finding(
            "EVENT_SESSION",
            Severity.ERROR,
            _FILE,
            "the session writes no file: a ring buffer loses events and cuts long ones",
            "add the target package0.event_file",
        )
        return
    settings = session.targets[_FILE]
    if "://" in settings.get("filename", "") and "max_rollover_files" not in settings:
        return  # blobs are never deleted
    size = _number(settings.get("max_file_size", ""), _DEFAULT_MEGABYTES)
    files = _number(settings.get("max_rollover_files", ""), _DEFAULT_FILES)
    if size and files and size * files < _LEAST_MEGABYTES:
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            "max_rollover_files",
            f"{files} files of {size} MB are soon full: what is deleted before it was read is lost",
            "keep more: max_file_size = 256, max_rollover_files = 20",
        )


def _number(text: str, default: int) -> int:
    """A setting as a number; 0, no limit, where it is none."""
    return int(text or default) if (text or "0").isdecimal() else 0


def _events(session: SessionState) -> Iterator[Finding]:
    for event in EVENTS:
        captured = session.events.get(event.name)
        if captured is None:
            yield Finding(
                "EVENT_SESSION",
                event.severity,
                event.name,
                f"not captured: {event.without}",
                f"add it, or {_ANEW}",
            )
        else:
            yield from _settings(event, captured)
    open_to_all = [
        name for name, captured in session.events.items() if _APPLICATION not in captured.predicate
    ]
    if open_to_all:
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            _APPLICATION,
            f"{_list(open_to_all)} captured of every application: it costs the server, and fills "
            "the files with events that no lineage needs",
            "compare client_app_name in the event's WHERE: graft logs sqlserver-session shows how",
        )


def _settings(event: SessionEvent, captured: CapturedEvent) -> Iterator[Finding]:
    for setting in event.collects:
        loss = _OFF_BY_DEFAULT.get(setting)
        value = captured.settings.get(setting, "0" if loss else "1")
        if value.strip().casefold() in ("1", "true"):
            continue
        yield Finding(
            "EVENT_SESSION",
            Severity.NOTE if loss else event.severity,
            f"{event.name}.{setting}",
            f"is off: {loss}" if loss else "is off, so the event has no text",
            f"set it: ADD EVENT sqlserver.{event.name} (SET {setting} = (1) …)",
        )


def _actions(session: SessionState) -> Iterator[Finding]:
    needed = {event.name for event in EVENTS}
    for action in ACTIONS:
        short = action.name.partition(".")[2]
        without = [
            name
            for name, captured in session.events.items()
            if name in needed and short not in captured.actions
        ]
        if without:
            yield Finding(
                "EVENT_SESSION",
                action.severity,
                short,
                f"no action of {_list(without)}: {action.without}",
                f"add ACTION ({action.name}), or {_ANEW}",
            )


def _options(session: SessionState) -> Iterator[Finding]:
    if not session.tracks_causality:
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            "TRACK_CAUSALITY",
            "is off: one statement that several events show may count more than once",
            "set TRACK_CAUSALITY = ON",
        )
    if session.kilobytes < _LEAST_KILOBYTES:
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            "MAX_MEMORY",
            f"is {session.kilobytes} KB: events larger than a third of it are lost, as long "
            "statements are",
            "set MAX_MEMORY = 16 MB",
        )
    if session.retention == "ALLOW_MULTIPLE_EVENT_LOSS":
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            "EVENT_RETENTION_MODE",
            "buffers full of events are thrown away under pressure",
            "set EVENT_RETENTION_MODE = ALLOW_SINGLE_EVENT_LOSS",
        )
    if session.retention == "NO_EVENT_LOSS":
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            "EVENT_RETENTION_MODE",
            "under pressure every client waits for the session",
            "set EVENT_RETENTION_MODE = ALLOW_SINGLE_EVENT_LOSS",
        )


def _needless_actions(session: SessionState) -> Iterator[Finding]:
    captured = {action for event in session.events.values() for action in event.actions}
    if personal := captured & PERSONAL:
        yield Finding(
            "EVENT_SESSION",
            Severity.WARNING,
            ", ".join(sorted(personal)),
            "personal data that no lineage needs is in the files; dbt-graft never stores it",
            "leave the action out",
        )
    if needless := captured & NEEDLESS:
        yield Finding(
            "EVENT_SESSION",
            Severity.NOTE,
            ", ".join(sorted(needless)),
            "repeats the batch with each event, which makes events large, so that they get lost",
            "leave the action out: the events have their own text",
        )


def _list(names: Iterable[str]) -> str:
    *most, last = sorted(names)
    return f"{', '.join(most)} and {last}" if most else last
