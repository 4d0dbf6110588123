"""SQL Server's drivers, played by SQLite: `pyodbc`, `pymssql`, and SQLAlchemy's engines.

For a process of its own: it has these drivers from then on.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import ModuleType
from typing import Any
from unittest.mock import patch

import sqlalchemy
from sqlalchemy.pool import StaticPool

SCHEMAS = ("dbo", "crm", "erp", "dw", "mart", "stage")
# Makes a table that a statement misses; says whether it is one of ours.
MakeTable = Callable[[str], bool]


class Row(tuple[Any, ...]):
    """A row of pyodbc: by place and by name."""

    names: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[self.names.index(name)]
        except ValueError:
            raise AttributeError(name) from None


class Cursor(sqlite3.Cursor):
    """A cursor with pyodbc's habits; `%s` as pymssql writes it."""

    fast_executemany = False
    paramstyle = "?"

    def execute(self, sql: str, *parameters: Any) -> Cursor:
        """Run a statement; parameters one by one or together."""
        if len(parameters) == 1 and isinstance(parameters[0], (tuple, list, dict)):
            parameters = parameters[0]
        return self._with_table(super().execute, sql, _plain(parameters))

    def executemany(self, sql: str, rows: Any) -> Cursor:
        """Run a statement for each row of parameters."""
        return self._with_table(super().executemany, sql, [_plain(row) for row in rows])

    def fetchval(self) -> Any:
        """The first value of the first row."""
        row = self.fetchone()
        return row[0] if row else None

    def commit(self) -> None:
        """As pyodbc: of the connection."""

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        """The cursor stays open: it is SQLite's."""

    def _with_table(self, run: Callable[..., Any], sql: str, parameters: Any) -> Cursor:
        if sql.lstrip().startswith("CREATE INDEX"):
            sql, parameters = "SELECT 1", ()  # of an attached schema SQLite wants it otherwise
        sql = sql.replace("%s", "?")
        try:
            run(sql, parameters)
        except sqlite3.OperationalError as error:
            missing = re.search(r"no such table: (\S+)", str(error))
            if not missing or not self.connection.make_table(missing[1]):
                raise
            run(sql, parameters)
        return self


def _plain(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {name: _scalar(value) for name, value in parameters.items()}
    return tuple(_scalar(value) for value in parameters)


def _scalar(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


class Connection(sqlite3.Connection):
    """The one connection of a run, which scripts cannot close."""

    make_table: MakeTable
    autocommit = True

    def cursor(self, *_: Any, as_dict: bool = False, **__: Any) -> Cursor:
        """A cursor; with rows as dicts as pymssql makes them."""
        cursor = super().cursor(Cursor)
        cursor.row_factory = _dict_row if as_dict else _row
        return cursor

    def execute(self, sql: str, *parameters: Any) -> Cursor:
        """Run a statement with a cursor of its own."""
        return self.cursor().execute(sql, *parameters)

    def close(self) -> None:
        """Only `end` closes it."""

    def end(self) -> None:
        """Close it."""
        super().close()


def _row(cursor: sqlite3.Cursor, values: Sequence[Any]) -> Row:
    row = Row(values)
    row.names = tuple(column[0] for column in cursor.description)
    return row


def _dict_row(cursor: sqlite3.Cursor, values: Sequence[Any]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}


def connect(make_table: MakeTable) -> Connection:
    """A new database in memory, with the schemas of the scripts."""
    connection = sqlite3.connect(
        ":memory:",
        detect_types=sqlite3.PARSE_DECLTYPES,
        isolation_level=None,
        factory=Connection,
    )
    connection.make_table = make_table
    for schema in SCHEMAS:
        connection.cursor().execute(f"ATTACH ':memory:' AS {schema}")
    connection.create_function("getdate", 0, lambda: datetime(2025, 6, 1).isoformat(" "))
    connection.create_function("isnull", 2, lambda value, other: other if value is None else value)
    return connection


@contextmanager
def drivers_played_by(connection: Connection) -> Iterator[None]:
    """Whatever a script connects to is the connection."""
    engine = sqlalchemy.create_engine(
        "sqlite://", creator=lambda: connection, poolclass=StaticPool, native_datetime=True
    )
    module = ModuleType("a driver")
    module.connect = lambda *_, **__: connection
    module.Error = sqlite3.Error
    # Not `patch.dict`, which takes out all modules that a script imports.
    sys.modules |= {"pyodbc": module, "pymssql": module}
    with patch.object(sqlalchemy, "create_engine", lambda *_, **__: engine):
        yield
    engine.dispose()
