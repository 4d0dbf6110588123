"""A text that takes too long, or crashes what reads it, is an error that says so."""

from __future__ import annotations

import re
import signal
from contextlib import suppress
from threading import Thread

import pytest

from dbt_graft.collectors.statements import time_limit
from dbt_graft.collectors.statements.time_limit import UnreadableTextError, run_limited

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no alarms"
)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "SECONDS", 0.2)


def _for_ever_in_a_pattern(text: str) -> bool:
    return re.match(r"(a|aa)*b", text) is not None


def _for_ever_in_spite_of_errors(text: str) -> int:
    while True:
        with suppress(Exception):
            _for_ever_in_a_pattern(text)


@pytest.mark.parametrize("work", [_for_ever_in_a_pattern, _for_ever_in_spite_of_errors])
def test_work_without_an_end_ends_with_its_reason(work: object) -> None:
    with pytest.raises(UnreadableTextError, match=r"^took longer than 0\.2 s$"):
        run_limited(work, "a" * 200)  # type: ignore[arg-type]


def test_a_crash_is_named_by_its_class_alone() -> None:
    with pytest.raises(
        UnreadableTextError, match=r"^crashed the parser \(ValueError( at dbt_graft\.\S+)?\)$"
    ):
        run_limited(int, "a password")


def test_the_alarm_and_its_handler_are_as_before() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    assert run_limited(str.upper, "a") == "A"
    with pytest.raises(UnreadableTextError):
        run_limited(_for_ever_in_a_pattern, "a" * 200)
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_another_thread_does_the_work_without_a_limit() -> None:
    done: list[str] = []
    thread = Thread(target=lambda: done.append(run_limited(str.upper, "a")))
    thread.start()
    thread.join()
    assert done == ["A"]
