"""Progress of a command on standard error: a bar in a terminal, lines elsewhere."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.text import Text

# Seconds between two lines of a step, and between two looks for the bar.
_LINES, _LOOKS = 15.0, 0.25
_log = logging.getLogger(__name__)


class Measure(Protocol):
    """The progress of a step: its text, and the part that is done."""

    @property
    def part(self) -> float | None: ...

    def __str__(self) -> str: ...


class ProgressStep:
    """A running step.

    Attributes:
        result: What its closing line shows.
        measure: How far it is; None if that is not known.
    """

    def __init__(self) -> None:
        self.result = "done"
        self.measure: Measure | None = None


class Progress:
    """Prints steps: with a bar on a terminal, as plain lines elsewhere.

    Args:
        lines: Seconds between two lines of a step that takes long.

    Attributes:
        quiet: Nothing is printed.
    """

    def __init__(self, *, quiet: bool = False, lines: float = _LINES) -> None:
        # A descriptor of its own: Spark's standard error goes elsewhere while it starts.
        try:
            number = os.dup(sys.stderr.fileno())
        except (AttributeError, OSError, ValueError):  # a closed standard error
            number = os.open(os.devnull, os.O_WRONLY)
        stream = os.fdopen(number, "w", encoding="utf-8")
        self._console = Console(file=stream, quiet=quiet, highlight=False, soft_wrap=True)
        self._lines = lines
        self.quiet = quiet

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[ProgressStep]:
        """Show a step while it runs; then its result and how long it took."""
        step = ProgressStep()
        _log.debug("%s: %s", name, doing)
        start = time.monotonic()
        shown = self._bar if self._console.is_terminal else self._plain_lines
        with shown(step, name, doing):
            yield step
        seconds = time.monotonic() - start
        self._console.print(Text(f"{name:<8} {step.result}  ({seconds:.1f} s)"))

    def line(self, name: str, text: str) -> None:
        """Print a line of a step's output."""
        self._console.print(Text.from_ansi(f"{name:<8} {text}"))

    def warn(self, text: str) -> None:
        """Print a warning."""
        self._console.print(Text(f"warning  {text}", style="yellow"))

    @contextmanager
    def _bar(self, step: ProgressStep, name: str, doing: str) -> Iterator[None]:
        # Without a terminal none of it is needed.
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[far]}", markup=False),
            TimeElapsedColumn(),
        )
        with Bar(*columns, console=self._console, transient=True) as bar:
            task = bar.add_task(f"{name}: {doing}", total=None, far="")

            def look() -> None:
                if step.measure is not None and (part := step.measure.part) is not None:
                    bar.update(task, total=1.0, completed=part)
                bar.update(task, far=str(step.measure or ""))

            with _repeat(look, _LOOKS):
                yield

    @contextmanager
    def _plain_lines(self, step: ProgressStep, name: str, doing: str) -> Iterator[None]:
        self._console.print(Text(f"{name:<8} {doing} …"))
        start = time.monotonic()

        def line() -> None:
            far = str(step.measure or "") or f"still {doing}"
            self._console.print(Text(f"{name:<8} {far}  ({time.monotonic() - start:.0f} s)"))

        with _repeat(line, self._lines):
            yield


@contextmanager
def _repeat(call: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call a function now and then, in a thread of its own, until the end."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            try:
                call()
            except Exception:  # what is shown never stops what is done
                _log.debug("the progress cannot be shown", exc_info=True)
                return

    thread = threading.Thread(target=run, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
