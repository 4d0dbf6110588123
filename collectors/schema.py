"""Records -> Spark and Arrow schemas, and rows: no schema is written twice.

A record is a dataclass, or a named tuple where many are made. A field becomes the column of its
name, except that a `DatasetId` becomes two: `to_dataset` is `to_namespace` and `to_name`,
`dataset` and `id` are `namespace` and `name`. Enumerations are stored by their value, nested
records as structs, `Flat` ones as columns of their own, tuples as arrays; times are in UTC, to the
microsecond. A field with `metadata={"stored": False}` is no column.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache, lru_cache
from itertools import accumulate, chain, islice
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.lineage.column_edges import ColumnEdges, constant_fields, edge_field
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ColumnEdge

R = TypeVar("R")
Row = dict[str, Any]

_FLAT = "flat"
# A record whose columns stand among those of the record that holds it; never None.
Flat = Annotated[R, _FLAT]
# A time as a plain number since 1970, for records of which there are too many to make datetimes.
Microseconds = Annotated[int, datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CACHED = 1 << 18
_TYPES: Mapping[type, tuple[str, pa.DataType]] = {
    str: ("string", pa.string()),
    int: ("bigint", pa.int64()),
    bool: ("boolean", pa.bool_()),
    float: ("double", pa.float64()),
    datetime: ("timestamp", pa.timestamp("us", "UTC")),
}


@cache
def ddl(record: type) -> str:
    """A record's class as the columns of a Spark table: `task string, rows bigint, …`."""
    return ", ".join(f"{column.name} {column.spark}" for column in _columns(record))


@cache
def arrow(record: type) -> pa.Schema:
    """A record's class as an Arrow schema."""
    return pa.schema([pa.field(column.name, column.arrow) for column in _columns(record)])


@cache
def column_names(record: type) -> tuple[str, ...]:
    """The columns of a record's class, in the order of its fields."""
    return tuple(column.name for column in _columns(record))


@cache
def text_columns(record: type) -> tuple[str, ...]:
    """The columns of a record's class that are texts."""
    return tuple(field.name for field in arrow(record) if pa.types.is_string(field.type))


def row(record: Any) -> Row:
    """A record as a row: column -> value as Spark and Arrow take it."""
    values: Row = {}
    kind: Any = type(record)
    for column in _columns(kind):
        value = column.get(record)
        values[column.name] = value if column.stored is None else column.stored(value)
    return values


def record(kind: type[R], row: Mapping[str, Any]) -> R:
    """The record of a row; a column that the row lacks gets the field's default.

    Raises:
        ValueError: A value is none of those that an enumeration has.
    """
    values = {}
    record_class: Any = kind
    for field in _fields(record_class):
        if field.column in row:
            values[field.name] = field.value(row)
    return kind(**values)


def batch(kind: type, records: Iterable[Any]) -> pa.RecordBatch:
    """Records of one class as an Arrow batch."""
    listed = list(records)
    arrays = [_array(column, list(map(column.get, listed))) for column in _columns(kind)]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow(kind))


def _array(column: _Column, values: list[Any]) -> pa.Array[Any]:
    if column.inner is not None:
        # Nested records are made columns at once, without rows.
        ends = pa.array(accumulate(map(len, values), initial=0), pa.int32())
        rows = batch(column.inner, chain.from_iterable(values))
        structs = pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))
        return pa.ListArray.from_arrays(ends, structs)
    # Arrow takes a time as a number.
    if column.stored is not None and column.stored is not _time:
        values = list(map(column.stored, values))
    return pa.array(values, column.arrow)


class _Column(NamedTuple):
    """A column: its types, the path of its value in a record, and what is stored of the value.

    Attributes:
        inner: The class of the records that it has arrays of; None for another column.
    """

    name: str
    spark: str
    arrow: pa.DataType
    path: str
    get: Callable[[Any], Any]
    stored: Callable[[Any], Any] | None
    inner: Any = None


class _Field(NamedTuple):
    """A field: its first column, and how its value is made of its columns."""

    name: str
    column: str
    value: Callable[[Mapping[str, Any]], Any]


def _is_record(hint: Any) -> bool:
    return is_dataclass(hint) or hasattr(hint, "_fields")


def _defaults(kind: Any) -> dict[str, Any]:
    """The stored fields of a record's class, each with its default; MISSING where it has none."""
    if is_dataclass(kind):
        stored = (field for field in fields(kind) if field.metadata.get("stored", True))
        return {field.name: field.default for field in stored}
    return {name: kind._field_defaults.get(name, MISSING) for name in kind._fields}


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _flat_class(hint: Any) -> Any:
    """The record's class of a `Flat` field; None for another field."""
    return hint.__origin__ if _FLAT in getattr(hint, "__metadata__", ()) else None


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:
    hints = _hints(kind)
    return tuple(_field(name, hints[name], default) for name, default in _defaults(kind).items())


def _field(name: str, hint: Any, default: Any) -> _Field:
    if inner := _flat_class(hint):
        return _Field(name, column_names(inner)[0], lambda values: record(inner, values))
    if _plain_type(hint) is DatasetId:
        namespace, local = _dataset_columns(name)

        def read_dataset_id(row: Mapping[str, Any]) -> DatasetId | None:
            return None if row[namespace] is None else DatasetId(row[namespace], row[local])

        return _Field(name, namespace, read_dataset_id)
    restored = _decoder(hint)
    # A table that an earlier version wrote has no value where this one always has.
    empty = None if default is MISSING or default is None else default
    return _Field(
        name,
        name,
        lambda row: empty if row[name] is None else restored(row[name]),
    )


def _dataset_columns(field: str) -> tuple[str, str]:
    before = "" if field in ("id", "dataset") else field.removesuffix("dataset")
    before = before if not before or before.endswith("_") else f"{before}_"
    return f"{before}namespace", f"{before}name"


@cache
def _columns(kind: Any) -> tuple[_Column, ...]:
    columns: list[_Column] = []
    hints = _hints(kind)
    for name in _defaults(kind):
        hint = hints[name]
        if inner := _flat_class(hint):
            for column in _columns(inner):
                path = f"{name}.{column.path}"
                columns.append(column._replace(path=path, get=attrgetter(path)))
        elif _plain_type(hint) is DatasetId:
            columns += (
                _Column(column, *_TYPES[str], name, attrgetter(name), part)
                for column, part in zip(_dataset_columns(name), (_namespace, _name), strict=True)
            )
        else:
            items = get_args(hint)[0] if get_origin(hint) is tuple else None
            inner = items if _is_record(items) else None
            get = attrgetter(name)
            columns.append(_Column(name, *_type(hint), name, get, _encoder(hint), inner))
    return tuple(columns)


def _namespace(dataset: DatasetId | None) -> str | None:
    return None if dataset is None else dataset.namespace


def _name(dataset: DatasetId | None) -> str | None:
    return None if dataset is None else dataset.name


def _type(hint: Any) -> tuple[str, pa.DataType]:
    hint = _plain_type(hint)
    if hint == Microseconds:
        return _TYPES[datetime]
    if get_origin(hint) is tuple:
        spark, kind = _type(get_args(hint)[0])
        return f"array<{spark}>", pa.list_(kind)
    if hint is DatasetId:
        parts = [(name, *_TYPES[str]) for name in ("namespace", "name")]
    elif _is_record(hint):
        parts = [column[:3] for column in _columns(hint)]
    else:
        plain = str if issubclass(hint, Enum) and issubclass(hint, str) else hint
        return _TYPES[int if issubclass(hint, Enum) and issubclass(hint, int) else plain]
    inner = ", ".join(f"{name}: {spark}" for name, spark, _ in parts)
    return f"struct<{inner}>", pa.struct([pa.field(name, kind) for name, _, kind in parts])


def _plain_type(hint: Any) -> Any:
    """A type without its `| None`."""
    if get_origin(hint) in (Union, UnionType):
        return next(argument for argument in get_args(hint) if argument is not NoneType)
    return hint


def _encoder(hint: Any) -> Callable[[Any], Any] | None:
    """A function that gives what is stored of a value; None where it is the value."""
    hint = _plain_type(hint)
    if hint == Microseconds:
        return _time
    if get_origin(hint) is tuple:
        inner = _encoder(get_args(hint)[0])
        return list if inner is None else lambda values: [inner(value) for value in values]
    if hint is DatasetId:
        return lambda dataset: dataset and {"namespace": dataset.namespace, "name": dataset.name}
    if _is_record(hint):
        return lambda nested: None if nested is None else row(nested)
    if issubclass(hint, Enum):
        return lambda member: getattr(member, "value", member)
    return None


def _time(value: int | None) -> datetime | None:
    return None if value is None else _EPOCH + timedelta(microseconds=value)


def _decoder(hint: Any) -> Callable[[Any], Any]:
    hint = _plain_type(hint)
    if hint == Microseconds:
        return lambda value: (value - _EPOCH) // timedelta(microseconds=1)
    if get_origin(hint) is tuple:
        inner = _decoder(get_args(hint)[0])
        return lambda values: tuple(inner(value) for value in values)
    if hint is DatasetId:
        return lambda struct: DatasetId(struct["namespace"], struct["name"])
    if _is_record(hint):
        kind: Any = hint
        return lambda struct: record(kind, struct)
    if issubclass(hint, Enum):
        return lambda value: hint(value)
    return lambda value: value


def records(kind: type[R], table: pa.Table) -> list[R]:
    """The records of a table's rows, column by column; as `record` where that is not possible.

    Raises:
        ValueError: A value is none of those that an enumeration has.
    """
    record_class: Any = kind
    present = set(table.column_names)
    names, columns = [], []
    for field in _fields(record_class):
        if field.column in present:
            names.append(field.name)
            columns.append(_values(record_class, field, table))
    if not names:
        return []
    if names == list(_defaults(record_class))[: len(names)]:
        return list(map(record_class, *columns))
    return [
        record_class(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)
    ]


def column_edges(table: pa.Table) -> ColumnEdges:
    """The column edges of a table's rows.

    Raises:
        ValueError: A value is none of those that an enumeration has.
    """
    if not table.num_rows:
        return ColumnEdges(0, {})
    present = set(table.column_names)
    edge_fields = {
        each.name: edge_field(*_distinct_values(*_stored_values(ColumnEdge, each, table)))
        for each in _fields(ColumnEdge)
        if each.column in present
    }
    return ColumnEdges(table.num_rows, {**constant_fields(), **edge_fields})


def _all_empty(lists: pa.ChunkedArray[Any]) -> bool:
    return not pc.sum(pc.list_value_length(lists)).as_py()


def _python_values(
    column: pa.ChunkedArray[Any], restored: Callable[[Any], Any] = lambda value: value
) -> list[Any]:
    """The values of a flat column. Equal ones are one object: made once, and quickly compared.

    Args:
        restored: Makes of a value that is stored, or None, that of a record.
    """
    if pa.types.is_floating(column.type):
        return [*map(restored, column.to_pylist())]
    values, places = _distinct_values(column, restored)
    return [*map(values.__getitem__, places)]


def _distinct_values(
    column: pa.ChunkedArray[Any], restored: Callable[[Any], Any]
) -> tuple[list[Any], array[int]]:
    """The values of a flat column, each once as it is stored, and the place of each row's."""
    places, values = array("i"), list[Any]()
    if pa.types.is_dictionary(column.type) and not column.null_count:
        column = column.unify_dictionaries()
    else:
        column = _plain_texts(column).dictionary_encode(null_encoding="encode")
    chunks: list[Any] = column.chunks
    for chunk in chunks:
        # All chunks have one dictionary.
        values = values or [*map(restored, chunk.dictionary.to_pylist())]
        indices = memoryview(chunk.indices.buffers()[1]).cast("i")[chunk.offset :]
        places.frombytes(indices[: len(chunk)].cast("B"))
    return values, places


def _values(kind: Any, field: _Field, table: pa.Table) -> Iterable[Any]:
    hint = _plain_type(_hints(kind)[field.name])
    if hint is DatasetId:
        return _python_values(*_stored_values(kind, field, table))
    column: Any = table[field.column]  # pyarrow's stubs know nothing of a schema's types
    default = _defaults(kind)[field.name]
    empty = None if default is MISSING else default
    if column.null_count == len(column):
        return [empty] * len(column)
    if get_origin(hint) is tuple and not column.null_count:
        inner = get_args(hint)[0]
        if _all_empty(column):
            return [()] * len(column)  # As most are: no row is looked at.
        if _is_record(inner) and inner is not DatasetId:
            rest = iter(records(inner, pa.Table.from_struct_array(pc.list_flatten(column))))
            sizes = pc.list_value_length(column).to_pylist()
            return [tuple(islice(rest, size)) for size in sizes]
    if pa.types.is_nested(column.type) or _flat_class(_hints(kind)[field.name]):
        return [field.value(row) for row in table.select([field.column]).to_pylist()]
    return _python_values(*_stored_values(kind, field, table))


def _stored_values(
    kind: Any, field: _Field, table: pa.Table
) -> tuple[pa.ChunkedArray[Any], Callable[[Any], Any]]:
    """The flat column of a field, and what makes of a value in it, or of None, that of a record."""
    hint = _plain_type(_hints(kind)[field.name])
    if hint is DatasetId:
        namespaces, names = (table[column] for column in _dataset_columns(field.name))
        distinct = [*map(str, pc.unique(namespaces).to_pylist())]
        if len(distinct) == 1 and not namespaces.null_count:
            return names, lambda name: _dataset_of(f"{len(distinct[0])}:{distinct[0]}:{name}")
        return _dataset_texts(namespaces, names), _dataset_of
    column: Any = table[field.column]
    default = _defaults(kind)[field.name]
    empty = None if default is MISSING else default
    if pa.types.is_timestamp(column.type):
        microseconds = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        return microseconds, lambda at: _time(at) or empty
    is_enum = isinstance(hint, type) and issubclass(hint, Enum)
    restored = hint if is_enum else lambda value: value
    return column, lambda value: empty if value is None else restored(value)


def _plain_texts(column: Any) -> Any:
    """A column whose texts are no numbers and a dictionary."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _dataset_texts(namespaces: Any, names: Any) -> pa.ChunkedArray[Any]:
    """Each dataset of a column as one text: the length of its namespace stands before both."""
    columns = [column.cast(pa.string()) for column in (namespaces, names)]
    sizes: Any = pc.utf8_length(columns[0])
    texts: Any = pc.binary_join_element_wise(sizes.cast(pa.string()), *columns, ":")
    return texts


@lru_cache(_CACHED)
def _dataset_of(text: str | None) -> DatasetId | None:
    """The same object from all files: what is the same is known to be equal at once."""
    if text is None:
        return None
    size, _, both = text.partition(":")
    return DatasetId(both[: int(size)], both[int(size) + 1 :])
