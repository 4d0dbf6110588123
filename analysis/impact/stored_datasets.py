"""Datasets out of a file, made when they are asked for: making all takes longer than an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from dbt_graft.lineage.dataset import DatasetId


class StoredDatasets(Sequence[DatasetId]):
    """Datasets that are made when they are asked for.

    Args:
        namespaces: The distinct ones.
        of_dataset: Of each dataset the place of its namespace.
    """

    def __init__(
        self, namespaces: Sequence[str], of_dataset: Sequence[int], names: Sequence[str]
    ) -> None:
        self._namespaces, self._of_dataset, self._names = namespaces, of_dataset, names
        self._datasets: list[DatasetId | None] = [None] * len(names)

    def __len__(self) -> int:
        return len(self._datasets)

    @overload
    def __getitem__(self, index: int) -> DatasetId: ...

    @overload
    def __getitem__(self, index: slice) -> list[DatasetId]: ...

    def __getitem__(self, index: int | slice) -> DatasetId | list[DatasetId]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        dataset = self._datasets[index]
        if dataset is None:
            namespace = self._namespaces[self._of_dataset[index]]
            dataset = self._datasets[index] = DatasetId(namespace, self._names[index])
        return dataset

    def append(self, dataset: DatasetId) -> None:
        """Add a dataset."""
        self._datasets.append(dataset)
