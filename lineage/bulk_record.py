"""Records of which there are hundreds of thousands: frozen for the type checker alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def bulk_record(kind: type[T]) -> type[T]:
    """A frozen dataclass with slots that is made four times as fast as another.

    `dataclass(frozen=True)` calls `object.__setattr__` for each field of each object, which was a
    sixth of the time of a build. Here mypy alone keeps fields from being set.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
