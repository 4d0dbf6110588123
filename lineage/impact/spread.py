"""Spread a change downstream: breadth first, over edges that are seen now before stale ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from dbt_graft.lineage.impact.change import ImpactEffect
from dbt_graft.lineage.impact.graph import SUBTYPES, ImpactGraph
from dbt_graft.lineage.impact.steps import Carried, over_column_edge, over_flow
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType, Subtype


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
        arrivals: State -> its arrival, those nearest first; stale ones last.
        flows: The flows that effects on columns took -> whether their columns are known.
        broken: Tasks whose statements name what is gone.
    """

    arrivals: dict[State, Arrival] = field(default_factory=dict)
    flows: dict[int, bool] = field(default_factory=dict)
    broken: set[int] = field(default_factory=set)


def spread(graph: ImpactGraph, start: State, farthest: int | None = None) -> Spread:
    """All states that a change reaches.

    Args:
        start: The effect where the change is made.
        farthest: The most steps.
    """
    found = Spread({start: Arrival(None, -1, None, 0, stale=False)})
    fresh, stale = deque([start]), deque[tuple[State, Arrival, int]]()
    while fresh or stale:
        if not fresh:
            state, arrival, flow = stale.popleft()
            if state in found.arrivals:
                continue
            _arrive(graph, found, state, arrival, flow)
        else:
            state = fresh.popleft()
            arrival = found.arrivals[state]
        if arrival.distance == farthest:
            continue
        for next_state, flow, task, subtype in _steps(graph, state, found):
            if next_state in found.arrivals:
                _take(graph, found, state, flow)
                continue
            old = flow >= 0 and graph.flow_is_stale[flow]
            next_arrival = Arrival(
                state, task, subtype, arrival.distance + 1, stale=arrival.stale or bool(old)
            )
            if old:
                stale.append((next_state, next_arrival, flow))
                continue
            _arrive(graph, found, next_state, next_arrival, flow)
            fresh.append(next_state)
    return found


def _arrive(graph: ImpactGraph, found: Spread, state: State, arrival: Arrival, flow: int) -> None:
    found.arrivals[state] = arrival
    if arrival.before:
        _take(graph, found, arrival.before, flow)


def _take(graph: ImpactGraph, found: Spread, before: State, flow: int) -> None:
    if flow >= 0 and before.column >= 0:
        found.flows[flow] = bool(graph.flow_has_columns[flow])


_Step = tuple[State, int, int, Subtype | None]


def _steps(graph: ImpactGraph, state: State, found: Spread) -> Iterator[_Step]:
    """The next states, each with its flow or -1, its task and the subtype of the edge."""
    if state.column < 0:
        for flow in graph.flows_from(state.dataset):
            effect = over_flow(state.effect, of_column=False)
            if effect is not None:
                if state.effect is ImpactEffect.GONE:
                    found.broken.add(graph.flow_task[flow])
                target = State(graph.flow_target[flow], -1, effect)
                yield target, flow, graph.flow_task[flow], None
        return
    yield from _over_edges(graph, state, found)
    for flow in graph.flows_from(state.dataset):
        if graph.flow_has_columns[flow]:
            continue
        effect = over_flow(state.effect, of_column=True)
        if effect is not None:
            yield State(graph.flow_target[flow], -1, effect), flow, graph.flow_task[flow], None


def _over_edges(graph: ImpactGraph, state: State, found: Spread) -> Iterator[_Step]:
    star = graph.star(state.dataset)
    columns = (state.column,) if star is None else (state.column, star)
    for column in columns:
        for edge in graph.edges_from(column):
            target = graph.edge_target[edge]
            dataset = graph.dataset_of[target]
            subtype, masking = _kind(graph.edge_kind[edge])
            to_all = graph.column_names[target] == ANY_COLUMN
            if to_all and column == star and subtype.type is EdgeType.DIRECT:
                # Columns that are not known one by one go there under their own names.
                same = graph.find_column(dataset, graph.column_names[state.column])
                if same is not None:
                    target, to_all = same, False
                elif subtype is Subtype.IDENTITY and dataset in graph.has_schema:
                    continue
            carried: Carried | None = over_column_edge(
                state.effect, subtype, masking=masking, all_columns=to_all
            )
            if carried is None:
                continue
            task = graph.edge_task[edge]
            if state.effect is ImpactEffect.GONE:
                found.broken.add(task)
            effect, on_dataset = carried
            next_state = State(dataset, -1 if on_dataset else target, effect)
            yield next_state, graph.edge_flow[edge], task, subtype


@cache
def _kind(code: int) -> tuple[Subtype, bool]:
    return SUBTYPES[code >> 1], bool(code & 1)
