"""Progress of a command: a line for each step, on standard error."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

_log = logging.getLogger(__name__)


class ProgressStep:
    """A running step.

    Attributes:
        result: What its closing line shows.
    """

    def __init__(self) -> None:
        self.result = "done"


class Progress:
    """Prints steps: with a spinner on a terminal, as plain lines elsewhere.

    Attributes:
        quiet: Nothing is printed.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        # A descriptor of its own: Spark's standard error goes elsewhere while it starts.
        try:
            number = os.dup(sys.stderr.fileno())
        except (AttributeError, OSError, ValueError):  # a closed standard error
            number = os.open(os.devnull, os.O_WRONLY)
        own = os.fdopen(number, "w", encoding="utf-8")
        self._console = Console(file=own, quiet=quiet, highlight=False, soft_wrap=True)
        self.quiet = quiet

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[ProgressStep]:
        """Show a step while it runs; then its result and how long it took."""
        step = ProgressStep()
        _log.debug("%s: %s", name, doing)
        start = time.monotonic()
        if self._console.is_terminal:
            with self._console.status(Text(f"{name}: {doing}")):
                yield step
        else:
            self._console.print(Text(f"{name:<8} {doing} …"))
            yield step
        seconds = time.monotonic() - start
        self._console.print(Text(f"{name:<8} {step.result}  ({seconds:.1f} s)"))

    def line(self, name: str, text: str) -> None:
        """Print a line of a step's output."""
        self._console.print(Text.from_ansi(f"{name:<8} {text}"))

    def warn(self, text: str) -> None:
        """Print a warning."""
        self._console.print(Text(f"warning  {text}", style="yellow"))
