"""Declarations about the dates of a dataset: its period, what a unit of it needs, its states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.dataset_kind import DatasetKind
from dbt_graft.lineage.dates.partition_mapping import MappingEvidence, Offsets, PartitionMapping
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen


@frozen
class DeclaredDates:
    """The dates of a dataset as people declare them.

    Attributes:
        period: The unit in which it is written, and in which offsets count.
        reads: Input -> the offsets of the first and the last unit that a unit of it needs; a grain
            where it adds to those before since the beginning of its month, its year…
        estimated, completed: Input -> the same for a state; None for whatever is the newest then.
    """

    period: Grain
    reads: Mapping[DatasetId, Offsets | Grain] = field(default_factory=dict)
    kind: DatasetKind | None = None
    estimated: Mapping[DatasetId, Offsets | None] = field(default_factory=dict)
    completed: Mapping[DatasetId, Offsets | None] = field(default_factory=dict)

    def mapping(self, source: DatasetId) -> PartitionMapping | None:
        """The declared mapping of an input, if there is one."""
        offsets = self.reads.get(source)
        if offsets is None:
            return None
        evidence = MappingEvidence.DECLARED
        if isinstance(offsets, Grain):
            to_date = (offsets, self.period)
            return PartitionMapping(self.period, 0, 0, evidence=evidence, units=to_date)
        return PartitionMapping(self.period, *offsets, evidence=evidence)
