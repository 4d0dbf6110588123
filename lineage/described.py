"""The lineage with what people wrote of it, which every question is asked of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.model import Lineage


@dataclass(frozen=True)
class DescribedLineage:
    """The lineage with what dbt and YAML say of it."""

    lineage: Lineage
    descriptions: Mapping[DatasetId, Description] = field(default_factory=dict)
    consumers: Sequence[Consumer] = ()

    @cached_property
    def column_graph(self) -> ColumnGraph:
        """Its columns, down to those who read them."""
        edges, datasets = self.lineage.column_edges, self.lineage.datasets.values()
        return ColumnGraph(edges, datasets, self.consumers)
