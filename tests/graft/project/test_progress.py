"""The progress of a command: something to see at any time, in a terminal and elsewhere."""

from __future__ import annotations

import os
import pty
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

import pytest

from dbt_graft.graft.project.progress import Progress


@dataclass
class HalfWay:
    """A measure that stands at the half."""

    part: float | None = 0.5

    def __str__(self) -> str:
        return "3 of 6 logs, 1.0 MB of 2.0 MB"


def test_elsewhere_a_line_now_and_then_says_how_far_it_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Progress(lines=0.05).step("collect", "reading new logs with Spark") as step:
        time.sleep(0.2)
        step.measure = HalfWay()
        time.sleep(0.2)
        step.result = "6 new logs"
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "collect  reading new logs with Spark …"
    assert "collect  still reading new logs with Spark  (0 s)" in lines
    assert "collect  3 of 6 logs, 1.0 MB of 2.0 MB  (0 s)" in lines
    assert lines[-1].startswith("collect  6 new logs  (0.")
    time.sleep(0.1)
    assert capfd.readouterr().err == "", "nothing comes after the end"


def test_a_quiet_command_shows_none(capfd: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=True, lines=0.01).step("collect", "reading"):
        time.sleep(0.05)
    assert capfd.readouterr().err == ""


def test_in_a_terminal_it_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    outer, inner = pty.openpty()
    shown = bytearray()

    def read() -> None:
        with suppress(OSError):  # the terminal is closed
            while part := os.read(outer, 1 << 12):
                shown.extend(part)

    reader = threading.Thread(target=read, daemon=True)  # another process may hold the terminal
    reader.start()
    with os.fdopen(inner, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        progress = Progress()
        with progress.step("collect", "reading [new] logs") as step:
            step.measure = HalfWay()
            time.sleep(0.8)
        del progress
    reader.join(5)
    os.close(outer)
    text = shown.decode()
    assert "collect: reading [new] logs" in text
    assert "3 of 6 logs, 1.0 MB of 2.0 MB" in text
    assert "━" in text
    assert "collect  done" in text


def test_an_error_ends_the_step(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="broken"), Progress(lines=0.01).step("collect", "reading"):
        raise ValueError("broken")
    capfd.readouterr()
    time.sleep(0.05)
    assert capfd.readouterr().err == ""
