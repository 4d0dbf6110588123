"""Spread a change downstream: breadth first, over edges that are seen now before stale ones.

States are numbers, since a change may reach millions of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from dbt_graft.analysis.impact.change import ImpactEffect
from dbt_graft.analysis.impact.graph import KINDS, TO_ALL, ImpactGraph, Need, kind_of
from dbt_graft.analysis.impact.steps import over_column_edge, over_flow
from dbt_graft.lineage.records import EdgeType, Subtype

# Of a state's number the bits of its effect.
BITS, MASK = 4, 15
EFFECTS = tuple(ImpactEffect)
# Plain numbers: a walk compares millions of them.
_GONE, _LATE, _NAMED = map(int, (ImpactEffect.GONE, ImpactEffect.LATE, Need.NAMED))
_ON_DATASET = MASK + 1  # in the place of an effect's bit: the whole dataset has it
_ENDS = 255
_NO_FLOW = -1


class State(NamedTuple):
    """An effect on a column, or on a whole dataset where `column` is -1."""

    dataset: int
    column: int
    effect: ImpactEffect


class StateSteps:
    """The steps from state to state, and what they pass, whether it is new or not.

    A way is the place of a column edge, or `~` that of a flow whose columns do not count.

    Args:
        take: Called with each next state and the way to it.

    Attributes:
        broken: Tasks whose statements name what is gone.
        unwritten: Datasets that are not written because a statement fails.
    """

    def __init__(self, graph: ImpactGraph, take: Callable[[int, int], object]) -> None:
        self._graph, self._take = graph, take
        # Under names of their own, as each is looked at for each of many edges.
        self._dataset_of, self._stars, self._needs = graph.dataset_of, graph.stars, graph.edge_need
        self._targets, self._flow_of = graph.edge_target, graph.edge_flow
        self._carried: dict[int, bytes] = {}  # effect -> the one behind each edge
        self._passed: set[int] = set()
        self.broken: set[int] = set()
        self.unwritten: set[int] = set()

    @property
    def flows(self) -> set[int]:
        """The flows that effects on columns took."""
        return self._passed - {_NO_FLOW}

    def go(self, state: int) -> None:
        """Take the states behind one."""
        graph = self._graph
        if state < 0:
            self._over_flows(graph.flows_from(~state >> BITS), ~state & MASK)
            return
        column, effect = state >> BITS, state & MASK
        dataset = self._dataset_of[column]
        self._over_edges(graph.edges_from(column), effect)
        star = self._stars.get(dataset, column)
        if star != column:
            self._over_star(column, star, effect)
        flows = graph.flows_from(dataset)
        if graph.flow_has_columns.find(0, flows.start, flows.stop) >= 0 or graph.use_task:
            self._over_unknown(flows, column, effect)

    def _over_edges(self, edges: range, effect: int) -> None:
        if effect not in self._carried:
            self._carried[effect] = self._graph.edge_kind.translate(_carried(effect))
        carried, targets, take = self._carried[effect], self._targets, self._take
        for edge in edges:
            target, after = targets[edge], carried[edge]
            if after == _ENDS:
                return
            if after < _ON_DATASET:
                take(target << BITS | after, edge)
            else:
                take(~(self._dataset_of[target] << BITS | after & MASK), edge)
            self._passed.add(self._flow_of[edge])
            if effect == _GONE:
                self._fail(edge, target, after)

    def _over_star(self, column: int, star: int, effect: int) -> None:
        """Take what is behind columns that are not known one by one."""
        graph, take = self._graph, self._take
        for edge in graph.edges_from(star):
            target, kind = graph.edge_target[edge], graph.edge_kind[edge]
            if kind & TO_ALL and _is_direct(kind):
                target = _of_same_name(graph, column, target, kind)
                kind = kind & ~TO_ALL | graph.is_star[target]
            after = _carried(effect)[kind] if target >= 0 else _ENDS
            if after == _ENDS:
                continue
            if after < _ON_DATASET:
                take(target << BITS | after, edge)
            else:
                take(~(graph.dataset_of[target] << BITS | after & MASK), edge)
            self._passed.add(graph.edge_flow[edge])
            if effect == _GONE:
                self._fail(edge, target, after)

    def _fail(self, edge: int, target: int, after: int) -> None:
        """Take what is late because a statement names what is gone; nothing of it is written."""
        dataset, need = self._dataset_of[target], self._needs[edge]
        if need or (after >= _ON_DATASET and after & MASK == _LATE):
            self.unwritten.add(dataset)
        if need:
            self._take(~(dataset << BITS | _LATE), edge)
            if need == _NAMED:
                self.broken.add(self._graph.edge_task[edge])

    def _over_unknown(self, flows: range, column: int, effect: int) -> None:
        """Go over the flows that a column may be in, and those of tasks that use it."""
        graph, after, using = self._graph, _over_flow(effect, True), self._using(column, effect)
        if after is None:
            return
        for flow in flows:
            if not graph.flow_has_columns[flow] or graph.flow_task[flow] in using:
                self._passed.add(flow)
                self._take(~(graph.flow_target[flow] << BITS | after), ~flow)
                if effect == _GONE:
                    self.unwritten.add(graph.flow_target[flow])

    def _using(self, column: int, effect: int) -> Sequence[int]:
        """The tasks that fail as they take a column into what lives as long as a run."""
        using = self._graph.tasks_using(column) if effect == _GONE else ()
        self.broken.update(using)
        return using

    def _over_flows(self, flows: range, effect: int) -> None:
        after, targets, take = _over_flow(effect, False), self._graph.flow_target, self._take
        if after is None:
            return
        for flow in flows:
            take(~(targets[flow] << BITS | after), ~flow)
            if effect == _GONE:
                self.unwritten.add(targets[flow])
                self.broken.add(self._graph.flow_task[flow])


class Spread:
    """All that a change reaches.

    States have a place each, those nearest first, stale ones last: those that need an edge that
    was not seen for long.

    Args:
        start: The effect where the change is made.
        farthest: The most steps.

    Attributes:
        states: The numbers of states.
        before, distances: Of each the place of the state before, and the number of steps.
        ways: State -> the way to it, as in `StateSteps`; that of the first means nothing.
        fresh: How many are not stale.
        again: Ways of further tasks to states: the state, the place of the one before, the way.
    """

    def __init__(self, graph: ImpactGraph, start: State, farthest: int | None = None) -> None:
        self.graph = graph
        self.steps = StateSteps(graph, self._take)
        self.states, self.before, self.distances = list[int](), list[int](), list[int]()
        self.ways: dict[int, int] = {}
        self.again = list[tuple[int, int, int]]()
        self._has_stale = 1 in graph.flow_is_stale
        self._waiting = deque[tuple[int, int, int, int]]()
        self._at, self._distance, self.fresh = -1, 0, 0
        self._first = state_number(start)
        self._add(self._first, -1, 0, 0)
        self._spread(farthest)

    def _spread(self, farthest: int | None) -> None:
        at, states, distances, go = 0, self.states, self.distances, self.steps.go
        while True:
            while at < len(states):
                self._at, self._distance = at, distances[at] + 1
                if farthest is None or self._distance <= farthest:
                    go(states[at])
                at += 1
            self.fresh = self.fresh or at
            while self._waiting and self._waiting[0][0] in self.ways:
                self._take_again(*self._waiting.popleft()[:3])
            if not self._waiting:
                return
            self._add(*self._waiting.popleft())

    def _take(self, state: int, way: int) -> None:
        if state in self.ways:
            self._take_again(state, self._at, way)
        elif self._has_stale and self._is_stale(way):
            self._waiting.append((state, self._at, way, self._distance))
        else:
            self._add(state, self._at, way, self._distance)

    def _add(self, state: int, before: int, way: int, distance: int) -> None:
        self.ways[state] = way
        self.states.append(state)
        self.before.append(before)
        self.distances.append(distance)

    def _take_again(self, state: int, before: int, way: int) -> None:
        if state == self._first or self.task(way) != self.task(self.ways[state]):
            self.again.append((state, before, way))

    def _is_stale(self, way: int) -> bool:
        flow = self.graph.edge_flow[way] if way >= 0 else ~way
        return flow >= 0 and self.graph.flow_is_stale[flow] == 1

    def reaches(self, state: State) -> bool:
        """Whether the change reaches a state."""
        return state_number(state) in self.ways

    def task(self, way: int) -> int:
        """The task whose way it is."""
        return self.graph.edge_task[way] if way >= 0 else self.graph.flow_task[~way]

    def subtype(self, way: int) -> Subtype | None:
        """That of the column edge; None for a flow whose columns do not count."""
        return kind_of(self.graph.edge_kind[way]).subtype if way >= 0 else None


def state_number(state: State) -> int:
    """The number that stands for a state."""
    if state.column >= 0:
        return state.column << BITS | state.effect
    return ~(state.dataset << BITS | state.effect)


def state_of(graph: ImpactGraph, number: int) -> State:
    """The state that a number stands for."""
    code = number if number >= 0 else ~number
    effect = EFFECTS[code & MASK]
    code >>= BITS
    return State(graph.dataset_of[code], code, effect) if number >= 0 else State(code, -1, effect)


def effect_of(number: int) -> int:
    """The effect of the state that a number stands for."""
    return (number if number >= 0 else ~number) & MASK


def column_of(number: int) -> int:
    """The column of the state that a number stands for, which is one of a column."""
    return number >> BITS


def _of_same_name(graph: ImpactGraph, column: int, star: int, kind: int) -> int:
    """The column behind an edge of columns that are not known one by one: `star` if it may be any.

    They go there under their own names; -1 where they are copied and there is none of the name.
    """
    there = graph.dataset_of[star]
    same = graph.find_column(there, graph.column_names[column])
    if same is None:
        return -1 if _is_copy(kind) and there in graph.has_schema else star
    return same


@cache
def _carried(effect: int) -> bytes:
    """The effects behind edges by their kinds, for `translate`."""
    effects = bytearray((_ENDS,)) * 256
    for kind in KINDS:
        carried = over_column_edge(EFFECTS[effect], kind_of(kind), all_columns=bool(kind & TO_ALL))
        if carried:
            effects[kind] = carried[0] | _ON_DATASET * carried[1]
    return bytes(effects)


@cache
def _over_flow(effect: int, of_column: bool) -> int | None:
    after = over_flow(EFFECTS[effect], of_column=of_column)
    return None if after is None else int(after)


def _is_direct(kind: int) -> bool:
    return kind_of(kind).subtype.type is EdgeType.DIRECT


def _is_copy(kind: int) -> bool:
    return kind_of(kind).subtype is Subtype.IDENTITY
