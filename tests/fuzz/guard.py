"""Rules for each case of fuzzing: it ends in time, and no value of a log is logged."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from types import FrameType

from dbt_graft.collectors.debug import DebugFormatter

SECONDS = 10  # For one case, which takes milliseconds.
# A value that all logs hold: nobody may see it.
LITERAL = "s3cr3t-4711"


class CaseError(AssertionError):
    """A case that did not end as it should."""


@contextmanager
def guarded() -> Iterator[None]:
    """Ends what takes too long; looks for the literal on standard error and in debug logging.

    Raises:
        CaseError: It took too long, or the literal is there.
    """
    shown = StringIO()
    with _timed(), redirect_stderr(shown), _logging_to(shown):
        yield
    if LITERAL in shown.getvalue():
        raise CaseError("a value of the log was logged")


@contextmanager
def _timed() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise CaseError(f"it takes more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _logging_to(stream: StringIO) -> Iterator[None]:
    """Debug logging as `graft --debug` starts it."""
    logger = logging.getLogger("dbt_graft")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(DebugFormatter())
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates
