"""Compactions that are killed, and many at once beside commits and readers: nothing is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from dbt_graft.collectors.store import compaction
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.forget import forget
from tests.cases import for_each
from tests.collectors.store.histories import History, answers, shapes_in_use
from tests.collectors.store.test_compaction import AT_ONCE, NAMES, logs, written

pytestmark = pytest.mark.slow

# Ends itself after so many calls of functions of the store.
KILLED = """
import os, signal, sys
from datetime import timedelta
from dbt_graft.collectors.store import compaction
from dbt_graft.collectors.store import upgrade
place, left, work = sys.argv[1], int(sys.argv[2]), sys.argv[3]
compaction.FAN_OUT = 2

def count(frame, event, argument):
    global left
    if "collectors/store" in frame.f_code.co_filename:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

from dbt_graft.collectors.store.forget import forget
sys.setprofile(count)
if work == "compact":
    compaction.compact(place, timedelta(seconds=-1))
else:
    forget(place, [work])
"""
COMPACTS = """
import sys, time
from datetime import timedelta
from pathlib import Path
from dbt_graft.collectors.store import compaction
compaction.FAN_OUT = 2
while not Path(sys.argv[1], "stop").exists():
    compaction.compact(sys.argv[1], timedelta(seconds=2))
    time.sleep(0.01)
"""


def killed(place: Path, calls: int, work: str = "compact") -> bool:
    """Whether a process was killed after so many calls."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(place), str(calls), work])
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@for_each("seed", range(6), quick=1)
def test_a_compaction_that_is_killed_anywhere_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    monkeypatch.setattr(sys.modules[store.commit.__module__], "is_due", lambda found: False)
    history = History(tmp_path, chance)
    kills = 0
    for _ in range(3):
        for _ in range(3):
            history.grow()
        before, shapes = answers(tmp_path), shapes_in_use(tmp_path)
        kills += killed(tmp_path, int(10 ** chance.uniform(1.5, 4)))
        assert answers(tmp_path) == before
        assert shapes_in_use(tmp_path) == shapes
    assert kills
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    before = answers(tmp_path)
    compaction.compact(str(tmp_path), AT_ONCE)
    monkeypatch.setattr(sys.modules[store.commit.__module__], "_LEFT_BEHIND", -(10**12))
    history.grow()  # sweeps
    compaction.compact(str(tmp_path), AT_ONCE)
    found = store.open_store(str(tmp_path))
    assert (found.superseded, dict(found.uncommitted)) == ((), {})
    assert store.damages(str(tmp_path)) == {}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(60, marks=pytest.mark.exhaustive),
        400,
        pytest.param(1500, marks=pytest.mark.exhaustive),
        4000,
    ],
)
def test_a_removal_that_is_killed_is_seen_by_nobody_or_by_all(tmp_path: Path, calls: int) -> None:
    logs(tmp_path, *NAMES[:6])
    log = NAMES[2]
    others = [name for name in NAMES[:6] if name != log]
    killed(tmp_path, calls, log)
    assert written(tmp_path) in (NAMES[:6], others)
    forget(str(tmp_path), [log])
    assert written(tmp_path) == others
    compaction.compact(str(tmp_path), AT_ONCE)
    rest = [path for path in tmp_path.glob("accesses/*/*") if log.encode() in path.read_bytes()]
    assert rest == []


def test_readers_and_commits_do_not_notice_two_compactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "store"
    logs(place, NAMES[0])
    both = [subprocess.Popen([sys.executable, "-c", COMPACTS, str(place)]) for _ in range(2)]
    try:
        monkeypatch.setattr(compaction, "FAN_OUT", 2)
        for number, name in enumerate(NAMES[1:30], 2):
            logs(place, name)
            assert written(place) == NAMES[:number]
            assert len(store.positions(str(place))) == number
    finally:
        (place / "stop").touch()
        ended = [process.wait(60) for process in both]
    assert ended == [0, 0]
    compaction.compact(str(place), timedelta(seconds=-1))
    assert written(place) == NAMES[:30]
    assert len(store.batches(str(place))) <= 6
