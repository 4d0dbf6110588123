"""Dataclasses -> Spark and Arrow schemas, and rows: no schema is written twice.

A field becomes the column of its name, except that a `DatasetId` becomes two: `to_dataset` is
`to_namespace` and `to_name`, `dataset` and `id` are `namespace` and `name`. Enumerations are
stored by their value, nested dataclasses as structs, tuples as arrays; times are in UTC, to the
microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from dbt_graft.lineage.dataset import DatasetId

R = TypeVar("R")
Row = dict[str, Any]

_TYPES: Mapping[type, tuple[str, pa.DataType]] = {
    str: ("string", pa.string()),
    int: ("bigint", pa.int64()),
    bool: ("boolean", pa.bool_()),
    float: ("double", pa.float64()),
    datetime: ("timestamp", pa.timestamp("us", "UTC")),
}


@cache
def ddl(record: type) -> str:
    """A dataclass as the columns of a Spark table: `task string, rows bigint, …`."""
    return ", ".join(f"{name} {spark}" for name, spark, _ in _columns(record))


@cache
def arrow(record: type) -> pa.Schema:
    """A dataclass as an Arrow schema."""
    return pa.schema([pa.field(name, kind) for name, _, kind in _columns(record)])


@cache
def column_names(record: type) -> tuple[str, ...]:
    """The columns of a dataclass, in the order of its fields."""
    return tuple(name for name, _, _ in _columns(record))


def row(record: Any) -> Row:
    """A record as a row: column -> value as Spark and Arrow take it."""
    found: Row = {}
    kind: Any = type(record)
    for one in _fields(kind):
        found.update(one.columns(getattr(record, one.name)))
    return found


def record(kind: type[R], row: Mapping[str, Any]) -> R:
    """The record of a row; a column that the row lacks gets the field's default.

    Raises:
        ValueError: A value is none of those that an enumeration has.
    """
    values = {}
    of: Any = kind
    for one in _fields(of):
        if one.column in row:
            values[one.name] = one.value(row)
    return kind(**values)


def batch(kind: type, records: Iterable[Any]) -> pa.RecordBatch:
    """Records of one class as an Arrow batch."""
    return pa.RecordBatch.from_pylist([row(one) for one in records], schema=arrow(kind))


class _Field(NamedTuple):
    """A field: its first column, how its value becomes columns, and how these become its value."""

    name: str
    column: str
    columns: Callable[[Any], Row]
    value: Callable[[Mapping[str, Any]], Any]


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:
    hints = get_type_hints(kind)
    return tuple(_field(one.name, hints[one.name], one.default) for one in fields(kind))


def _field(name: str, hint: Any, default: Any) -> _Field:
    if _plain(hint) is DatasetId:
        namespace, local = _dataset_columns(name)

        def split(value: DatasetId | None) -> Row:
            if value is None:
                return {namespace: None, local: None}
            return {namespace: value.namespace, local: value.name}

        def joined(row: Mapping[str, Any]) -> DatasetId | None:
            return None if row[namespace] is None else DatasetId(row[namespace], row[local])

        return _Field(name, namespace, split, joined)
    stored, restored = _stored(hint), _restored(hint)
    # A table that an earlier version wrote has no value where this one always has.
    empty = None if default is MISSING or default is None else default
    return _Field(
        name,
        name,
        lambda value: {name: stored(value)},
        lambda row: empty if row[name] is None else restored(row[name]),
    )


def _dataset_columns(field: str) -> tuple[str, str]:
    before = "" if field in ("id", "dataset") else field.removesuffix("dataset")
    before = before if not before or before.endswith("_") else f"{before}_"
    return f"{before}namespace", f"{before}name"


def _columns(kind: Any) -> list[tuple[str, str, pa.DataType]]:
    found = []
    hints = get_type_hints(kind)
    for one in fields(kind):
        hint = _plain(hints[one.name])
        if hint is DatasetId:
            found += [(name, *_TYPES[str]) for name in _dataset_columns(one.name)]
        else:
            found.append((one.name, *_type(hint)))
    return found


def _type(hint: Any) -> tuple[str, pa.DataType]:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        spark, kind = _type(get_args(hint)[0])
        return f"array<{spark}>", pa.list_(kind)
    if hint is DatasetId:
        spark, kind = _TYPES[str]
        parts = [("namespace", spark, kind), ("name", spark, kind)]
    elif is_dataclass(hint):
        parts = _columns(hint)
    else:
        plain = str if issubclass(hint, Enum) and issubclass(hint, str) else hint
        return _TYPES[int if issubclass(hint, Enum) and issubclass(hint, int) else plain]
    inner = ", ".join(f"{name}: {spark}" for name, spark, _ in parts)
    return f"struct<{inner}>", pa.struct([pa.field(name, kind) for name, _, kind in parts])


def _plain(hint: Any) -> Any:
    """A type without its `| None`."""
    if get_origin(hint) in (Union, UnionType):
        return next(one for one in get_args(hint) if one is not NoneType)
    return hint


def _stored(hint: Any) -> Callable[[Any], Any]:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        inner = _stored(get_args(hint)[0])
        return lambda values: [inner(value) for value in values]
    if hint is DatasetId:
        return lambda one: one and {"namespace": one.namespace, "name": one.name}
    if is_dataclass(hint):
        return lambda one: one and row(one)
    if issubclass(hint, Enum):
        return lambda one: getattr(one, "value", one)
    return lambda value: value


def _restored(hint: Any) -> Callable[[Any], Any]:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        inner = _restored(get_args(hint)[0])
        return lambda values: tuple(inner(value) for value in values)
    if hint is DatasetId:
        return lambda one: DatasetId(one["namespace"], one["name"])
    if is_dataclass(hint):
        kind: Any = hint
        return lambda one: record(kind, one)
    if issubclass(hint, Enum):
        return lambda value: hint(value)
    return lambda value: value
