"""Debug logging, in every process of a collect.

`GRAFT_DEBUG=1` in the environment turns it on; `graft --debug` sets it. Spark passes the variable
on to its Python workers (`session`), and each of them imports this package, which starts logging
there. Lines go to standard error: the command's own, or Spark's log for a worker. They name the
module they come from, and hold no value of a log: tracebacks come without messages that may
quote one.
"""

from __future__ import annotations

import logging
import os
import sys
from types import TracebackType
from typing import TypeAlias

from dbt_graft import __version__
from dbt_graft.lineage.errors import exception_traceback

VARIABLE = "GRAFT_DEBUG"
_LOGGER = logging.getLogger("dbt_graft")
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
ExceptionInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class DebugFormatter(logging.Formatter):
    """Lines with process and module; a traceback has no messages that may quote a log."""

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802
        """The traceback of a record."""
        return exception_traceback(ei[1]).rstrip("\n") if ei[1] else ""


def is_on() -> bool:
    """Whether the environment asks for debug logging."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def start_logging() -> None:
    """Log to standard error if debug logging is on; once in a process."""
    if not is_on() or _LOGGER.handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(DebugFormatter(_FORMAT))
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.DEBUG)
    _LOGGER.propagate = False
    logging.getLogger(__name__).debug("dbt-graft %s, Python %s", __version__, sys.version)
