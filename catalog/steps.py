"""The datasets upstream and downstream of one, to the end of the line, by step.

Complete lists on every page would make a site grow with the square of its datasets. A page lists
the first datasets of each step and counts the others, up to a limit; the explorer shows them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.graph import Graph

# Datasets that are counted in one direction, and those listed: of one step at most, of each step
# at least, and how many more of all steps together.
MAX_COUNTED: Final = 1_000
_MAX_LISTED, _LEAST, _SHARED = 50, 3, 60
# Steps that are listed; a chain of tables may be longer.
_MAX_STEPS = 20


@dataclass(frozen=True, slots=True)
class LineageStep:
    """Datasets at one distance, by their numbers; `omitted` more of them are not listed."""

    distance: int
    numbers: Sequence[int]
    omitted: int


@dataclass(frozen=True, slots=True)
class LineageSteps:
    """All datasets in one direction, nearest first.

    Attributes:
        steps: The steps that are listed.
        total: The number of datasets, as far as they were counted.
        is_complete: It is the number of all of them.
        distance: The steps to the furthest dataset that was counted.
    """

    steps: Sequence[LineageStep] = ()
    total: int = 0
    is_complete: bool = True
    distance: int = 0

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def omitted(self) -> int:
        """The number of datasets that were counted and are not listed."""
        return self.total - sum(len(step.numbers) for step in self.steps)


class DatasetSteps:
    """The steps from any dataset.

    Datasets are numbers here, in their order: a page of each dataset walks far.

    Attributes:
        datasets: Each dataset at its number.
    """

    def __init__(self, graph: Graph[DatasetId]) -> None:
        self.datasets = graph.nodes
        numbers = {dataset: number for number, dataset in enumerate(self.datasets)}
        self._numbers = numbers
        self._parents = [
            [numbers[parent] for parent in graph.parents(node)] for node in self.datasets
        ]
        self._children = [
            [numbers[child] for child in graph.children(node)] for node in self.datasets
        ]

    def upstream(self, dataset: DatasetId) -> LineageSteps:
        """The datasets that it comes from."""
        return self._steps(self._parents, dataset)

    def downstream(self, dataset: DatasetId) -> LineageSteps:
        """The datasets that come from it."""
        return self._steps(self._children, dataset)

    def _steps(self, neighbours: Sequence[Sequence[int]], dataset: DatasetId) -> LineageSteps:
        if (start := self._numbers.get(dataset)) is None:
            return LineageSteps()
        seen, levels = {start}, [[start]]
        while levels[-1] and len(seen) <= MAX_COUNTED:
            level: list[int] = []
            for number in levels[-1]:
                for other in neighbours[number]:
                    if other not in seen:
                        seen.add(other)
                        level.append(other)
            levels.append(sorted(level))
        reached = [level for level in levels[1:] if level]
        steps, shared = [], _SHARED
        for distance, level in enumerate(reached[:_MAX_STEPS], 1):
            extra = max(0, min(len(level) - _LEAST, shared, _MAX_LISTED - _LEAST))
            shared -= extra
            listed = level[: _LEAST + extra]
            steps.append(LineageStep(distance, listed, len(level) - len(listed)))
        return LineageSteps(steps, len(seen) - 1, not levels[-1], len(reached))
