"""The shape of a log source: what the pipeline calls, whatever the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt_graft.collectors.store.tables import Collected, Positions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class LogSource:
    """An entry of `collect` in `graft.yml`; the `source.py` of each collector returns one.

    Attributes:
        new_logs: The logs that a store with these positions does not have as they are now. Needs
            no JVM. Raises `GraftError` if they cannot be listed.
        collect: Reads them with Spark, lazily; None if there are none.
    """

    new_logs: Callable[[Positions], Sequence[object]]
    collect: Callable[[SparkSession, Positions], Collected | None]
