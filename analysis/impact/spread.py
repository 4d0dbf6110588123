"""Spread a change downstream: breadth first, over edges that are seen now before stale ones.

States are numbers, since a change may reach millions of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from dbt_graft.analysis.impact.change import ImpactEffect
from dbt_graft.analysis.impact.graph import KINDS, ImpactGraph, Need, kind_of
from dbt_graft.analysis.impact.steps import over_column_edge, over_flow
from dbt_graft.lineage.records import EdgeType, Subtype

# Of a state's number the bits of its effect.
BITS, _MASK = 4, 15
EFFECTS = tuple(ImpactEffect)
# Plain numbers: a walk compares millions of them.
_GONE, _LATE, _NAMED = map(int, (ImpactEffect.GONE, ImpactEffect.LATE, Need.NAMED))
_FLOW = -1  # in the place of an edge's kind: a flow whose columns do not count
# The state before, the task, the kind of the edge, the distance, and whether it is stale.
StateArrival = tuple[int | None, int, int, int, bool]
# The next state, its flow or -1, its task, the kind of the edge.
_Step = tuple[int, int, int, int]


class State(NamedTuple):
    """An effect on a column, or on a whole dataset where `column` is -1."""

    dataset: int
    column: int
    effect: ImpactEffect


class Arrival(NamedTuple):
    """The first way to a state, over a shortest path.

    Attributes:
        before: The state before; None for the change itself.
        task: The number of the task that carried it, -1 for the change itself.
        subtype: That of the column edge; None for a flow whose columns do not count.
        stale: It needs an edge that was not seen for long.
    """

    before: State | None
    task: int
    subtype: Subtype | None
    distance: int
    stale: bool


@dataclass(frozen=True, slots=True)
class Spread:
    """All that a change reaches.

    Attributes:
        flows: The flows that effects on columns took -> whether their columns are known.
        broken: Tasks whose statements name what is gone.
        unwritten: States of datasets that are not written because a statement fails.
        unaffected: Flows of known columns from datasets of which another column is gone.
        arrivals: The states by their numbers, those nearest first, stale ones last.
    """

    graph: ImpactGraph
    flows: dict[int, bool] = field(default_factory=dict)
    broken: set[int] = field(default_factory=set)
    unwritten: set[int] = field(default_factory=set)
    unaffected: set[int] = field(default_factory=set)
    arrivals: dict[int, StateArrival] = field(default_factory=dict)

    def states(self) -> Iterator[tuple[State, Arrival]]:
        """States with their arrivals, those nearest first; stale ones last."""
        for number in self.arrivals:
            yield state_of(self.graph, number), self._arrival(number)

    def state_at(self, number: int) -> tuple[State, Arrival]:
        """The state of a number, with its arrival."""
        return state_of(self.graph, number), self._arrival(number)

    def dataset_of(self, number: int) -> int:
        """The dataset of the state that a number stands for."""
        return self.graph.dataset_of[number >> BITS] if number >= 0 else ~number >> BITS

    def distance(self, number: int) -> int:
        """The number of steps to a state."""
        return self.arrivals[number][3]

    def is_stale(self, number: int) -> bool:
        """Whether the way to a state needs an edge that was not seen for long."""
        return self.arrivals[number][4]

    def arrival(self, state: State) -> Arrival:
        """The arrival of a state that was reached."""
        return self._arrival(state_number(state))

    def _arrival(self, number: int) -> Arrival:
        before, task, kind, distance, stale = self.arrivals[number]
        return Arrival(
            None if before is None else state_of(self.graph, before),
            task,
            None if kind == _FLOW else kind_of(kind).subtype,
            distance,
            stale,
        )


def state_number(state: State) -> int:
    """The number that stands for a state."""
    if state.column >= 0:
        return state.column << BITS | state.effect
    return ~(state.dataset << BITS | state.effect)


def state_of(graph: ImpactGraph, number: int) -> State:
    """The state that a number stands for."""
    code = number if number >= 0 else ~number
    effect = EFFECTS[code & _MASK]
    code >>= BITS
    return State(graph.dataset_of[code], code, effect) if number >= 0 else State(code, -1, effect)


def effect_of(number: int) -> int:
    """The effect of the state that a number stands for."""
    return (number if number >= 0 else ~number) & _MASK


def column_of(number: int) -> int:
    """The column of the state that a number stands for, which is one of a column."""
    return number >> BITS


def spread(graph: ImpactGraph, start: State, farthest: int | None = None) -> Spread:
    """All states that a change reaches.

    Args:
        start: The effect where the change is made.
        farthest: The most steps.
    """
    extent = Spread(graph)
    arrivals, is_stale = extent.arrivals, graph.flow_is_stale
    first = state_number(start)
    arrivals[first] = (None, -1, _FLOW, 0, False)
    fresh, waiting = deque([first]), deque[tuple[int, StateArrival]]()
    unwritten = extent.unwritten
    while fresh or waiting:
        if fresh:
            number = fresh.popleft()
        else:
            number, arrival = waiting.popleft()
            if number in arrivals:
                continue
            arrivals[number] = arrival
        _, _, _, distance, stale = arrivals[number]
        if distance == farthest:
            continue
        distance += 1
        is_gone = effect_of(number) == _GONE
        for after, flow, task, kind in next_steps(extent, number):
            if is_gone and after < 0 and ~after & _MASK == _LATE:
                unwritten.add(after)
            if after in arrivals:
                continue
            if flow >= 0 and is_stale[flow]:
                waiting.append((after, (number, task, kind, distance, True)))
            else:
                arrivals[after] = (number, task, kind, distance, stale)
                fresh.append(after)
    return extent


def next_steps(extent: Spread, number: int) -> list[_Step]:
    """The steps from a state; flows and tasks that break are noted in `extent`."""
    graph = extent.graph
    of_column = number >= 0
    if of_column:
        dataset, effect = graph.dataset_of[number >> BITS], number & _MASK
        steps = _over_edges(extent, dataset, number >> BITS, effect)
    else:
        dataset, effect, steps = ~number >> BITS, ~number & _MASK, []
    after = _over_flow(effect, of_column)
    if after is None:
        return steps
    targets, tasks = graph.flow_target, graph.flow_task
    using: Sequence[int] = ()
    if of_column and effect == _GONE and graph.use_task:
        using = graph.tasks_using(number >> BITS)
        extent.broken.update(using)
    for flow in graph.flows_from(dataset):
        if of_column:
            known = graph.flow_has_columns[flow] == 1
            if known and tasks[flow] not in using:
                if effect == _GONE:
                    extent.unaffected.add(flow)
                continue
            extent.flows[flow] = known
        elif effect == _GONE:
            extent.broken.add(tasks[flow])
        steps.append((~(targets[flow] << BITS | after), flow, tasks[flow], _FLOW))
    return steps


def _over_edges(extent: Spread, dataset: int, column: int, effect: int) -> list[_Step]:
    graph, steps = extent.graph, list[_Step]()
    carried, star, starts = _carried(effect), graph.stars.get(dataset), graph.edge_starts
    for source in (column,) if star is None else (column, star):
        if source + 1 >= len(starts):
            continue
        for edge in range(starts[source], starts[source + 1]):
            target, kind = graph.edge_target[edge], graph.edge_kind[edge]
            to_all = graph.is_star[target]
            if to_all and source == star and _is_direct(kind):
                target = _of_same_name(graph, column, target, kind)
                to_all = graph.is_star[target]
            after = carried[kind << 1 | to_all] if target >= 0 else None
            if after is None:
                continue
            task, flow = graph.edge_task[edge], graph.edge_flow[edge]
            if flow >= 0:
                extent.flows[flow] = True
            state = target << BITS | after if after >= 0 else _of_all(graph, target, ~after)
            steps.append((state, flow, task, kind))
            if effect == _GONE and (need := graph.edge_need[edge]):
                if need == _NAMED:
                    extent.broken.add(task)
                # Of what fails nothing is written, so the other columns are late.
                steps.append((_of_all(graph, target, _LATE), flow, task, kind))
    return steps


def _of_same_name(graph: ImpactGraph, column: int, star: int, kind: int) -> int:
    """The column behind an edge of columns that are not known one by one: `star` if it may be any.

    They go there under their own names; -1 where they are copied and there is none of the name.
    """
    there = graph.dataset_of[star]
    same = graph.find_column(there, graph.column_names[column])
    if same is None:
        return -1 if _is_copy(kind) and there in graph.has_schema else star
    return same


def _of_all(graph: ImpactGraph, column: int, effect: int) -> int:
    """The state of the whole dataset of a column."""
    return ~(graph.dataset_of[column] << BITS | effect)


@cache
def _carried(effect: int) -> Sequence[int | None]:
    """The effects behind edges by their kinds, to a column and to all; `~` of the dataset's."""
    effects: list[int | None] = [None] * (2 * (max(KINDS) + 1))
    for kind in KINDS:
        for to_all in (0, 1):
            carried = over_column_edge(EFFECTS[effect], kind_of(kind), all_columns=to_all == 1)
            if carried:
                after, on_dataset = carried
                effects[kind << 1 | to_all] = ~after if on_dataset else int(after)
    return effects


@cache
def _over_flow(effect: int, of_column: bool) -> int | None:
    after = over_flow(EFFECTS[effect], of_column=of_column)
    return None if after is None else int(after)


def _is_direct(kind: int) -> bool:
    return kind_of(kind).subtype.type is EdgeType.DIRECT


def _is_copy(kind: int) -> bool:
    return kind_of(kind).subtype is Subtype.IDENTITY
