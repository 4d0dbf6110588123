"""The key up to which a table of events was read, as text and as a condition."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from dbt_graft.lineage.errors import GraftError

TableKey: TypeAlias = int | Decimal | datetime | date | bytes | str

# A driver cuts or rounds what a column holds (SQL Server's `datetime` counts 300ths of a second,
# `datetime2` 100 ns), so the server compares roughly and we compare what the driver gave.
_ROUGHLY = timedelta(seconds=1)


def key_of(value: object) -> TableKey | None:
    """A key as the driver gave it, times in UTC; None for what cannot be one."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, bool) or not isinstance(value, TableKey):
        return None
    return value


def encode(key: TableKey) -> str:
    """A position: the kind of the key and its value."""
    if isinstance(key, datetime):
        return f"time:{key.isoformat(timespec='microseconds')}"
    if isinstance(key, date):
        return f"date:{key.isoformat()}"
    if isinstance(key, bytes):
        return f"binary:{key.hex()}"
    if isinstance(key, str):
        return f"text:{key}"
    return f"number:{key}"


def decode(position: str) -> TableKey:
    """The key in a position.

    Raises:
        GraftError: It is none.
    """
    kind, _, text = position.partition(":")
    try:
        if kind == "time":
            return datetime.fromisoformat(text)
        if kind == "date":
            return date.fromisoformat(text)
        if kind == "binary":
            return bytes.fromhex(text)
        if kind == "number":
            return int(text) if text.lstrip("-").isdecimal() else Decimal(text)
    except (ValueError, InvalidOperation):
        kind = ""
    if kind != "text":
        raise GraftError(
            "the position in the store is none of a table",
            place=position,
            remedy="give this source a name of its own in `collect`, or a new store",
        )
    return text


def condition(column: str, behind: TableKey | None) -> tuple[str, tuple[TableKey, ...]]:
    """The condition on the rows to ask for, which may be a few too many: see `is_behind`."""
    if behind is None:
        return f"{column} IS NOT NULL", ()
    if isinstance(behind, datetime):
        return f"{column} >= ?", (max(behind, datetime.min + _ROUGHLY) - _ROUGHLY,)
    return f"{column} > ?", (behind,)


def is_behind(key: TableKey, behind: TableKey | None) -> bool:
    """Whether a row that was asked for has not been read before."""
    return not (isinstance(key, datetime) and isinstance(behind, datetime)) or key > behind


def tie(key: TableKey) -> TableKey:
    """A value that is equal for all keys that a collation may hold for equal."""
    if not isinstance(key, str):
        return key
    plain = unicodedata.normalize("NFKD", key).casefold()
    return "".join(c for c in plain if not unicodedata.combining(c)).rstrip()
