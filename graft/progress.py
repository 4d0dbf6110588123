"""What the command says while it works: a line a step, on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text


class Step:
    """A step under way; `say` sets what its closing line tells."""

    def __init__(self) -> None:
        self.result = ""

    def say(self, result: str) -> None:
        """Tell what came of the step."""
        self.result = result


class Progress:
    """Announces steps; shows a spinner on a terminal, plain lines elsewhere."""

    def __init__(self, *, quiet: bool = False) -> None:
        # A descriptor of its own: Spark's standard error goes elsewhere while it starts.
        own = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
        self._console = Console(file=own, quiet=quiet, highlight=False, soft_wrap=True)

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[Step]:
        """A named step: what it does while it runs, what came of it and its seconds after."""
        step = Step()
        start = time.monotonic()
        if self._console.is_terminal:
            with self._console.status(Text(f"{name}: {doing}")):
                yield step
        else:
            self._console.print(Text(f"{name:<8} {doing} …"))
            yield step
        seconds = time.monotonic() - start
        self._console.print(Text(f"{name:<8} {step.result or 'done'}  ({seconds:.1f} s)"))

    def warn(self, text: str) -> None:
        """Something the user should know that stops nothing."""
        self._console.print(Text(f"warning  {text}", style="yellow"))
