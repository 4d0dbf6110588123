"""Values of our own types as bytes: a pickle of which nothing else is read."""

from __future__ import annotations

import io
import logging
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from operator import attrgetter, methodcaller
from typing import Any
from zoneinfo import ZoneInfo

from dbt_graft.graft.project.garbage import without_garbage_collection

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
_reduction: Callable[[Any], tuple[Any, ...]] = methodcaller(
    "__reduce_ex__", pickle.HIGHEST_PROTOCOL
)
_log = logging.getLogger(__name__)


def dump_values(value: Any) -> bytes:
    """A value as bytes."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _Reductions({ZoneInfo: lambda zone: (ZoneInfo, (zone.key,))})
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

    def __missing__(self, kind: type) -> Callable[[Any], tuple[Any, ...]]:
        if issubclass(kind, type):
            raise KeyError(kind)  # Classes are written by their names.
        if not is_dataclass(kind) or any(field.kw_only for field in fields(kind)):
            self[kind] = _reduction  # An error for each of them would take longer.
            return _reduction
        names = [field.name for field in fields(kind) if field.init]
        arguments = attrgetter(*names)
        is_alone = len(names) == 1

        def parts(value: object) -> tuple[Any, ...]:
            return kind, (arguments(value),) if is_alone else arguments(value)

        self[kind] = parts
        return parts


class _OwnValues(pickle.Unpickler):
    """Reads values of our own types and no others, so that a file can run nothing."""

    def find_class(self, module: str, name: str) -> Any:
        """A type by its name.

        Raises:
            UnpicklingError: It is not one of ours.
        """
        if (module, name) == ("builtins", "getattr"):
            return _member
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
