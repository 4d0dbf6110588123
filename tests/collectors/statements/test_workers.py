"""A text that kills or hangs the parser costs itself: all others are parsed, no process stays."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dbt_graft.collectors.statements.workers import Worker, WorkerPool

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no alarms"
)


def _segfault() -> str:
    faulthandler.disable()  # pytest's would fill the screen
    ctypes.string_at(0)
    return "unreachable"


def _kill() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return "unreachable"


def _exit() -> str:
    os._exit(3)


def _sleep() -> str:
    time.sleep(60)
    return "unreachable"


def _hang_in_c() -> str:
    # One call into C that holds Python's lock: no thread and no exception could end it.
    return str(re.match(r"(a|aa)*b", "a" * 200))


def _recurse() -> str:
    return _recurse()


def _unpicklable() -> Callable[[], None]:
    return lambda: None


ENDS = {
    "segfault": (_segfault, "crashed the parser (SIGSEGV)"),
    "kill": (_kill, "crashed the parser (SIGKILL)"),
    "exit": (_exit, "crashed the parser (exit code 3)"),
    "sleep": (_sleep, "took longer than 0.5 s"),
    "hang in C": (_hang_in_c, "took longer than 0.5 s"),
    "recursion": (
        _recurse,
        "crashed the parser (RecursionError at dbt_graft.collectors.statements.workers)",
    ),
    "answer that cannot be sent": (_unpicklable, "crashed the parser (exit code 1)"),
}


def work(item: str) -> object:
    """The things that a parser might do; any other item is answered in capitals."""
    return ENDS[item][0]() if item in ENDS else item.upper()


def failed(item: str, reason: str) -> object:
    """The answer for an item whose work failed."""
    return item, re.sub(r":\d+\)$", ")", reason)


@pytest.fixture
def worker(end: str) -> Iterator[Worker[str, object]]:
    """A worker, of little patience with what would never end; no child of it is left behind."""
    patience = 0.5 if "took longer" in ENDS[end][1] else 60
    with Worker(work, failed, seconds=patience) as worker:
        yield worker
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("end", ENDS)
def test_a_deadly_item_costs_only_itself(worker: Worker[str, object], end: str) -> None:
    items = ["a", "b", end, "c", end, "d"]
    lost = (end, ENDS[end][1])
    assert worker.map(items) == ["A", "B", lost, "C", lost, "D"]


@pytest.mark.parametrize("end", ENDS)
def test_a_batch_of_nothing_but_deadly_items_ends(worker: Worker[str, object], end: str) -> None:
    assert worker.map([end] * 3) == [(end, ENDS[end][1])] * 3
    assert worker.map(["a"]) == ["A"]


def test_one_child_serves_many_batches() -> None:
    with Worker(lambda item: os.getpid(), failed) as worker:
        pids = set(worker.map([""] * 3) + worker.map([""] * 3))
    assert len(pids) == 1
    assert os.getpid() not in pids


def test_the_limit_is_for_each_item_not_for_a_batch() -> None:
    def nap(item: str) -> object:
        time.sleep(0.2)
        return item

    with Worker(nap, failed, seconds=1.0) as worker:
        assert worker.map(list("abcdefgh")) == list("abcdefgh")


def test_large_batches_and_answers_pass() -> None:
    items = ["x" * 100_000] * 200
    with Worker(str.upper, failed) as worker:
        assert worker.map(items) == [item.upper() for item in items]


def test_nothing_asked_starts_nothing() -> None:
    with Worker(work, failed) as worker:
        assert worker.map([]) == []
        assert multiprocessing.active_children() == []


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_a_pool_answers_in_order_and_survives_deadly_items(processes: int) -> None:
    items = [*map(str, range(40)), "kill", *"abc", "exit", *"defghijklmnop", "kill"]
    counts: list[int] = []
    with WorkerPool(work, failed, processes) as pool:
        found = pool.map(items, counts.append)
        again = pool.map(["a"], counts.append)
        assert pool.map([], counts.append) == []
    assert found == [(item, ENDS[item][1]) if item in ENDS else item.upper() for item in items]
    assert (again, sum(counts)) == (["A"], len(items) + 1)
    assert multiprocessing.active_children() == []


def test_an_error_of_the_caller_leaves_no_child() -> None:
    def caller() -> None:
        with Worker(work, failed) as worker:
            raise KeyError(worker.map(["a"])[0])

    with pytest.raises(KeyError, match="A"):
        caller()
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("last", ["a", "sleep"])
def test_the_child_of_a_killed_parent_goes(last: str) -> None:
    read, write = os.pipe()
    parent = os.fork()
    if not parent:
        worker: Worker[str, object] = Worker(work, failed, seconds=1.0)
        worker.map(["a"])
        os.write(write, f"{multiprocessing.active_children()[0].pid}\n".encode())
        if last == "sleep":
            worker.map(["sleep"])  # the child is at work when its parent dies
        time.sleep(60)
    child = int(os.read(read, 20))
    time.sleep(0.2)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    deadline = time.monotonic() + 5
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"  # not a zombie
