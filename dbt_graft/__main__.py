"""The command `graft`, also as `python -m dbt_graft`."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

# Commands that start no Spark and end soon.
_BRIEF = {"check", "diff", "doctor", "impact", "incident", "inject", "query", "review", "show"}


def main() -> None:
    """Run the command; Ctrl-C ends in one line even before all modules are loaded."""
    sys.unraisablehook = _interrupt_again
    try:
        if not _BRIEF.isdisjoint(sys.argv[1:2]) or sys.argv[1:3] == ["store", "info"]:
            _prepare()
        from dbt_graft.graft.commands.cli import main as graft

        graft(prog_name="graft")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


def _interrupt_again(error: UnraisableHookArgs) -> None:
    """Raise Ctrl-C once more where it came in a callback of a weak reference: Python drops it."""
    if error.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(error)
        return
    import signal
    from threading import Timer, main_thread

    def interrupt() -> None:
        if (main := main_thread().ident) and hasattr(signal, "pthread_kill"):
            signal.pthread_kill(main, signal.SIGINT)  # ends its system call too
        else:
            signal.raise_signal(signal.SIGINT)

    again = Timer(0.05, interrupt)  # raised at once it would be dropped once more
    again.daemon = True
    again.start()


def _prepare() -> None:
    """Leave out what takes as long as many a command."""
    # Arrow's own memory pool asks the system for each page anew.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # pyarrow imports numpy wherever it is installed. What starts Spark needs it.
    sys.modules["numpy"] = None  # type: ignore[assignment]  # as if it were not installed
    # The process ends before garbage counts, and nobody need look for it at the end.
    gc.disable()
    atexit.register(_freeze)


def _freeze() -> None:
    # DuckDB calls its own objects leaks where they stay.
    if "duckdb" not in sys.modules:
        gc.freeze()


if __name__ == "__main__":
    main()
