"""Rows over ODBC as they come, and reading on after a lost connection."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeAlias

from dbt_graft.collectors.sqlserver.event import Chunk
from dbt_graft.collectors.sqlserver.odbc.connection import connect, load_pyodbc
from dbt_graft.collectors.sqlserver.odbc.failure import odbc_failure, retry_pauses

if TYPE_CHECKING:
    import pyodbc

# Each chunk with the position that is reached when it is stored.
Polled: TypeAlias = Iterator[tuple[Chunk, str]]
Rows: TypeAlias = Generator[tuple[Any, ...], None, None]
# A row may hold megabytes.
_AT_ONCE = 64
_NUMBER = re.compile(r"\((\d{1,9})\)")
_GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def read_chunks(
    setting: str, position: str, read: Callable[[pyodbc.Connection, str], Polled]
) -> Polled:
    """Read chunks, and where the connection breaks go on after the last one.

    Args:
        setting: As `connect` takes it.
        read: Reads what is behind a position.

    Raises:
        GraftError: An error that does not pass, or not in time.
    """
    odbc = load_pyodbc()
    waits = retry_pauses()
    while True:
        try:
            with closing(connect(setting)) as connection:
                for chunk, reached in read(connection, position):
                    position = reached
                    yield chunk, reached
                    waits = retry_pauses()
            return
        except odbc.Error as error:
            failure = odbc_failure(error)
        wait = next(waits, None) if failure.transient else None
        if wait is None:
            raise failure.error("reading failed", setting)
        time.sleep(wait)


def rows(
    connection: pyodbc.Connection, sql: str, *values: object, infos: list[int] | None = None
) -> Rows:
    """The rows of a query, a few in memory at a time; to be closed before the connection is.

    Text may be cut in the middle of a character, which becomes U+FFFD.

    Args:
        infos: Takes the numbers of the server's messages, before the first row and after the
            last.

    Raises:
        pyodbc.Error: Also between two rows, and behind the last one.
    """
    odbc = load_pyodbc()
    # pyodbc decodes strictly and would refuse the row; so it hands over the driver's UTF-16 as is,
    # of which it cannot make numbers.
    connection.decimal_mode = "binary"
    for kind in (odbc.SQL_CHAR, odbc.SQL_WCHAR):
        connection.setdecoding(kind, encoding="latin-1", ctype=odbc.SQL_WCHAR)
    numbers: list[int] = [] if infos is None else infos
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, *values)
        numbers += _numbers(cursor)
        while batch := cursor.fetchmany(_AT_ONCE):
            for row in batch:
                yield tuple(_text(cell) if isinstance(cell, str) else cell for cell in row)
        # An error behind the last row comes with what follows it.
        cursor.nextset()
        numbers += _numbers(cursor)


def _numbers(cursor: pyodbc.Cursor) -> list[int]:
    messages = (f"{kind} {text}" for kind, text in cursor.messages or ())
    return [int(number) for message in messages for number in _NUMBER.findall(message)]


def _text(raw: str) -> str:
    # pyodbc itself spells out these.
    if _GUID.fullmatch(raw):
        return raw
    return raw.encode("latin-1").decode("utf-16-le", "replace")
