"""Events in a table that the files of a session were loaded into, read over any ODBC connection."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from contextlib import closing
from dataclasses import field, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, ExtendedEvent, LogDamage, Value
from dbt_graft.collectors.sqlserver.files.flat_events import (
    FlatColumnKind,
    are_event_columns,
    flat_column,
    flat_event,
)
from dbt_graft.collectors.sqlserver.odbc import table_key
from dbt_graft.collectors.sqlserver.odbc.connection import load_pyodbc
from dbt_graft.collectors.sqlserver.odbc.failure import odbc_failure
from dbt_graft.collectors.sqlserver.odbc.polling import Polled, Rows, read_chunks, rows
from dbt_graft.collectors.sqlserver.odbc.table_key import TableKey
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    import pyodbc


_STATEMENTS = frozenset({"batch_text", "statement"})
# Only events of statements that ended have them.
_OUTCOMES = frozenset({"duration", "row_count", "result"})


@frozen
class TableColumns:
    """The columns to read, and what each is to `flat_event`.

    Attributes:
        names: As the table has them.
        labels: What they hold.
        event: The name of all events, where no column has it.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    event: str


def choose_columns(present: list[str], columns: Mapping[str, str], table: str) -> TableColumns:
    """The columns of a table to read.

    Args:
        present: All that it has.
        columns: Label -> column, where a column's name does not show what it holds.

    Raises:
        GraftError: One that is named is not there, or the columns hold no events.
    """
    configured = {actual_name(name, present, table): label for label, name in columns.items()}
    taken = {_role(label) for label in configured.values()}
    if taken:
        taken.add(FlatColumnKind.XML.value)
    labels = {
        name: configured.get(name, name)
        for name in present
        if name in configured or _role(name) not in taken
    }
    roles = {_role(label): name for name, label in labels.items()}
    if FlatColumnKind.XML.value in roles:
        xml = roles[FlatColumnKind.XML.value]
        return TableColumns((xml,), (labels[xml],), "")
    if FlatColumnKind.TEXT.value not in roles and "sql_text" in roles:
        # The input buffer, for sessions that add it in place of the event's own text.
        labels[roles["sql_text"]] = FlatColumnKind.TEXT.value
        roles[FlatColumnKind.TEXT.value] = roles["sql_text"]
    if FlatColumnKind.TIME.value not in roles or FlatColumnKind.TEXT.value not in roles:
        raise GraftError(
            "the table's columns hold no events: they need `event_data`, or `timestamp` and `text`",
            place=table,
            remedy=f"say in `columns` which of these they are: {', '.join(present)}",
        )
    event = ""
    if not are_event_columns(list(labels.values())):
        begun = _OUTCOMES.isdisjoint(roles)
        event = "sql_statement_starting" if begun else "sql_statement_completed"
    return TableColumns(tuple(labels), tuple(labels.values()), event)


def _role(label: str) -> str:
    """The role of a column: the same for all that can replace each other."""
    kind, name, _ = flat_column(label)
    return FlatColumnKind.TEXT.value if name in _STATEMENTS else name or kind.value


def actual_name(name: str, present: list[str], table: str) -> str:
    """A column as the table spells it: most servers ignore case.

    Raises:
        GraftError: It has none of this name.
    """
    if name in present:
        return name
    matches = [column for column in present if column.casefold() == name.casefold()]
    if len(matches) != 1:
        raise GraftError(
            f"the table has no column {name}",
            place=table,
            remedy=f"it has {', '.join(present)}: correct `key` and `columns`",
        )
    return matches[0]


_CHUNK_CHARACTERS = 4 << 20
_ROW_CHARACTERS = 200
_MOST_EQUAL = 100_000
_PART = re.compile(r'\[((?:[^\]]|\]\])+)\]|"((?:[^"]|"")+)"|([^.\[\]"]+)')
_NO_SUCH = ("42S02", "42P01", "3F000")
_DENIED = frozenset({229, 230})
# datetimeoffset, which pyodbc leaves to its user: SQL_SS_TIMESTAMPOFFSET_STRUCT.
_DATETIMEOFFSET = -155
_OFFSET_STRUCT = struct.Struct("<6hI2h")


@frozen
class EventTable:
    """A table with an event a row.

    Attributes:
        connection: `env:NAME` or `dsn:NAME`.
        table: Its name, with schema and database where needed: `audit.dbo.[xe log]`.
        key: The column that grows with each load: an identity, a rowversion, a time. Where rows
            are loaded together, all with one key must be there at once.
        columns: The column for each label: `event_data` (an event's XML), or `name`,
            `timestamp`, `application`, `database`, `session_id`, `sequence`, `text`, `result`,
            `row_count`, `duration` and any field or action of an event. Other
            columns are known by their names, as those of an export of SQL Server Management Studio.
    """

    connection: str
    table: str
    key: str
    columns: Mapping[str, str] = field(default_factory=dict)
    wanted: EventFilter = field(default_factory=EventFilter)


def poll_table(source: EventTable, position: str) -> Polled:
    """The events of the rows after a position, in the order of their keys.

    A chunk ends only where the key changes: rows with equal keys stay together.

    Args:
        position: Where an earlier call has ended; empty at first.

    Raises:
        GraftError: The table cannot be read, or its columns hold no events.
    """
    if position:
        table_key.decode(position)
    return read_chunks(source.connection, position, partial(_read, source))


def _read(source: EventTable, connection: pyodbc.Connection, position: str) -> Polled:
    odbc = load_pyodbc()
    connection.add_output_converter(_DATETIMEOFFSET, offset_time)
    mark: str = connection.getinfo(odbc.SQL_IDENTIFIER_QUOTE_CHAR).strip()
    table = ".".join(_quote(part, mark) for part in name_parts(source.table))
    try:
        present = _list_columns(connection, table)
        columns = choose_columns(present, source.columns, source.table)
        behind = table_key.decode(position) if position else None
        key = _quote(actual_name(source.key, present, source.table), mark)
        where, values = table_key.condition(key, behind)
        chosen = ", ".join([key, *(_quote(name, mark) for name in columns.names)])
        # All names are quoted.
        sql = f"SELECT {chosen} FROM {table} WHERE {where} ORDER BY {key}"  # noqa: S608
        with closing(rows(connection, sql, *values)) as event_rows:
            yield from _chunks(source, columns, event_rows, behind)
    except odbc.Error as error:
        failure = odbc_failure(error)
        if failure.state in _NO_SUCH:
            raise failure.error("there is no such table", source.table) from None
        if failure.state == "42501" or not _DENIED.isdisjoint(failure.numbers):
            raise failure.error(
                "the login may not read the table", source.table, "GRANT SELECT on it"
            ) from None
        raise


def _chunks(
    source: EventTable,
    columns: TableColumns,
    event_rows: Rows,
    behind: TableKey | None,
) -> Polled:
    chunk, seen, size = Chunk(), 0, 0
    last: TableKey | None = None
    keyed = ((_key(source, value), cells) for value, *cells in event_rows)
    new = (row for row in keyed if table_key.is_behind(row[0], behind))
    for _, equal in groupby(new, lambda row: table_key.tie(row[0])):
        if last is not None and size >= _CHUNK_CHARACTERS:
            yield replace(chunk, seen=seen), table_key.encode(last)
            chunk, seen, size = Chunk(), 0, 0
        for number, (last, cells) in enumerate(equal):
            if number == _MOST_EQUAL:
                raise GraftError(
                    f"more than {_MOST_EQUAL} rows have the same {source.key}",
                    place=source.table,
                    remedy="name as `key` a column with few equal values, such as an identity",
                )
            seen += 1
            size += _ROW_CHARACTERS + sum(len(cell) for cell in cells if isinstance(cell, str))
            event = _event(columns, cells, source.wanted)
            if isinstance(event, ExtendedEvent):
                chunk.events.append(event)
            elif event is not None:
                position = f"{source.table}, {source.key} {table_key.encode(last)}"
                chunk.damages.append(replace(event, position=position))
    if last is not None:
        yield replace(chunk, seen=seen), table_key.encode(last)


def _event(
    columns: TableColumns, cells: list[Any], wanted: EventFilter
) -> ExtendedEvent | LogDamage | None:
    fields = dict(zip(columns.labels, map(_value, cells), strict=True))
    return flat_event({"name": columns.event} | fields if columns.event else fields, wanted)


def _value(cell: Any) -> Value:
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        is_integer = cell.is_finite() and cell == cell.to_integral_value()
        return int(cell) if is_integer else str(cell)
    return cell if isinstance(cell, int | float | str | bytes) else None


def _list_columns(connection: pyodbc.Connection, table: str) -> list[str]:
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"SELECT * FROM {table} WHERE 1 = 0")  # noqa: S608 (quoted)
        return [name for name, *_ in cursor.description]


def _key(source: EventTable, value: object) -> TableKey:
    key = table_key.key_of(value)
    if key is None:
        raise GraftError(
            f"{source.key} cannot be a key: it is of the type {type(value).__name__}",
            place=source.table,
            remedy="name a column of integers, times, binary values or text",
        )
    return key


def name_parts(name: str) -> list[str]:
    """The parts of a name, `audit.dbo.[xe log]`, without their quotes.

    Raises:
        GraftError: It is none.
    """
    parts = [
        match[1].replace("]]", "]") if match[1] else (match[2] or match[3]).replace('""', '"')
        for match in _PART.finditer(name)
    ]
    if not parts or re.fullmatch(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*", name) is None:
        raise GraftError(
            "is not the name of a table", place=name, remedy="write database.schema.table, or less"
        )
    return parts


def _quote(name: str, mark: str) -> str:
    if mark:
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"
    if not re.fullmatch(r"\w+", name):
        raise GraftError("this driver cannot quote names", place=name)
    return name


def offset_time(raw: bytes) -> datetime | None:
    """A `datetimeoffset` as drivers hand it over."""
    if len(raw) != _OFFSET_STRUCT.size:
        return None
    *moment, nanoseconds, hours, minutes = _OFFSET_STRUCT.unpack(raw)
    zone = timezone(timedelta(hours=hours, minutes=minutes))
    year, month, day, hour, minute, second = moment
    return datetime(year, month, day, hour, minute, second, nanoseconds // 1000, zone)
