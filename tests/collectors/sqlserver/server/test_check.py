from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.collectors.sqlserver.server.check import check_session
from dbt_graft.collectors.sqlserver.server.session_events import ACTIONS, EVENTS
from dbt_graft.collectors.sqlserver.server.session_state import (
    CapturedEvent,
    DroppedEvents,
    SessionState,
)
from tests.cases import for_each

PREDICATE = (
    "[sqlserver].[like_i_sql_unicode_string]([sqlserver].[client_app_name],N'python_task::%')"
)
CAPTURED = {
    event.name: CapturedEvent(
        frozenset(action.name.partition(".")[2] for action in ACTIONS),
        dict.fromkeys(event.collects, "1"),
        PREDICATE,
    )
    for event in EVENTS
}
# What the recommended script makes.
GOOD = SessionState(
    retention="ALLOW_SINGLE_EVENT_LOSS",
    kilobytes=16384,
    tracks_causality=True,
    starts_itself=True,
    events=CAPTURED,
    targets={
        "event_file": {
            "filename": "py_lineage.xel",
            "max_file_size": "256",
            "max_rollover_files": "20",
        }
    },
    dropped=DroppedEvents(),
)


def event(name: str, **changes: object) -> Mapping[str, CapturedEvent]:
    return {**CAPTURED, name: replace(CAPTURED[name], **changes)}


def file(**settings: str) -> Mapping[str, Mapping[str, str]]:
    return {"event_file": settings}


def found(session: SessionState | None) -> list[tuple[str, str]]:
    return [
        (finding.severity.value, finding.subject)
        for finding in check_session(session, "py_lineage")
    ]


def test_the_recommended_session_has_no_finding() -> None:
    assert check_session(GOOD, "py_lineage") == []


def test_a_session_that_is_not_there_is_the_only_finding() -> None:
    (finding,) = check_session(None, "py_lineage")
    assert (finding.severity, finding.subject) == (Severity.ERROR, "py_lineage")
    assert "VIEW SERVER STATE" in finding.remedy


@for_each(
    "session, expected",
    [
        (replace(GOOD, dropped=None), [("error", "state")]),
        (replace(GOOD, dropped=DroppedEvents(events=3)), [("warning", "dropped")]),
        (replace(GOOD, dropped=DroppedEvents(buffers=1)), [("warning", "dropped")]),
        (replace(GOOD, starts_itself=False), [("warning", "STARTUP_STATE")]),
        (replace(GOOD, tracks_causality=False), [("warning", "TRACK_CAUSALITY")]),
        (replace(GOOD, kilobytes=4096), [("warning", "MAX_MEMORY")]),
        (
            replace(GOOD, retention="ALLOW_MULTIPLE_EVENT_LOSS"),
            [("warning", "EVENT_RETENTION_MODE")],
        ),
        (replace(GOOD, retention="NO_EVENT_LOSS"), [("warning", "EVENT_RETENTION_MODE")]),
        (replace(GOOD, targets={}), [("error", "event_file")]),
        (replace(GOOD, targets={"ring_buffer": {}}), [("error", "event_file")]),
    ],
)
def test_an_option_that_costs_lineage_is_found(
    session: SessionState, expected: list[tuple[str, str]]
) -> None:
    assert found(session) == expected


@for_each(
    "targets, small",
    [
        (file(max_file_size="5", max_rollover_files="4"), True),
        (file(max_file_size="100"), True),
        (file(max_rollover_files="1"), False),
        (file(), False),
        (file(max_file_size="100", max_rollover_files="0"), False),
        (file(max_file_size="1", max_rollover_files="UNLIMITED"), False),
        (file(filename="https://shop/xe/s.xel", max_file_size="1"), False),
        (file(filename="https://shop/xe/s.xel", max_file_size="1", max_rollover_files="2"), True),
    ],
)
def test_files_that_are_soon_deleted_are_found(
    targets: Mapping[str, Mapping[str, str]], small: bool
) -> None:
    assert found(replace(GOOD, targets=targets)) == [("warning", "max_rollover_files")] * small


@for_each(
    "missing, severity",
    [
        ("sql_batch_completed", "error"),
        ("rpc_completed", "error"),
        ("sp_statement_completed", "warning"),
        ("sql_statement_completed", "note"),
        ("error_reported", "warning"),
        ("begin_tran_completed", "warning"),
        ("commit_tran_completed", "warning"),
        ("rollback_tran_completed", "warning"),
        ("login", "note"),
        ("logout", "note"),
    ],
)
def test_an_event_that_is_missing_is_found(missing: str, severity: str) -> None:
    events = {name: captured for name, captured in CAPTURED.items() if name != missing}
    assert found(replace(GOOD, events=events)) == [(severity, missing)]


@pytest.mark.parametrize(
    ("missing", "severity"),
    [
        ("client_app_name", "error"),
        ("database_name", "error"),
        ("session_id", "error"),
        ("event_sequence", "warning"),
    ],
)
def test_an_action_that_is_missing_is_found_once_for_all_events(
    missing: str, severity: str
) -> None:
    events = {
        name: replace(captured, actions=captured.actions - {missing})
        for name, captured in CAPTURED.items()
    }
    assert found(replace(GOOD, events=events)) == [(severity, missing)]


def test_a_missing_action_is_reported() -> None:
    events = event("rpc_completed", actions=CAPTURED["logout"].actions - {"session_id"})
    (finding,) = check_session(replace(GOOD, events=events), "py_lineage")
    assert "no action of rpc_completed:" in finding.problem


def test_other_events_need_no_actions() -> None:
    events = {**CAPTURED, "attention": CapturedEvent(predicate=PREDICATE)}
    assert check_session(replace(GOOD, events=events), "py_lineage") == []


@for_each(
    "name, settings, expected",
    [
        ("rpc_completed", {}, []),
        ("rpc_completed", {"collect_statement": "true"}, []),
        ("rpc_completed", {"collect_statement": "0"}, [("error", "collect_statement")]),
        ("sql_batch_completed", {"collect_batch_text": "0"}, [("error", "collect_batch_text")]),
        ("sp_statement_completed", {}, [("note", "collect_object_name")]),
        ("login", {}, [("note", "collect_options_text")]),
        (
            "sp_statement_completed",
            {"collect_object_name": "1", "collect_statement": "false"},
            [("warning", "collect_statement")],
        ),
    ],
)
def test_a_field_that_is_off_is_found(
    name: str, settings: Mapping[str, str], expected: list[tuple[str, str]]
) -> None:
    assert found(replace(GOOD, events=event(name, settings=settings))) == [
        (severity, f"{name}.{field}") for severity, field in expected
    ]


@pytest.mark.parametrize("predicate", ["", "[severity]>(10)"])
def test_an_event_of_every_application_is_found(predicate: str) -> None:
    (finding,) = check_session(
        replace(GOOD, events=event("error_reported", predicate=predicate)), "py_lineage"
    )
    assert (finding.severity, finding.subject) == (Severity.WARNING, "client_app_name")
    assert finding.problem.startswith("error_reported captured of every application")


@pytest.mark.parametrize(
    ("action", "severity"),
    [
        ("username", "warning"),
        ("client_hostname", "warning"),
        ("server_principal_name", "warning"),
        ("sql_text", "note"),
    ],
)
def test_what_is_captured_in_vain_is_found(action: str, severity: str) -> None:
    events = event("logout", actions=CAPTURED["logout"].actions | {action})
    assert found(replace(GOOD, events=events)) == [(severity, action)]


def test_the_worst_comes_first() -> None:
    worst = replace(GOOD, events={}, targets={}, dropped=None, kilobytes=0)
    severities = [finding.severity for finding in check_session(worst, "py_lineage")]
    assert severities == sorted(severities, key=list(Severity).index)
    assert set(severities) == set(Severity)


def test_every_finding_has_a_remedy() -> None:
    events = {name: CapturedEvent(frozenset({"username", "sql_text"})) for name in CAPTURED}
    findings: list[Finding] = check_session(
        replace(GOOD, events=events, targets={}, dropped=None), "py_lineage"
    )
    assert len(findings) > len(ACTIONS)
    assert all(finding.problem and finding.remedy for finding in findings)
