"""The shortest path to what a change reaches; its steps are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from dbt_graft.analysis.impact.spread import Spread, state_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Subtype


@frozen
class ImpactStep:
    """A step of a path: the task, how it uses what comes, where from and where to.

    Attributes:
        subtype: That of the column edge; None for a flow of which only the datasets count.
        column: Empty where the whole dataset is meant.
    """

    task: str
    subtype: Subtype | None
    source: DatasetId
    dataset: DatasetId
    column: str


class ImpactPath(Sequence[ImpactStep]):
    """The steps of the path to a state, which is equal to another one of the same steps.

    Args:
        place: That of the state.
        shared: The steps that were made before: paths that begin alike share theirs.
        last: One more step, over a further way to a state.
    """

    __slots__ = ("_last", "_place", "_shared", "_spread")

    def __init__(
        self,
        spread: Spread,
        place: int,
        shared: dict[int, ImpactStep],
        last: ImpactStep | None = None,
    ) -> None:
        self._spread, self._place, self._shared, self._last = spread, place, shared, last

    def __len__(self) -> int:
        return self._spread.distances[self._place] + (self._last is not None)

    @overload
    def __getitem__(self, index: int) -> ImpactStep: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ImpactStep, ...]: ...

    def __getitem__(self, index: int | slice) -> ImpactStep | tuple[ImpactStep, ...]:
        return self._steps()[index]

    def __iter__(self) -> Iterator[ImpactStep]:
        return iter(self._steps())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._steps() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._steps())

    def __repr__(self) -> str:
        return repr(self._steps())

    def _steps(self) -> tuple[ImpactStep, ...]:
        steps = [self._last] if self._last else []
        spread, place, shared = self._spread, self._place, self._shared
        while place:
            before = spread.before[place]
            if (step := shared.get(place)) is None:
                state = spread.states[place]
                step = shared[place] = step_over(spread, state, before, spread.ways[state])
            steps.append(step)
            place = before
        return tuple(reversed(steps))


def step_over(spread: Spread, state: int, before: int, way: int) -> ImpactStep:
    """The step to a state.

    Args:
        before: The place of the state before.
    """
    graph = spread.graph
    source, target = state_of(graph, spread.states[before]), state_of(graph, state)
    return ImpactStep(
        graph.tasks[spread.task(way)],
        spread.subtype(way),
        graph.datasets[source.dataset],
        graph.datasets[target.dataset],
        graph.column_names[target.column] if target.column >= 0 else "",
    )
