"""A limit for work on a text in this process: normalising, which a round trip would only slow down.

Python's regular expressions look for signals while they match, so an alarm ends them too. The limit
counts the processor's time, not the clock's: a busy machine fails no text. What can crash or hang
in C is done in a child process instead, see `workers`.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from types import FrameType
from typing import ParamSpec, TypeVar

from dbt_graft.lineage.errors import exception_summary

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Far above what the longest text takes.
SECONDS = 10.0
# Windows has no alarms, and other threads get none: there, the work takes as long as it takes.
_HAS_ALARMS = hasattr(signal, "setitimer")


class UnreadableTextError(ValueError):
    """A text that could not be read; the message is the reason, without any part of the text."""


class _TimeIsUpError(BaseException):
    """Raised by the alarm, and no `except Exception` on its way catches it."""


def run_limited(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """The result of work on a text.

    Raises:
        UnreadableTextError: It took longer than `SECONDS`, or failed in a way that it never should.
    """
    if not _HAS_ALARMS or current_thread() is not main_thread():
        return _done(work, *args, **kwargs)
    before = signal.signal(signal.SIGVTALRM, _end)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            return _done(work, *args, **kwargs)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _TimeIsUpError:
        raise UnreadableTextError(f"took longer than {SECONDS:g} s") from None
    finally:
        signal.signal(signal.SIGVTALRM, before)


def _done(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    try:
        return work(*args, **kwargs)
    except Exception as error:
        raise UnreadableTextError(f"crashed the parser ({exception_summary(error)})") from error


def _end(number: int, frame: FrameType | None) -> None:
    raise _TimeIsUpError
