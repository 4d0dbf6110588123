"""A store in a bucket under adversity: errors, lost answers, kills, and two machines at once.

Processes stand for machines: in a bucket they share no lock. The long form, with processes that are
killed, is `python -m tests.fuzz.fuzz_s3`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from datetime import timedelta
from functools import partial
from importlib import import_module
from itertools import count
from multiprocessing import get_context

import pytest

from dbt_graft.collectors.store import arrow_tables, compaction, lock
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.daily import daily_history
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.collectors.store.forget import forget
from dbt_graft.collectors.store.purge import Purge, purge
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.names import NameRules
from dbt_graft.lineage.records import Records
from tests.collectors.store.fold.test_write import hourly
from tests.collectors.store.s3_server import FaultyServer, faulty_server
from tests.lineage.histories import START, joined_records
from tests.notation import access

pytestmark = pytest.mark.slow
# The last step of a commit: the record of a batch is moved into its place.
RECORD = r"PUT .*/batches/batch_id=\w+/batch\.parquet$"
# The longest time in seconds that a machine has to end before the other one goes on.
WAITING = 2
_numbers = count()


@pytest.fixture(scope="module")
def running() -> Iterator[FaultyServer]:
    with faulty_server() as server:
        server.create_bucket("faults")
        yield server


@pytest.fixture
def server(running: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    """A server without faults, which the environment names."""
    for name, value in running.environment().items():
        monkeypatch.setenv(name, value)
    yield running
    running.recover()


@pytest.fixture
def place() -> str:
    """A store that is empty."""
    return f"s3a://faults/store-{next(_numbers)}"


def add(
    place: str, origin: str, *written: str, at: str = "", known: store.Positions | None = None
) -> None:
    """Commit a log in which a task writes tables."""
    accesses = tuple(
        access("INSERT", DatasetId("db", table), run_id=f"{origin}-run", origin=origin)
        for table in written
    )
    store.commit(place, [arrow_tables.tables(Records(accesses), {origin: at or "end"})], known)


def written(place: str) -> list[str]:
    return sorted(access.dataset.name for access in store.read(place).accesses)


@pytest.mark.parametrize(
    ("slow_down", "resets", "delay"),
    [
        (0.05, 0.02, 0.02),
        pytest.param(0.2, 0, 0, marks=pytest.mark.exhaustive),
        pytest.param(0, 0.05, 0, marks=pytest.mark.exhaustive),
    ],
)
def test_a_server_with_faults_loses_and_doubles_nothing(
    server: FaultyServer, place: str, slow_down: float, resets: float, delay: float
) -> None:
    server.slow_down, server.resets, server.delay = slow_down, resets, delay
    for name in "ab":
        add(place, name, f"{name}1", f"{name}2", known=store.positions(place))
    assert written(place) == ["a1", "a2", "b1", "b2"]
    server.recover()
    assert store.damages(place) == {}


@pytest.mark.parametrize(
    ("first", "has_effect"),
    [
        (2, False),
        pytest.param(12, True, marks=pytest.mark.exhaustive),
        pytest.param(9, False, marks=pytest.mark.exhaustive),
        pytest.param(5, True, marks=pytest.mark.exhaustive),
    ],
)
def test_a_commit_that_is_killed_anywhere_is_whole_or_absent(
    server: FaultyServer,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    first: int,
    has_effect: bool,
) -> None:
    monkeypatch.setattr(lock, "LEASE", 2)
    server.last_has_effect = has_effect
    ended = 0
    for changes in range(first, 200, 14):
        here = f"{place}-{changes}"
        add(here, "a", "a1", known=store.positions(here))
        server.changes_left = changes
        try:
            add(here, "b", "b1", "b2", known={"a": ("end", 0)})
        except (GraftError, OSError):
            ended += 1
        else:
            break
        finally:
            server.recover()
        assert written(here) in (["a1"], ["a1", "b1", "b2"])
        if "b" not in store.positions(here):
            add(here, "b", "b1", "b2", known=store.positions(here))
        assert written(here) == ["a1", "b1", "b2"]
        assert store.damages(here) == {}
    assert ended > 1


def use_server(environment: dict[str, str]) -> None:
    os.environ.update(environment)


@pytest.fixture(scope="module")
def machine(running: FaultyServer) -> Iterator[ProcessPoolExecutor]:
    """Another machine that uses the bucket."""
    with ProcessPoolExecutor(1, get_context("spawn"), use_server, (running.environment(),)) as pool:
        yield pool


@frozen
class TwoMachines:
    """This machine and another one, of which each commits without seeing the other."""

    server: FaultyServer
    other: ProcessPoolExecutor

    def run(self, other: Callable[[], object], own: Callable[[], object]) -> list[object]:
        """The errors of the other machine and of this one.

        The other one stands before the last step of a commit until this one has ended, or waits.
        """
        with ThreadPoolExecutor(1) as pool, self.server.hold(RECORD) as held:
            first = self.other.submit(other)
            assert held.reached.wait(30)
            second = pool.submit(own)
            wait([second], WAITING)
            held.released.set()
            return [first.exception(), second.exception()]


@pytest.fixture
def machines(server: FaultyServer, machine: ProcessPoolExecutor) -> TwoMachines:
    return TwoMachines(server, machine)


def compact_early(place: str) -> None:
    """Compact a store in blocks of four."""
    compaction.FAN_OUT = 4
    compaction.compact(place)


def test_a_fold_has_what_another_machine_commits_meanwhile(
    machines: TwoMachines, place: str
) -> None:
    add(place, "a", "a1")

    def commit_and_fold() -> None:
        add(place, "c", "c1")
        fold_store(place, few=1)

    assert machines.run(partial(add, place, "b", "b1"), commit_and_fold) == [None, None]
    assert written(place) == ["a1", "b1", "c1"]


def test_a_growing_log_that_two_machines_read_on_counts_once(
    machines: TwoMachines, place: str
) -> None:
    add(place, "log", "t1", at="1")

    def read_on() -> None:
        add(place, "log@1", "t2", at="2", known={"log": ("1", 0)})
        add(place, "log@2", "t3", at="3", known=store.positions(place))

    known = {"log": ("1", 0)}
    other, own = machines.run(
        partial(add, place, "log@1", "t2", "t3", at="3", known=known), read_on
    )
    assert other is None
    assert "was read by another collect meanwhile" in str(own)
    assert written(place) == ["t1", "t2", "t3"]


def test_a_purge_beside_a_compaction_counts_each_run_once(
    machines: TwoMachines, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module(store.commit.__module__), "is_due", lambda found: False)
    for number in range(4):
        [batch] = hourly(number, 1).batches
        rows = joined_records([*batch.values()])
        store.commit(place, [tables(rows, dict.fromkeys(batch, "end"))])
    before = daily_history(place, NameRules())
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    before_time = START + timedelta(hours=2)
    errors = machines.run(partial(purge, place, before_time), partial(compaction.compact, place))
    assert errors == [None, None]
    assert daily_history(place, NameRules()) == before
    assert purge(place, before_time) == Purge(), "all that is old was purged"


def test_a_log_is_forgotten_beside_a_compaction(
    machines: TwoMachines, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module(store.commit.__module__), "is_due", lambda found: False)
    for name in "abcd":
        add(place, name, name)
    errors = machines.run(partial(compact_early, place), partial(forget, place, ["b", "d"]))
    assert errors == [None, None]
    assert written(place) == ["a", "c"]
    found = store.open_store(place)
    assert {row["origin"] for _, row in found.rows("accesses")} == {"a", "c"}
