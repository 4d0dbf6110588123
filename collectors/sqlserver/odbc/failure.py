"""Errors of ODBC drivers: whether to try again, and a message without names and secrets."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    import pyodbc

_TRIES = 5
_FIRST_PAUSE = 2.0
_LONGEST = 500
# Connections lost or refused, timeouts, serialisation failures, a server that shuts down
# (PostgreSQL's 57P): https://learn.microsoft.com/sql/odbc/reference/appendixes/appendix-a-odbc-error-codes
_TRANSIENT_STATES = ("08", "HYT0", "40001", "57P0")
# SQL Server's deadlock victim and Azure's throttling and failing over:
# https://learn.microsoft.com/azure/azure-sql/database/troubleshoot-common-errors-issues
_TRANSIENT_NUMBERS = frozenset(
    {
        *(1205, 4060, 4221, 10053, 10054, 10060, 10928, 10929, 10936),
        *(40143, 40197, 40501, 40540, 40613, 42108, 42109, 49918, 49919, 49920),
    }
)
# pyodbc writes `[state] text (number) (SQLFetch)`, further messages behind a semicolon.
_NUMBER = re.compile(r"\((-?\d{1,9})\)(?=;|\s*\(SQL|$)")
_SIGNED = re.compile(r"\[[^\]\n]{1,80}\]\s*")
_BY = re.compile(r"\s*\(SQL\w+\)$")
# Names of people, hosts and files stand in quotes of many shapes, as the server's language wants;
# an apostrophe within a word opens none.
_QUOTED = re.compile(
    r"(?<!\w)'.*?(?:'(?!\w)|$)|\".*?(?:\"|$)|«.*?(?:»|$)|“.*?(?:”|$)|„.*?(?:[“”]|$)|‘.*?(?:’|$)"
    r"|「.*?(?:」|$)",
    re.DOTALL,
)


@frozen
class OdbcFailure:
    """An error of a driver or the server behind it.

    Attributes:
        state: The SQLSTATE, five characters.
        numbers: The server's own numbers for it, the first message's first.
        message: Its text, without quoted names and without the secrets of the connection.
    """

    state: str
    numbers: tuple[int, ...]
    message: str

    @property
    def transient(self) -> bool:
        """Whether the same may succeed a little later."""
        return self.state.startswith(_TRANSIENT_STATES) or not _TRANSIENT_NUMBERS.isdisjoint(
            self.numbers
        )

    def error(self, problem: str, location: str, remedy: str = "") -> GraftError:
        """The error that users see."""
        number = f", error {self.numbers[0]}" if self.numbers else ""
        return GraftError(
            f"{problem}: {self.message} (SQLSTATE {self.state}{number})",
            place=location,
            remedy=remedy,
        )


def odbc_failure(error: pyodbc.Error, secrets: Collection[str] = ()) -> OdbcFailure:
    """Read an error of pyodbc.

    Args:
        secrets: Values that must not be repeated, as the connection string has them.
    """
    state, text = (*(str(part) for part in error.args), "", "")[:2]
    numbers = tuple(number for digits in _NUMBER.findall(text) if (number := int(digits)) > 0)
    message = _QUOTED.sub("'…'", _BY.sub("", text))
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        message = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "…", message, flags=re.IGNORECASE)
    message = " ".join(_SIGNED.sub("", _NUMBER.sub("", message)).split()).strip(" ;:.")
    if len(message) > _LONGEST:
        message = f"{message[:_LONGEST]}…"
    return OdbcFailure(state, numbers, message or "the driver gave no reason")


def retry_pauses() -> Iterator[float]:
    """Seconds to wait before each further try: ever longer, and random among clients."""
    for step in range(_TRIES - 1):
        yield _FIRST_PAUSE * 2**step * random.uniform(0.5, 1)  # noqa: S311
