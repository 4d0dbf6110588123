"""Faults, and the datasets downstream that have the data.

A fault goes over edges as a change does (`lineage.impact`): wrong values of a column reach what is
computed of it, and all rows of what is filtered, joined or grouped by it; old data makes all that
comes from it old.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from dbt_graft.analysis.impact.change import ImpactEffect
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.spread import ON_DATASET, steps_from
from dbt_graft.analysis.quality.faults import QualityFault
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

# Faults of a kind that are kept for a dataset: the nearest.
MOST = 3


@frozen
class ReachedFault:
    """A fault upstream of a dataset.

    Attributes:
        path: The datasets from that of the fault to this one, both included.
    """

    fault: QualityFault
    path: tuple[DatasetId, ...]


Faults = Mapping[DatasetId, Sequence[ReachedFault]]
_Visit = tuple[int, int, int]  # A state, a column or dataset in it, and the number of a fault.


def faults_downstream(
    graph: ImpactGraph,
    faults: Sequence[QualityFault],
    has_data: Callable[[DatasetId, DatasetId], bool],
) -> Faults:
    """For each dataset the faults upstream of it, the nearest first, a few of each kind.

    Args:
        has_data: Whether a dataset has what its parent was last written with: wrong data does not
            go on where it has not. Called with the parent and the dataset.
    """
    numbers_by_dataset: dict[int, list[int]] = defaultdict(list)
    before: dict[_Visit, _Visit | None] = {}
    first: dict[tuple[int, int], _Visit] = {}
    waiting: deque[_Visit] = deque()
    for number, fault in enumerate(faults):
        visit = (*_start(graph, fault), number)
        before[visit] = None
        waiting.append(visit)
    while waiting:
        visit = waiting.popleft()
        state, node, number = visit
        fault, here = faults[number], _dataset(graph, visit)
        start = graph.find_dataset(fault.dataset)
        successors = (
            (passed.state, there, number)
            for passed in steps_from(graph, state, [node]).steps
            for there in passed.nodes
        )
        for step in successors:
            there = _dataset(graph, step)
            if step in before or there == start:
                continue
            if number not in (reaching := numbers_by_dataset[there]):
                alike = sum(faults[other].kind is fault.kind for other in reaching)
                if alike >= MOST or not (
                    fault.kind.leaves_old_data
                    or has_data(graph.datasets[here], graph.datasets[there])
                ):
                    continue
                reaching.append(number)
                first[there, number] = step
            before[step] = visit
            waiting.append(step)
    return {
        graph.datasets[dataset]: tuple(
            ReachedFault(faults[number], _path(graph, before, first[dataset, number]))
            for number in numbers
        )
        for dataset, numbers in numbers_by_dataset.items()
        if numbers
    }


def _start(graph: ImpactGraph, fault: QualityFault) -> tuple[int, int]:
    """The state that a fault makes, and what is in it."""
    dataset = graph.dataset(fault.dataset)
    if fault.kind.leaves_old_data:
        return ON_DATASET | ImpactEffect.LATE, dataset
    if not fault.column:
        return ON_DATASET | ImpactEffect.ROWS, dataset
    return int(ImpactEffect.VALUES), graph.column(dataset, fault.column)


def _dataset(graph: ImpactGraph, visit: _Visit) -> int:
    return visit[1] if visit[0] & ON_DATASET else graph.dataset_of[visit[1]]


def _path(
    graph: ImpactGraph, before: Mapping[_Visit, _Visit | None], visit: _Visit | None
) -> tuple[DatasetId, ...]:
    path: list[DatasetId] = []
    while visit:
        dataset = graph.datasets[_dataset(graph, visit)]
        if not path or path[-1] != dataset:
            path.append(dataset)
        visit = before[visit]
    return tuple(reversed(path))


def nearest(faults: Iterable[ReachedFault]) -> list[ReachedFault]:
    """Faults by the length of their paths."""
    return sorted(faults, key=lambda fault: len(fault.path))
