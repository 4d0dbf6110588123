"""Polls: each goes on where the one before ended, and nothing counts twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.source import to_read_again
from dbt_graft.collectors.sqlserver.collect import collect_polled, covered_polls
from dbt_graft.collectors.sqlserver.event import Chunk, ExtendedEvent
from dbt_graft.collectors.sqlserver.listing import Polling, Server, poll_new
from dbt_graft.collectors.sqlserver.odbc.polling import Polled
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.runs.rules import RunRules
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.errors import GraftError

NAMESPACE = "mssql://sql01:1433"
EVENTS = 6
CLIENTS = TaskClients(RunRules().task)


def chunk(number: int) -> Chunk:
    actions = {
        "client_app_name": "python_task::load",
        "session_id": 51,
        "event_sequence": number,
        "database_name": "Shop",
    }
    data = {"batch_text": f"INSERT INTO t SELECT * FROM s{number}", "row_count": 1, "duration": 0}
    at = 17_900_000_000_000_000 + number * 10_000_000
    return Chunk([ExtendedEvent("sql_batch_completed", at, data, actions)], 1)


def polling(until: int) -> Polling:
    """A source that has so many events by now."""

    def poll(position: str) -> Polled:
        for number in range(int(position or 0), until):
            yield chunk(number), str(number + 1)

    return Polling("sql01/lineage", poll, CLIENTS)


def collected(engine: Engine, folder: Path, until: int) -> Callable[[], None]:
    """Polls, and gives what commits it."""
    positions = store.positions(str(folder))
    server = Server(NAMESPACE, open_sessions=store.open_sessions(str(folder), NAMESPACE))
    found = collect_polled(engine, poll_new(polling(until), server.rules, positions), server)
    return lambda: store.commit(str(folder), [found] if found else [], positions) and None


def reads(folder: Path) -> list[tuple[str, int]]:
    return sorted(
        (access.dataset.short, access.statements)
        for access in store.read(str(folder)).accesses
        if access.direction == "read"
    )


def test_a_poll_goes_on_where_the_one_before_ended() -> None:
    first = {"sql01/lineage@": ("2", 2)}
    assert [segment.origin for segment in poll_new(polling(4), RunRules(), {})] == [
        "sql01/lineage@"
    ]
    assert [segment.origin for segment in poll_new(polling(4), RunRules(), first)] == [
        "sql01/lineage@2"
    ]
    both = {**first, "sql01/lineage@2": ("4", 2)}
    assert poll_new(polling(4), RunRules(), both) == []


def test_a_source_is_polled_again_from_its_start_and_replaces_what_it_still_shows() -> None:
    known = {"sql01/lineage@": ("2", 2), "sql01/lineage@2": ("4", 2), "other@": ("1", 1)}
    again = to_read_again(known, {"sql01/lineage@", "sql01/lineage@2"}.__contains__)

    def shown(position: str) -> Polled:
        """A ring buffer that holds the events from the third one on."""
        return ((chunk(number), str(number + 1)) for number in range(int(position or 2), 5))

    [polled] = poll_new(Polling("sql01/lineage", shown, CLIENTS), RunRules(), again)
    assert (polled.origin, polled.position) == ("sql01/lineage@4", "5")
    at = [datetime.fromtimestamp(1_790_000_000 + number, UTC) for number in range(5)]
    times = {"sql01/lineage@": at[1], "sql01/lineage@2": at[3], "other@": at[4]}
    covered = covered_polls("sql01/lineage", [polled], again, times)
    assert covered == {"sql01/lineage@2": "4"}
    now = known | {polled.origin: (polled.position, 3)}
    assert poll_new(Polling("sql01/lineage", shown, CLIENTS), RunRules(), now) == []


def test_polls_in_a_row_give_each_event_once(engine: Engine, tmp_path: Path) -> None:
    for until in (2, 2, 5, EVENTS):
        collected(engine, tmp_path, until)()
    assert reads(tmp_path) == [(f"dbo.s{number}", 1) for number in range(EVENTS)]
    assert len({run.run_id for run in store.read(str(tmp_path)).runs}) == 1


def test_of_two_collects_at_once_the_second_one_gives_up(engine: Engine, tmp_path: Path) -> None:
    first, second = collected(engine, tmp_path, 2), collected(engine, tmp_path, 3)
    first()
    with pytest.raises(GraftError, match="was read by another collect meanwhile"):
        second()
    assert reads(tmp_path) == [("dbo.s0", 1), ("dbo.s1", 1)]
    collected(engine, tmp_path, EVENTS)()
    assert reads(tmp_path) == [(f"dbo.s{number}", 1) for number in range(EVENTS)]
