"""The shape of a log source: what the pipeline calls, whatever the engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt_graft.collectors.store.tables import Collected, Positions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Before the position of a log that is to be read again. No log has such a position, so it is new.
_STALE = "again "


@dataclass(frozen=True, slots=True)
class LogSource:
    """An entry of `collect` in `graft.yml`; the `source.py` of each collector returns one.

    Attributes:
        new_logs: The logs that a store with these positions does not have as they are now. Needs
            no JVM. Raises `GraftError` if they cannot be listed.
        collect: Reads them with Spark, lazily; None if there are none.
        label: The prefix of its origins; `is_below` tells whether one is.
    """

    new_logs: Callable[[Positions], Sequence[object]]
    collect: Callable[[SparkSession, Positions], Collected | None]
    label: str = ""


def is_below(origin: str, label: str) -> bool:
    """Whether an origin is of the source with a label."""
    top = label.rstrip("/")
    return origin == top or origin.startswith((f"{top}/", f"{top}#", f"{top}@"))


def to_read_again(known: Positions, labels: Collection[str]) -> dict[str, tuple[str, int]]:
    """Positions in which the logs of some sources are to be read again.

    What these sources no longer show keeps its records: nothing is read that would replace them.
    """
    return {
        origin: (
            (f"{_STALE}{position}", events)
            if any(is_below(origin, label) for label in labels)
            else (position, events)
        )
        for origin, (position, events) in known.items()
    }


def is_stale(position: str) -> bool:
    """Whether a position is that of a log that is to be read again."""
    return position.startswith(_STALE)


def position_before(position: str) -> str:
    """The position that a log had before it was to be read again."""
    return position.removeprefix(_STALE)
