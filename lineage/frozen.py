"""Frozen classes: frozen for the type checker alone, and cheap to make.

Every command imports some hundred of them. `dataclass(frozen=True, slots=True)` compiles six
methods for each, which was a third of the time of a short answer, and its objects set each field
by a call. Here only `__init__` is compiled, and sets fields as any class does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T], /) -> type[T]: ...


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, kw_only: bool) -> Callable[[type[T]], type[T]]: ...


def frozen(kind: Any = None, /, *, kw_only: bool = False) -> Any:
    """A frozen dataclass with slots; methods that the class has itself are left alone."""
    if kind is None:
        return lambda decorated: _frozen(decorated, kw_only=kw_only)
    return _frozen(kind, kw_only=kw_only)


def _frozen(kind: type[T], *, kw_only: bool) -> type[T]:
    # Without a text it would be the signature, which takes longer than all the rest.
    kind.__doc__ = kind.__doc__ or kind.__name__
    own = {*kind.__dict__}
    if "__eq__" in own and kind.__dict__["__hash__"] is None:
        own.discard("__hash__")
    made: Any = dataclass(slots=True, repr=False, eq=False, kw_only=kw_only)(kind)
    compared = _values(each.name for each in fields(made) if each.compare)
    hashed = _values(
        each.name for each in fields(made) if (each.compare if each.hash is None else each.hash)
    )
    shown = [each.name for each in fields(made) if each.repr]

    def equals(self: T, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def hashes(self: T) -> int:
        return hash(hashed(self))

    def represents(self: T) -> str:
        text = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({text})"

    for name, method in (("__eq__", equals), ("__hash__", hashes), ("__repr__", represents)):
        if name not in own:
            setattr(made, name, method)
    frozen_kind: type[T] = made
    return frozen_kind


def _values(names: Iterable[str]) -> Callable[[object], Any]:
    listed = [*names]
    return attrgetter(*listed) if listed else lambda _: ()
