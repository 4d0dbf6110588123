"""Metrics of executions, by accumulator.

An accumulator belongs to the execution that updates it first: scans below a cached relation repeat
the metrics of the execution that filled the cache. When that execution is settled, its metrics are
freed, and one bit each remembers that they had an owner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

_BITS = 10


@dataclass(slots=True)
class Metrics:
    """The last value of each accumulator of the executions that are not settled yet.

    Attributes:
        values: The value and the owning execution, by accumulator.
        owned: The accumulators, by execution.
        gone: Bits of the accumulators of settled executions, 1,024 a number.
    """

    values: dict[int, tuple[int, int]] = field(default_factory=dict)
    owned: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    gone: dict[int, int] = field(default_factory=dict)

    def __contains__(self, accumulator: int | None) -> bool:
        """Whether any execution updated it."""
        return accumulator is not None and (
            accumulator in self.values or self._is_gone(accumulator)
        )

    def count_of(self, execution: int, accumulator: int | None) -> int | None:
        """The value that this execution counted; None where it counted none."""
        if accumulator is None:
            return None
        value, owner = self.values.get(accumulator, (0, -1))
        return value if owner == execution else None

    def count(self, execution: int, updates: Iterable[tuple[int, int]]) -> None:
        """Take updates from an execution.

        Raises:
            TypeError: Something is no number; the updates before it count.
        """
        for accumulator, value in updates:
            if type(accumulator) is not int or type(value) is not int:
                raise TypeError("no number")
            _, owner = self.values.get(accumulator, (0, None))
            if owner is None and not self._is_gone(accumulator):
                owner = execution
                self.owned[execution].append(accumulator)
            if owner == execution:
                self.values[accumulator] = (value, execution)

    def settle(self, execution: int) -> None:
        """Free an execution's metrics."""
        for accumulator in self.owned.pop(execution, ()):
            del self.values[accumulator]
            page, bit = divmod(accumulator, 1 << _BITS)
            self.gone[page] = self.gone.get(page, 0) | 1 << bit

    def _is_gone(self, accumulator: int) -> bool:
        page, bit = divmod(accumulator, 1 << _BITS)
        return bool(self.gone.get(page, 0) >> bit & 1)
