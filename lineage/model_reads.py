"""The reads and writes of dbt's own runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId


@dataclass(frozen=True, slots=True)
class ModelReads:
    """A table that dbt's runs write.

    Attributes:
        runs: How many runs wrote it.
        last_at: The last time.
        sources: What statements that wrote it read -> the last time.
    """

    dataset: DatasetId
    runs: int
    last_at: datetime | None
    sources: tuple[tuple[DatasetId, datetime | None], ...] = ()


def join_reads(a: Sequence[ModelReads], b: Sequence[ModelReads]) -> tuple[ModelReads, ...]:
    """The reads of both; of a dataset that both have those of the first."""
    datasets = {reads.dataset for reads in a}
    return (*a, *(reads for reads in b if reads.dataset not in datasets))


def later_time(a: datetime | None, b: datetime | None) -> datetime | None:
    """The later of two times; None where neither is known."""
    return max((at for at in (a, b) if at), default=None)
