"""The one base of every error that dbt-graft raises on purpose, and where other errors arose."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from pathlib import PurePath
from traceback import format_tb, walk_tb

from dbt_graft.lineage.redaction import redact_text

_PACKAGE = "dbt_graft"
# Their messages name code; those of others may quote a value of a log.
_ABOUT_CODE = (
    *(AttributeError, ImportError, ModuleNotFoundError, NameError, NotImplementedError),
    *(RecursionError, TypeError, UnboundLocalError),
)


# The errors of the system that another folder or right does not mend, and what does.
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})
FREE_SPACE = "free some space, then run the command again"


def add_extra(name: str) -> str:
    """The step that adds an extra of this package, however it was installed."""
    return (
        f"install dbt-graft with its extra `{name}`: 'dbt-graft[{name}]' for `pip install`, "
        "`pipx install --force` or `uv tool install --force`"
    )


class GraftError(Exception):
    """An error that the user can fix; what it says of the input holds no secret.

    Attributes:
        problem: What is wrong, in one sentence.
        place: The file, file and line, dataset or URL; empty if there is none.
        remedy: The next step, as an instruction; empty if there is none.
    """

    exit_code = 1

    def __init__(self, problem: str, *, place: str = "", remedy: str = "") -> None:
        self.problem = redact_text(problem)
        self.place = redact_text(place)
        self.remedy = remedy
        super().__init__(self.problem)

    def __str__(self) -> str:
        text = f"{self.place}: {self.problem}" if self.place else self.problem
        return f"{text}\n  {self.remedy}" if self.remedy else text


def write_error(error: OSError, place: str | PurePath, remedy: str) -> GraftError:
    """The error of a file or folder that cannot be written.

    Args:
        remedy: What helps unless the disk is full.
    """
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in FULL_DISK:
        remedy = FREE_SPACE
    return GraftError(f"cannot be written: {reason}", place=str(place), remedy=remedy)


def exception_place(error: BaseException) -> str:
    """The module and line of our code in which an exception arose: `dbt_graft.lineage.urls:41`.

    Of all frames that the exception passed it is the innermost of this package; empty where it
    passed none.
    """
    place = ""
    for frame, line in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == _PACKAGE:
            place = f"{module}:{line}"
    return place


def exception_summary(error: BaseException) -> str:
    """The class of an exception and where in our code it arose, without its message.

    `UnicodeDecodeError at dbt_graft.lineage.urls:41`. A message may quote a value of a log, so
    none gets into rejects and reports.
    """
    place = exception_place(error)
    return f"{type(error).__name__} at {place}" if place else type(error).__name__


def exception_reason(error: BaseException, log: logging.Logger) -> str:
    """The words of a reject for an exception; logs the traceback if debug logging is on.

    A foreseen error keeps its message. Any other is named by its class and place.
    """
    log.debug("a reject: %s", exception_summary(error), exc_info=error)
    return str(error) if isinstance(error, GraftError) else exception_summary(error)


def exception_traceback(error: BaseException) -> str:
    """A traceback as Python prints it, the causes first, without messages that may quote values."""
    chain = list(_chain(error))
    return "\nwhich led to\n\n".join(
        "".join(
            (
                "Traceback (most recent call last):\n",
                *format_tb(cause.__traceback__),
                f"{_class_name(type(cause))}{_safe_message(cause)}\n",
            )
        )
        for cause in reversed(chain)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (
            None if current.__suppress_context__ else current.__context__
        )


def _class_name(kind: type[BaseException]) -> str:
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def _safe_message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f": {error.strerror}"
    message = str(error) if type(error) in _ABOUT_CODE or isinstance(error, GraftError) else ""
    return f": {message}" if message else ""
