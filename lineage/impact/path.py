"""The shortest path to what a change reaches; its steps are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.impact.spread import Spread
from dbt_graft.lineage.records import Subtype


@dataclass(frozen=True, slots=True)
class ImpactStep:
    """A step of a path: the task, how it uses what comes, and where it goes.

    Attributes:
        subtype: That of the column edge; None for a flow of which only the datasets count.
        column: Empty where the whole dataset is meant.
    """

    task: str
    subtype: Subtype | None
    dataset: DatasetId
    column: str


class ImpactPath(Sequence[ImpactStep]):
    """The steps of the path to a state, which is equal to another one of the same steps."""

    __slots__ = ("_found", "_state")

    def __init__(self, found: Spread, state: int) -> None:
        self._found, self._state = found, state

    def __len__(self) -> int:
        return self._found.distance(self._state)

    @overload
    def __getitem__(self, place: int) -> ImpactStep: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[ImpactStep, ...]: ...

    def __getitem__(self, place: int | slice) -> ImpactStep | tuple[ImpactStep, ...]:
        return self._steps()[place]

    def __iter__(self) -> Iterator[ImpactStep]:
        return iter(self._steps())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._steps() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._steps())

    def __repr__(self) -> str:
        return repr(self._steps())

    def _steps(self) -> tuple[ImpactStep, ...]:
        graph, steps = self._found.graph, []
        state, arrival = self._found.state_at(self._state)
        while arrival.before is not None:
            column = graph.column_names[state.column] if state.column >= 0 else ""
            task, dataset = graph.tasks[arrival.task], graph.datasets[state.dataset]
            steps.append(ImpactStep(task, arrival.subtype, dataset, column))
            state, arrival = arrival.before, self._found.arrival(arrival.before)
        return tuple(reversed(steps))
