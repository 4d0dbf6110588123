"""Values of our own types as bytes: a pickle of which nothing else is read."""

from __future__ import annotations

import io
import logging
import pickle
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import chain, compress, count, islice, repeat
from operator import attrgetter, is_, is_not, methodcaller
from typing import Any
from zoneinfo import ZoneInfo

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.garbage import without_garbage_collection

_VALUES = {
    ("builtins", "frozenset"),
    ("builtins", "set"),
    ("collections", "defaultdict"),
    ("datetime", "date"),
    ("datetime", "datetime"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
    ("zoneinfo", "ZoneInfo"),
}
_MANY = 1000
_reduction: Callable[[Any], tuple[Any, ...]] = methodcaller(
    "__reduce_ex__", pickle.HIGHEST_PROTOCOL
)
_log = logging.getLogger(__name__)


def dump_values(value: Any) -> bytes:
    """A value as bytes."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _Reductions(
        {
            ZoneInfo: lambda zone: (ZoneInfo, (zone.key,)),
            array: lambda numbers: (_numbers, (numbers.typecode, numbers.tobytes())),
        }
    )
    pickler.dump(value)
    return content.getvalue()


def load_values(content: bytes | memoryview) -> Any:
    """The value that these bytes are of; None if they are of none."""
    try:
        with without_garbage_collection():
            return _OwnValues(io.BytesIO(content)).load()
    except (pickle.UnpicklingError, LookupError, TypeError, ValueError, AttributeError) as error:
        _log.debug("values are made again: %s", error)
        return None


class _Reductions(dict[type, Callable[[Any], tuple[Any, ...]]]):
    """Types -> what makes a value of the type again.

    Of a dataclass its arguments: its own way looks the fields up again for each of a million.
    """

    def __init__(self, others: Mapping[type, Callable[[Any], tuple[Any, ...]]]) -> None:
        super().__init__(others)
        self._rows = _RowWriter()

    def __missing__(self, kind: type) -> Callable[[Any], tuple[Any, ...]]:
        if issubclass(kind, type):
            raise KeyError(kind)  # Classes are written by their names.
        if not is_dataclass(kind) or any(field.kw_only for field in fields(kind)):
            self[kind] = _reduction  # An error for each of them would take longer.
            return _reduction
        arguments = _arguments(kind)
        has_rows = any(str(field.type).startswith(("tuple[", "Mapping[")) for field in fields(kind))

        def reduction(value: object) -> tuple[Any, ...]:
            return kind, arguments(value)

        def reduction_of_rows(value: object) -> tuple[Any, ...]:
            return kind, tuple([self._rows.write(argument) for argument in arguments(value)])

        self[kind] = reduction_of_rows if has_rows else reduction
        return self[kind]


class _MadeValue:
    """A value that is made of others by a function of this module."""

    def __init__(self, make: Callable[..., Any], *parts: Any) -> None:
        self._reduced = make, parts

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reduced


class _RowWriter:
    """Writes very many records field by field: a pickle has each value in a loop of its own.

    Many tuples have most of their records in common; these are written once.
    """

    def __init__(self) -> None:
        self._written: list[tuple[tuple[Any, ...], _MadeValue]] = []

    def write(self, values: Any) -> Any:
        """The values, or what makes them of their fields."""
        if values.__class__ is dict and len(values) >= _MANY:
            records = tuple(values.values())
            written = self.write(records)
            return values if written is records else _MadeValue(_entries, [*values], written)
        if values.__class__ is not tuple or len(values) < _MANY:
            return values
        kind = values[0].__class__
        if kind is DatasetId or not is_dataclass(kind) or {*map(type, values)} != {kind}:
            return values
        made = self._as_changed(values)
        if made is None:
            names = [field.name for field in fields(kind) if field.init]
            columns = (self._column([*map(attrgetter(name), values)]) for name in names)
            made = _MadeValue(_rows, kind, len(values), *columns)
            self._written.append((values, made))
        return made

    def _as_changed(self, values: tuple[Any, ...]) -> _MadeValue | None:
        """The values as those of a tuple before, but for few of them."""
        for before, made in self._written:
            if len(before) == len(values) and before[0].__class__ is values[0].__class__:
                others = [*compress(count(), map(is_not, before, values))]
                if len(others) < len(values) // 2:
                    return _MadeValue(_changed, made, others, [values[place] for place in others])
        return None

    def _column(self, values: list[Any]) -> Any:
        first = values[0]
        if all(map(is_, values, repeat(first))):
            return (first,)
        if first.__class__ is tuple and {*map(type, values)} == {tuple}:
            items, sizes = tuple(chain.from_iterable(values)), [*map(len, values)]
            written = self.write(items)
            if written is not items:
                return _MadeValue(_parts, sizes, written)
            if sizes.count(1) == len(sizes):
                return _MadeValue(_singles, len(items), self._column([*items]))
        return values


def _rows(kind: Callable[..., Any], count: int, *columns: Sequence[Any]) -> tuple[Any, ...]:
    """Records; a column of one value has it in all of them."""
    return tuple(map(kind, *(_full(column, count) for column in columns)))


def _full(column: Sequence[Any], count: int) -> Iterable[Any]:
    return repeat(column[0], count) if len(column) < count else column


def _singles(count: int, column: Sequence[Any]) -> list[tuple[Any]]:
    """Values in tuples of one."""
    return [*zip(_full(column, count))]


def _changed(
    values: tuple[Any, ...], places: Iterable[int], others: Iterable[Any]
) -> tuple[Any, ...]:
    """Values with others at some places."""
    changed = [*values]
    for place, value in zip(places, others, strict=True):
        changed[place] = value
    return tuple(changed)


def _parts(sizes: Iterable[int], values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Values in tuples of these sizes."""
    rest = iter(values)
    return [tuple(islice(rest, size)) for size in sizes]


def _numbers(typecode: Any, content: bytes) -> array[int]:
    return array(typecode, content)


def _entries(keys: Iterable[Any], values: Iterable[Any]) -> dict[Any, Any]:
    return dict(zip(keys, values, strict=True))


_MAKERS = {
    maker.__name__: maker for maker in (_rows, _changed, _parts, _singles, _entries, _numbers)
}


def _arguments(kind: type) -> Callable[[object], tuple[Any, ...]]:
    names = [field.name for field in fields(kind) if field.init]
    if len(names) == 1:
        return lambda value: (getattr(value, names[0]),)
    return attrgetter(*names)


class _OwnValues(pickle.Unpickler):
    """Reads values of our own types and no others, so that a file can run nothing."""

    def find_class(self, module: str, name: str) -> Any:
        """A type by its name.

        Raises:
            UnpicklingError: It is not one of ours.
        """
        if (module, name) == ("builtins", "getattr"):
            return _member
        if module == __name__ and name in _MAKERS:
            return _MAKERS[name]
        if (module, name) in _VALUES:
            return super().find_class(module, name)
        match = super().find_class(module, name) if module.startswith("dbt_graft.") else None
        if isinstance(match, type) and (is_dataclass(match) or issubclass(match, Enum | tuple)):
            return match
        raise pickle.UnpicklingError(f"{module}.{name} is no value of ours")


def _member(kind: type, name: str) -> Any:
    """A member of an enumeration, which Python 3.11 pickles by `getattr`."""
    if not issubclass(kind, Enum):
        raise pickle.UnpicklingError(f"{kind} is no enumeration")
    return kind[name]
