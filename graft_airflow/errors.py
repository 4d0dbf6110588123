"""The one error of this package, and a warning that a process writes once."""

from __future__ import annotations

import logging

_log = logging.getLogger("graft_airflow")
_LONGEST = 300
_written: set[str] = set()


class LineageFileError(Exception):
    """The file of collected lineage cannot be used.

    Attributes:
        problem: What is wrong, in one line and without secrets.
        remedy: What to do about it.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        self.problem = one_line(problem)
        super().__init__(f"{self.problem}; {remedy}")
        self.remedy = remedy


def one_line(text: str) -> str:
    """A text from elsewhere for a log: printable, on one line, not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def warn_once(message: str) -> None:
    """Write a warning, unless this process has written it before."""
    if message not in _written:
        _written.add(message)
        _log.warning("%s", message)


def failure(error: Exception) -> str:
    """An error in words for a log line: an unforeseen one by its class, as its text may quote."""
    if isinstance(error, LineageFileError):
        return str(error)
    if isinstance(error, ImportError):
        name = one_line(error.name or "a module")
        return f"{name} cannot be imported; install apache-airflow-providers-openlineage"
    return f"unexpected {type(error).__name__}; please report it"
