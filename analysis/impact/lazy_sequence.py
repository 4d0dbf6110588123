"""A sequence whose elements are made when they are asked for: of very many, few are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")
K = TypeVar("K")


class LazySequence(Sequence[T], Generic[K, T]):
    """The results of a function on keys, in their order; equal to another sequence of the same."""

    __slots__ = ("_keys", "_make")

    def __init__(self, keys: Sequence[K], make: Callable[[K], T]) -> None:
        self._keys, self._make = keys, make

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(map(self._make, self._keys[index]))
        return self._make(self._keys[index])

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))
