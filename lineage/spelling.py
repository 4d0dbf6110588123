"""One spelling for each dataset: logs, name rules and dbt may write a name in different case.

Ids of both spellings are equal, so look-ups find either; what is shown would depend on which of
them comes first. Here every id gets the spelling of the first that is equal to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import ColumnEdge, Dataset
from dbt_graft.lineage.usage import Usage

V = TypeVar("V")


class Spelling:
    """The spelling of each dataset: that of the first of `names` which is equal to it."""

    def __init__(self, names: Iterable[DatasetId] = ()) -> None:
        self._names: dict[DatasetId, DatasetId] = {}
        for name in names:
            self._names.setdefault(name, name)

    def __call__(self, dataset: DatasetId) -> DatasetId:
        """The dataset as it is spelled; the first spelling met counts for unknown ones."""
        return self._names.setdefault(dataset, dataset)

    def all(self, datasets: Iterable[DatasetId]) -> tuple[DatasetId, ...]:
        """Several datasets, in their order."""
        return tuple(map(self, datasets))

    def keys(self, mapping: Mapping[DatasetId, V]) -> dict[DatasetId, V]:
        """The mapping with its keys spelled."""
        return {self(dataset): value for dataset, value in mapping.items()}

    def spell_dataset(self, dataset: Dataset) -> Dataset:
        """A record of a dataset with its own name and its symlinks spelled."""
        return replace(dataset, id=self(dataset.id), symlinks=self.all(dataset.symlinks))

    def spell_usage(self, usage: Usage) -> Usage:
        """A usage with its dataset spelled."""
        spelled = self(usage.dataset)
        return usage if spelled is usage.dataset else replace(usage, dataset=spelled)

    def spell_flow(self, flow: Flow) -> Flow:
        """A flow with its ends and hops spelled."""
        source, target = self(flow.source), self(flow.target)
        if source is flow.source and target is flow.target and not flow.hops:
            return flow
        return replace(flow, source=source, target=target, hops=self.all(flow.hops))

    def spell_edge(self, edge: ColumnEdge) -> ColumnEdge:
        """A column edge with both datasets spelled."""
        to, source = self(edge.to_dataset), self(edge.from_dataset)
        if to is edge.to_dataset and source is edge.from_dataset:
            return edge
        return replace(edge, to_dataset=to, from_dataset=source)

    def spell_definition(self, definition: Definition) -> Definition:
        """A definition with the dataset it makes and those it reads spelled."""
        return replace(
            definition, dataset=self(definition.dataset), reads=self.all(definition.reads)
        )
