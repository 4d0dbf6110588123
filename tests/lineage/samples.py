"""Records with something in each field, made from the types of the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from itertools import count
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from dbt_graft.lineage.dataset import DatasetId, LoggedName


class Samples:
    """A source of values, no two of which are equal.

    Attributes:
        datasets: The datasets in values that were made, apart from names as logs spell them.
        logged: Those names.
    """

    def __init__(self, first: int = 1) -> None:
        self._numbers = count(first)
        self.datasets: list[DatasetId] = []
        self.logged: list[DatasetId] = []

    def make(self, hint: Any) -> Any:
        """A value of a type, with one item in each tuple and mapping."""
        origin, parts = get_origin(hint), get_args(hint)
        if hint is DatasetId or hint == LoggedName:
            made = DatasetId("spark", f"db.t{next(self._numbers)}")
            (self.datasets if hint is DatasetId else self.logged).append(made)
            return made
        if is_dataclass(hint):
            hints = get_type_hints(hint, include_extras=True)
            return hint(**{part.name: self.make(hints[part.name]) for part in fields(hint)})
        if origin is tuple:
            return tuple(self.make(part) for part in parts if part is not Ellipsis)
        if origin is Sequence:
            return tuple(map(self.make, parts))
        if origin is Mapping:
            return {self.make(parts[0]): self.make(parts[1])}
        if parts:
            return self.make(next(part for part in parts if part is not NoneType))
        return self._plain(hint)

    def _plain(self, hint: Any) -> Any:
        if issubclass(hint, Enum):
            return next(iter(hint))
        if hint is datetime:
            return datetime(2026, 1, 1, microsecond=next(self._numbers), tzinfo=UTC)
        return True if hint is bool else hint(next(self._numbers))
