"""The shortest path to what a change reaches; its steps are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from dbt_graft.analysis.impact.spread import Spread
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Subtype


@dataclass(frozen=True, slots=True)
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
        shared: The steps that were made before: paths that begin alike share theirs.
    """

    __slots__ = ("_shared", "_spread", "_state")

    def __init__(self, spread: Spread, state: int, shared: dict[int, ImpactStep]) -> None:
        self._spread, self._state, self._shared = spread, state, shared

    def __len__(self) -> int:
        return self._spread.distance(self._state)

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
        arrivals, steps, number = self._spread.arrivals, list[ImpactStep](), self._state
        shared = self._shared
        while (before := arrivals[number][0]) is not None:
            if (step := shared.get(number)) is None:
                step = shared[number] = _step(self._spread, before, number)
            steps.append(step)
            number = before
        steps.reverse()
        return tuple(steps)


def _step(spread: Spread, before: int, number: int) -> ImpactStep:
    graph = spread.graph
    state, arrival = spread.state_at(number)
    return ImpactStep(
        graph.tasks[arrival.task],
        arrival.subtype,
        graph.datasets[spread.dataset_of(before)],
        graph.datasets[state.dataset],
        graph.column_names[state.column] if state.column >= 0 else "",
    )
