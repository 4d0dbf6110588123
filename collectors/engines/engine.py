"""The few verbs that reading logs needs of an engine, whatever it is.

What is made of a log is decided by the functions that an engine is given, and they are the same on
each. Engines differ in how they divide rows, send them about and gather them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

import pyarrow as pa

from dbt_graft.collectors.engines.results import Results

Batches: TypeAlias = Iterator[pa.RecordBatch]
# Work on the rows of one partition; it can be pickled.
Work: TypeAlias = Callable[[Batches], Batches]


class Count(Protocol):
    """A number that workers add to and this process reads."""

    @property
    def value(self) -> int:
        """The sum so far."""
        ...

    def add(self, number: int) -> None:
        """Add a number."""
        ...


class EngineRows(Protocol):
    """Rows in partitions."""

    def map(self, work: Work, kind: type) -> EngineRows:
        """The batches of records of a class that work makes of each partition."""
        ...

    def union(self, others: pa.Table) -> EngineRows:
        """These and other rows, by the names of columns; one that is missing is null."""
        ...

    def group(self, by: Sequence[str], apart: str, order: Sequence[str]) -> EngineRows:
        """Rows in other partitions, in order.

        Args:
            by: Rows that are equal in these columns are in one partition; where the last of them is
                empty, only those that are equal in `apart` too.
            order: Within equal rows.
        """
        ...

    def gather(self) -> pa.Table:
        """All rows, in the memory of this process."""
        ...

    def results(self) -> Results:
        """The results of reading logs, each with the records in a part of a log."""
        ...


class Engine(Protocol):
    """Works on rows, with as many processes as it has."""

    def spread(self, rows: pa.Table, partitions: int, size: int) -> EngineRows:
        """Rows for workers, divided.

        Args:
            size: The bytes of the logs that the rows name.
        """
        ...

    def count(self) -> Count | None:
        """A new count; None where workers cannot pass one on."""
        ...
