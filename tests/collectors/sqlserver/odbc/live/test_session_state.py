"""The state of a session, asked over a real connection."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.sqlserver.odbc.connection import connect
from dbt_graft.collectors.sqlserver.server.check import check_session
from dbt_graft.collectors.sqlserver.server.session_events import ACTIONS, EVENTS
from dbt_graft.collectors.sqlserver.server.session_state import (
    CapturedEvent,
    DroppedEvents,
    SessionState,
    session_state,
)
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LIKE = "[sqlserver].[like_i_sql_unicode_string]([sqlserver].[client_app_name],N'python_task::%')"
NUMBER, TARGET = 65536, 99
AZURE_SQL_DATABASE = 5


@pytest.fixture(params=["server", "database"])
def scope(request: pytest.FixtureRequest, log: Any) -> Iterator[str]:
    """The views of both kinds of sessions, with one session `lineage` in those of a kind."""
    scope: str = request.param
    views = f"sys.{scope}_event_session"
    run = log.admin.execute
    for column in ("event_retention_mode_desc text", "max_memory int"):
        run(f"ALTER TABLE {views}s ADD COLUMN IF NOT EXISTS {column}")
    for column in ("track_causality int", "startup_state int"):
        run(f"ALTER TABLE {views}s ADD COLUMN IF NOT EXISTS {column}")
    for name, columns in (
        ("events", "event_id int, name text, predicate text"),
        ("actions", "event_id int, name text"),
        ("targets", "target_id int, name text"),
    ):
        run(f"CREATE TABLE {views}_{name} (event_session_id int, {columns})")
        run(f"GRANT SELECT ON {views}_{name} TO reader")
    run(f"INSERT INTO {views}s VALUES (?, 'lineage', 'NO_EVENT_LOSS', 4096, 1, 0)", NUMBER)
    run(f"INSERT INTO {views}s VALUES (1, 'other', 'NO_EVENT_LOSS', 1, 0, 0)")
    run(f"INSERT INTO {views}_events VALUES (?, 1, 'rpc_completed', ?)", NUMBER, LIKE)
    run(f"INSERT INTO {views}_events VALUES (?, 2, 'logout', NULL)", NUMBER)
    run(f"INSERT INTO {views}_events VALUES (1, 3, 'login', NULL)")
    for action in ("session_id", "username"):
        run(f"INSERT INTO {views}_actions VALUES (?, 1, ?)", NUMBER, action)
    run(f"INSERT INTO {views}_targets VALUES (?, ?, 'event_file')", NUMBER, TARGET)
    for number, name, value in (
        (1, "collect_statement", "1"),
        (TARGET, "filename", "ü.xel"),
        (TARGET, "max_file_size", "5"),
    ):
        run(f"INSERT INTO {views}_fields VALUES (?, ?, ?, ?)", NUMBER, number, name, value)
    log.property("EngineEdition", AZURE_SQL_DATABASE if scope == "database" else 3)
    yield scope
    for name in ("events", "actions", "targets"):
        run(f"DROP TABLE {views}_{name}")


def asked(name: str) -> SessionState | None:
    with closing(connect("env:GRAFT_TEST")) as connection:
        return session_state(connection, name)


EXPECTED = SessionState(
    retention="NO_EVENT_LOSS",
    kilobytes=4096,
    tracks_causality=True,
    starts_itself=False,
    events={
        "rpc_completed": CapturedEvent(
            frozenset({"session_id", "username"}), {"collect_statement": "1"}, LIKE
        ),
        "logout": CapturedEvent(),
    },
    targets={"event_file": {"filename": "ü.xel", "max_file_size": "5"}},
    dropped=None,
)


@pytest.mark.usefixtures("scope")
def test_a_stopped_session_is_read_by_its_definition() -> None:
    assert asked("lineage") == EXPECTED


def test_a_running_session_reports_its_losses(log: Any, scope: str) -> None:
    log.admin.execute(
        f"INSERT INTO sys.dm_xe_{'database_' if scope == 'database' else ''}sessions (name, "
        "dropped_event_count, dropped_buffer_count, largest_event_dropped_size) "
        "VALUES ('lineage', 3, 2, 1000)"
    )
    state = asked("lineage")
    assert state
    assert state.dropped == DroppedEvents(events=3, buffers=2, largest=1000)


@pytest.mark.usefixtures("scope")
def test_a_session_that_is_not_there_is_none() -> None:
    assert asked("lineages") is None


@pytest.mark.usefixtures("scope")
def test_all_that_is_missing_is_found() -> None:
    subjects = {finding.subject for finding in check_session(asked("lineage"), "lineage")}
    missing = {event.name for event in EVENTS} - {"rpc_completed", "logout"}
    actions = {action.name.partition(".")[2] for action in ACTIONS}
    options = {"state", "STARTUP_STATE", "MAX_MEMORY", "EVENT_RETENTION_MODE"}
    assert subjects == missing | actions | options | {"max_rollover_files", "username"}


def test_a_missing_permission_is_named(
    log: Any, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAFT_TEST", log.setting("stranger"))
    with pytest.raises(GraftError) as error:
        asked("lineage")
    assert f"GRANT VIEW {scope.upper()} STATE" in error.value.remedy
