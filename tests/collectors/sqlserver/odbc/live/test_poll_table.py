"""Polling a table of events over a real ODBC connection: no row lost, none twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter
from dbt_graft.collectors.sqlserver.odbc import table
from dbt_graft.collectors.sqlserver.odbc.table import EventTable, poll_table
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from tests.collectors.sqlserver.odbc.live.conftest import StandIn

pytestmark = pytest.mark.odbc
BY_COLUMN = (
    "id {type}, name text, timestamp timestamp, client_app_name text, database_name text, "
    "session_id int, event_sequence bigint, batch_text text, duration bigint, result text"
)


def source(key: str = "id", columns: Mapping[str, str] | None = None) -> EventTable:
    return EventTable("env:GRAFT_TEST", "public.loaded", key, columns or {})


def create(log: StandIn, columns: str) -> None:
    log.admin.execute(f"CREATE TABLE loaded ({columns})")
    log.admin.execute("GRANT SELECT ON loaded TO reader")


def load(log: StandIn, key: str, *sequences: int) -> None:
    """Events with the same key, which is SQL."""
    for n in sequences:
        log.admin.execute(f"INSERT INTO loaded VALUES ({key}, ?)", log.xml(n))


def sequences(*chunks: Chunk) -> list[int]:
    return [int(str(e.actions["event_sequence"])) for chunk in chunks for e in chunk.events]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk ends at the first place where it may."""
    monkeypatch.setattr(table, "_CHUNK_CHARACTERS", 1)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(
    ("type_", "keys"),
    [
        pytest.param("int", ["1", "2", "30"], id="integers"),
        pytest.param("bigint", ["-1", "0", "9000000000000000000"], id="large numbers"),
        pytest.param("numeric(20, 2)", ["0.99", "1", "10.5"], id="decimals"),
        pytest.param("text", ["'a'", "'b'", "'ż'"], id="text"),
        pytest.param("bytea", ["'\\x09'", "'\\x0a'", "'\\xff00'"], id="rowversions"),
        pytest.param("date", ["'2026-11-20'", "'2026-11-21'", "'2027-01-01'"], id="days"),
        pytest.param(
            "timestamp",
            ["'2026-11-21 10:00:00.123456'", "'2026-11-21 10:00:00.123457'", "'2026-11-22'"],
            id="times that are nearly the same",
        ),
    ],
)
def test_only_rows_behind_the_last_key_are_read_and_equal_keys_stay_together(
    log: StandIn, type_: str, keys: list[str]
) -> None:
    create(log, f"id {type_}, event_data text")
    load(log, keys[0], 1, 2, 3)
    load(log, keys[1], 4, 5)
    chunks = list(poll_table(source(), ""))
    assert [sequences(chunk) for chunk, _ in chunks] == [[1, 2, 3], [4, 5]]
    assert sequences(*(chunk for chunk, _ in poll_table(source(), chunks[0][1]))) == [4, 5]
    assert list(poll_table(source(), chunks[1][1])) == []
    load(log, keys[2], 6)
    load(log, "NULL", 7)
    assert sequences(*(chunk for chunk, _ in poll_table(source(), chunks[1][1]))) == [6]


def test_columns_of_their_own_make_the_same_events(log: StandIn) -> None:
    create(log, BY_COLUMN.format(type="int"))
    log.admin.execute(
        "INSERT INTO loaded VALUES (1, 'sql_batch_completed', '2026-11-21 10:00:00.123456', "
        "'python_task::load', 'Shop', 51, 7, 'SELECT ''żółw''', 1500, 'OK'), "
        "(2, 'lock_acquired', now(), '', '', 1, 8, '', 0, ''), "
        "(3, 'sql_batch_completed', NULL, 'python_task::load', '', 1, 9, 'x', 0, '')"
    )
    wanted = EventFilter(names=frozenset({"sql_batch_completed"}))
    ((chunk, _),) = poll_table(EventTable("env:GRAFT_TEST", "loaded", "id", {}, wanted), "")
    (event,) = chunk.events
    assert event.name == "sql_batch_completed"
    assert event.at == 17_952_552_001_234_560
    assert event.data["batch_text"] == "SELECT 'żółw'"
    assert (event.data["duration"], event.data["result"]) == (1500, "OK")
    assert (event.actions["session_id"], event.actions["database_name"]) == (51, "Shop")
    assert chunk.seen == 3
    assert [damage.position for damage in chunk.damages] == ["loaded, id number:3"]


def test_columns_may_have_any_names(log: StandIn) -> None:
    create(log, '"my ""key" int, app text, "when" timestamp, "the [sent] text" text')
    log.admin.execute("INSERT INTO loaded VALUES (1, 'python_task::load', now(), 'SELECT 1')")
    columns = {"application": "app", "timestamp": "when", "text": "the [sent] text"}
    ((chunk, _),) = poll_table(source('my "key', columns), "")
    (event,) = chunk.events
    assert (event.name, event.data["statement"]) == ("sql_statement_starting", "SELECT 1")
    assert event.actions["client_app_name"] == "python_task::load"


@pytest.mark.usefixtures("small_chunks")
def test_a_connection_lost_in_the_middle_costs_no_row(log: StandIn) -> None:
    create(log, "id int, event_data text")
    for n in range(150):
        load(log, str(n // 3), n)
    found = []
    for number, (chunk, _) in enumerate(poll_table(source(), "")):
        found += sequences(chunk)
        if number in (0, 30):
            log.disconnect_all()
    assert found == list(range(150))


def test_too_many_equal_keys_are_an_error_and_no_flood(
    log: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_MOST_EQUAL", 3)
    create(log, "id int, event_data text")
    load(log, "1", 1, 2, 3, 4)
    with pytest.raises(GraftError, match="more than 3 rows have the same id"):
        list(poll_table(source(), ""))


@pytest.mark.parametrize(
    ("columns", "key", "expected"),
    [
        ("", "id", "there is no such table"),
        ("id int, event_data text", "nr", "the table has no column nr\n  it has id, event_data"),
        ("id float, event_data text", "id", "id cannot be a key: it is of the type float"),
        ("id int, note text", "id", "the table's columns hold no events"),
    ],
)
def test_a_table_that_cannot_be_read_is_an_error(
    log: StandIn, columns: str, key: str, expected: str
) -> None:
    if columns:
        create(log, columns)
        log.admin.execute("INSERT INTO loaded VALUES (1, '')")
    with pytest.raises(GraftError) as error:
        list(poll_table(source(key), ""))
    assert expected in str(error.value)


def test_a_missing_permission_is_named(log: StandIn) -> None:
    log.admin.execute("CREATE TABLE loaded (id int, event_data text)")
    with pytest.raises(GraftError, match="GRANT SELECT"):
        list(poll_table(source(), ""))
