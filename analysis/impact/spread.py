"""The spread of a change downstream: level by level, over edges seen now before stale ones.

A change may reach hundreds of thousands of columns. So columns and datasets are numbers, and all of
a level that have the same effect go on at once: what is done for each of them is done by C.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain, compress
from operator import invert
from typing import NamedTuple

from dbt_graft.analysis.impact.change import ImpactEffect
from dbt_graft.analysis.impact.graph import KINDS, TO_ALL, ImpactGraph, Need, kind_of
from dbt_graft.analysis.impact.lazy_sequence import LazySequence
from dbt_graft.analysis.impact.steps import over_column_edge, over_flow
from dbt_graft.lineage.grouping import pick
from dbt_graft.lineage.records import EdgeType, Subtype

EFFECTS = tuple(ImpactEffect)
# In a state: the whole dataset has the effect, not a column of it.
ON_DATASET = 16
_EFFECT = ON_DATASET - 1
_GONE, _LATE = int(ImpactEffect.GONE), ON_DATASET | ImpactEffect.LATE
_ENDS = 255
_NO_FLOW = -1
# Tables for `translate`: 1 where a byte is this one, else 0.
IS_BYTE = [bytes(value == code for value in range(256)) for code in range(256)]

# A state -> the columns or datasets in it.
Level = dict[int, set[int]]


class Step(NamedTuple):
    """An effect that goes to many at once.

    Attributes:
        state: That of all nodes: their effect, and whether they are columns or datasets.
        ways: The way to each node: the place of a column edge, or `~` that of a flow whose columns
            do not count.
    """

    state: int
    nodes: Sequence[int]
    ways: Sequence[int]


class Passage(NamedTuple):
    """The steps from columns or datasets with an effect, whether they lead to new ones or not.

    Attributes:
        edges: Column edges that are passed, each once.
        flows: Flows that are passed where columns do not count.
        broken: Tasks whose statements name what is gone.
    """

    steps: Sequence[Step] = ()
    edges: Sequence[int] = ()
    flows: Sequence[int] = ()
    broken: Collection[int] = ()


class Passed(NamedTuple):
    """The passage from what a level has in a state."""

    distance: int
    is_stale: bool
    state: int
    passage: Passage


class Spread:
    """All that a change reaches.

    Args:
        state: The effect where the change is made.
        node: The column or dataset that changes.
        farthest: The most steps.

    Attributes:
        levels: What is reached, by the number of steps.
        stale_levels: The same for what is not reached without an edge that was not seen for long.
        reached: State -> all columns or datasets in it.
        passed: All ways, those of the first level first.
        broken: Tasks whose statements name what is gone.
        unwritten: Datasets that are not written because a statement fails.
    """

    def __init__(
        self, graph: ImpactGraph, state: int, node: int, farthest: int | None = None
    ) -> None:
        self.graph = graph
        self.reached: dict[int, set[int]] = {state: {node}}
        self.passed: list[Passed] = []
        self.broken: set[int] = set()
        self.unwritten: set[int] = set()
        self._farthest = farthest
        # The steps over stale edges, by the levels that they lead to.
        self._aside: dict[int, list[Step]] = defaultdict(list)
        self._has_stale = 1 in graph.flow_is_stale
        # The steps to each level, by whether they need a stale edge.
        self._steps: dict[tuple[bool, int], list[Step]] = {}
        self._ways: dict[tuple[bool, int, int], dict[int, int]] = {}
        self.levels: list[Level] = [{state: {node}}]
        self._spread(self.levels, is_stale=False)
        self.stale_levels: list[Level] = [{}]
        if self._aside:
            self._spread(self.stale_levels, is_stale=True)

    def levels_of(self, is_stale: bool) -> Sequence[Level]:
        """The levels over edges that are seen now, or those that need a stale one."""
        return self.stale_levels if is_stale else self.levels

    def way(self, is_stale: bool, distance: int, state: int, node: int) -> int:
        """The first way to what a level has in a state."""
        key = (is_stale, distance, state)
        if key not in self._ways:
            ways = self._ways[key] = {}
            for step in reversed(self._steps[is_stale, distance]):
                if step.state == state:
                    ways |= zip(reversed(step.nodes), reversed(step.ways), strict=True)
        return self._ways[key][node]

    def datasets(self, state: int, nodes: Collection[int]) -> Collection[int]:
        """The datasets of what is in a state."""
        return nodes if state & ON_DATASET else pick(self.graph.dataset_of, nodes)

    @cached_property
    def flows(self) -> set[int]:
        """The flows that effects on columns took."""
        of_columns = [passed for passed in self.passed if not passed.state & ON_DATASET]
        flows = self._edge_flows.union(*(passed.passage.flows for passed in of_columns))
        flows.discard(_NO_FLOW)
        return flows

    def carriers(self) -> tuple[list[int], list[int]]:
        """The tasks that carry the change on, and to each a dataset that it carries it to."""
        graph = self.graph
        others = chain.from_iterable(passed.passage.flows for passed in self.passed)
        flows = [*self.flows, *{*others}.difference(self.flows)]
        tasks, targets = [*pick(graph.flow_task, flows)], [*pick(graph.flow_target, flows)]
        if _NO_FLOW in self._edge_flows:
            for edge in chain.from_iterable(passed.passage.edges for passed in self.passed):
                tasks.append(graph.edge_task[edge])
                targets.append(graph.dataset_of[graph.edge_target[edge]])
        return tasks, targets

    @cached_property
    def sure_tasks(self) -> set[int]:
        """The tasks that the change comes to for certain: by columns that are known, or as all."""
        graph, sure = self.graph, {*self.broken}
        for _, _, state, passage in self.passed:
            sure.update(pick(graph.edge_task, passage.edges))
            flows = passage.flows
            if not state & ON_DATASET:
                flows = [flow for flow in flows if graph.flow_has_reads[flow]]
            sure.update(pick(graph.flow_task, flows))
        return sure

    @cached_property
    def _edge_flows(self) -> set[int]:
        of_levels = (pick(self.graph.edge_flow, passed.passage.edges) for passed in self.passed)
        return set().union(*of_levels)

    def _spread(self, levels: list[Level], *, is_stale: bool) -> None:
        """Add the levels behind the first."""
        last = max(self._aside) if is_stale else 0
        while (levels[-1] or len(levels) <= last) and len(levels) != (self._farthest or -1) + 1:
            steps = self._aside[len(levels)] if is_stale else []
            for state, nodes in levels[-1].items():
                passage = steps_from(self.graph, state, nodes)
                self.passed.append(Passed(len(levels) - 1, is_stale, state, passage))
                self.broken.update(passage.broken)
                for step in passage.steps:
                    if state & _EFFECT == _GONE and step.state == _LATE:
                        self.unwritten.update(step.nodes)
                    if self._has_stale and not is_stale:
                        steps += self._fresh(step, len(levels))
                    else:
                        steps.append(step)
            self._steps[is_stale, len(levels)] = steps
            levels.append(self._new(steps))

    def _fresh(self, step: Step, distance: int) -> Iterator[Step]:
        """Yield the part of a step over edges that are seen now, and put others aside."""
        graph = self.graph
        flows = [graph.edge_flow[way] if way >= 0 else ~way for way in step.ways]
        stale = bytes(flow >= 0 and graph.flow_is_stale[flow] for flow in flows)
        for is_stale, nodes, ways in _split(stale, step.nodes, step.ways):
            part = Step(step.state, nodes, ways)
            if is_stale:
                self._aside[distance].append(part)
            else:
                yield part

    def _new(self, steps: Iterable[Step]) -> Level:
        """The columns and datasets that are reached for the first time."""
        level: Level = {}
        for step in steps:
            reached = self.reached.setdefault(step.state, set())
            new = {*step.nodes}.difference(reached)
            if new:
                reached |= new
                level[step.state] = level[step.state] | new if step.state in level else new
        return level


def steps_from(graph: ImpactGraph, state: int, nodes: Collection[int]) -> Passage:
    """The steps from columns or datasets in a state."""
    if state & ON_DATASET:
        return _over_flows(graph, state & _EFFECT, places_from(graph.flow_starts, nodes))
    passage = _over_edges(graph, state, places_from(graph.edge_starts, nodes))
    if graph.opaque.find(1) < 0:
        return passage
    opaque = compress(nodes, pick(graph.opaque, pick(graph.dataset_of, nodes)))
    return _over_unnamed(graph, state, [*opaque], passage)


def leads(graph: ImpactGraph, state: int, node: int, way: int) -> Iterator[tuple[int, int]]:
    """The states and nodes that a way from a column or dataset in a state leads to."""
    if state & ON_DATASET:
        after = _over_flow(state & _EFFECT, False)
        return iter([] if after is None else [(after, graph.flow_target[~way])])
    if way < 0:
        using = graph.tasks_using(node) if state == _GONE else ()
        return (end[:2] for end in _over_unknown(graph, node, state, using, [~way]))
    if way in graph.edges_from(node):
        return _over_edge(graph, state, way, graph.edge_target[way], graph.edge_kind[way])
    return (end[:2] for end in _over_star(graph, node, state, [way]))


def _over_flows(graph: ImpactGraph, effect: int, flows: Sequence[int]) -> Passage:
    after = _over_flow(effect, False)
    if after is None:
        return Passage()
    step = Step(after, pick(graph.flow_target, flows), LazySequence(flows, invert))
    broken = {*pick(graph.flow_task, flows)} if effect == _GONE else ()
    return Passage([step], (), flows, broken)


def _over_edges(graph: ImpactGraph, effect: int, edges: Sequence[int]) -> Passage:
    kinds, targets = bytes(pick(graph.edge_kind, edges)), pick(graph.edge_target, edges)
    steps = [
        Step(after, pick(graph.dataset_of, nodes), ways)
        if after & ON_DATASET
        else Step(after, nodes, ways)
        for after, nodes, ways in _split(kinds.translate(_carried(effect)), targets, edges)
        if after != _ENDS
    ]
    if effect != _GONE:
        return Passage(steps, edges if steps else ())
    broken: Collection[int] = ()
    for need, nodes, ways in _split(bytes(pick(graph.edge_need, edges)), targets, edges):
        if need:
            steps.append(Step(_LATE, pick(graph.dataset_of, nodes), ways))
        if need == Need.NAMED:
            broken = {*pick(graph.edge_task, ways)}
    return Passage(steps, edges, broken=broken)


def _over_unnamed(
    graph: ImpactGraph, effect: int, columns: Collection[int], passage: Passage
) -> Passage:
    """A passage, and the steps of columns over what does not name them."""
    taken: dict[int, tuple[list[int], list[int]]] = {}
    passed: dict[int, None] = {}
    broken: set[int] = set()
    for column in columns:
        using = graph.tasks_using(column) if effect == _GONE else ()
        broken.update(using)
        dataset = graph.dataset_of[column]
        star = graph.stars.get(dataset, column)
        edges, flows = graph.edges_from(star), graph.flows_from(dataset)
        for after, node, way in chain(
            _over_star(graph, column, effect, edges if star != column else ()),
            _over_unknown(graph, column, effect, using, flows),
        ):
            nodes, ways = taken.setdefault(after, ([], []))
            nodes.append(node)
            ways.append(way)
            passed[way] = None
            if effect == _GONE and way >= 0 and graph.edge_need[way] == Need.NAMED:
                broken.add(graph.edge_task[way])
    steps = [Step(after, nodes, ways) for after, (nodes, ways) in taken.items()]
    return Passage(
        [*passage.steps, *steps],
        [*passage.edges, *(way for way in passed if way >= 0)],
        [~way for way in passed if way < 0],
        broken.union(passage.broken),
    )


def _over_star(
    graph: ImpactGraph, column: int, effect: int, edges: Iterable[int]
) -> Iterator[tuple[int, int, int]]:
    """The states, nodes and ways behind edges of columns that are not known one by one."""
    for edge in edges:
        target, kind = graph.edge_target[edge], graph.edge_kind[edge]
        if kind & TO_ALL and _is_direct(kind):
            target = _of_same_name(graph, column, target, kind)
            kind = kind & ~TO_ALL | graph.is_star[target]
        if target >= 0:
            yield from ((*end, edge) for end in _over_edge(graph, effect, edge, target, kind))


def _over_edge(
    graph: ImpactGraph, effect: int, edge: int, target: int, kind: int
) -> Iterator[tuple[int, int]]:
    """The states and nodes behind one edge, as `_over_edges` has them of many."""
    after, dataset = _carried(effect)[kind], graph.dataset_of[target]
    if after != _ENDS:
        yield after, dataset if after & ON_DATASET else target
        if effect == _GONE and graph.edge_need[edge]:
            yield _LATE, dataset


def _over_unknown(
    graph: ImpactGraph, column: int, effect: int, using: Sequence[int], flows: Iterable[int]
) -> Iterator[tuple[int, int, int]]:
    """The states, nodes and ways behind flows that a column may be in.

    Args:
        using: The tasks that fail as they take the column into what lives as long as a run.
    """
    after = _over_flow(effect, True)
    if after is None:
        return
    for flow in flows:
        task = graph.flow_task[flow]
        may_be_in = not graph.flow_has_columns[flow] and (
            not graph.flow_has_reads[flow] or graph.may_use(column, task)
        )
        if may_be_in or task in using:
            yield after, graph.flow_target[flow], ~flow


def _of_same_name(graph: ImpactGraph, column: int, star: int, kind: int) -> int:
    """The column behind an edge of columns that are not known one by one: `star` if it may be any.

    They go there under their own names; -1 where they are copied and there is none of the name.
    """
    there = graph.dataset_of[star]
    same = graph.find_column(there, graph.column_names[column])
    if same is None:
        return -1 if _is_copy(kind) and there in graph.has_schema else star
    return same


def places_from(starts: array[int], nodes: Collection[int]) -> list[int]:
    """The places of all edges, or flows, that come from these nodes."""
    return [*chain.from_iterable(map(range, pick(starts, nodes), pick(starts[1:], nodes)))]


def _split(
    codes: bytes, nodes: Sequence[int], ways: Sequence[int]
) -> Iterator[tuple[int, Sequence[int], Sequence[int]]]:
    """Nodes and their ways by a code of each."""
    if codes and codes.count(codes[0]) == len(codes):
        yield codes[0], nodes, ways
        return
    for code in sorted({*codes}):
        chosen = codes.translate(IS_BYTE[code])
        yield code, [*compress(nodes, chosen)], [*compress(ways, chosen)]


@cache
def _carried(effect: int) -> bytes:
    """The states behind edges by their kinds, for `translate`."""
    states = bytearray((_ENDS,)) * 256
    for kind in KINDS:
        carried = over_column_edge(EFFECTS[effect], kind_of(kind), all_columns=bool(kind & TO_ALL))
        if carried:
            states[kind] = carried[0] | ON_DATASET * carried[1]
    return bytes(states)


@cache
def _over_flow(effect: int, of_column: bool) -> int | None:
    after = over_flow(EFFECTS[effect], of_column=of_column)
    return None if after is None else after | ON_DATASET


def effect_of(state: int) -> ImpactEffect:
    """The effect of a state."""
    return EFFECTS[state & _EFFECT]


def task_of(graph: ImpactGraph, way: int) -> int:
    """The task whose way it is."""
    return graph.edge_task[way] if way >= 0 else graph.flow_task[~way]


def subtype_of(graph: ImpactGraph, way: int) -> Subtype | None:
    """That of the column edge; None for a flow whose columns do not count."""
    return kind_of(graph.edge_kind[way]).subtype if way >= 0 else None


def _is_direct(kind: int) -> bool:
    return kind_of(kind).subtype.type is EdgeType.DIRECT


def _is_copy(kind: int) -> bool:
    return kind_of(kind).subtype is Subtype.IDENTITY
