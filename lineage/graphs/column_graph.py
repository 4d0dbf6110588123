"""The graph of columns: all that a column comes from, all that it feeds, and the paths between two.

- An INDIRECT edge to `*` (a filter, a join) acts on the rows of its dataset, so on each of its
  columns: upstream of a column is also what decides on its dataset's rows, and downstream of what
  decides is also what any column of that dataset feeds.
- A DIRECT edge from `*` to `*` moves columns that are not known one by one. A column goes through
  it under its own name where the other dataset has that name, else to `*`: one of its columns,
  not known which. A copy (IDENTITY) into a known schema without the name does not carry it.
- No other edge from `*`, and no other DIRECT edge to it, is a step of a named column: `*` is a
  column of its own, and `unmatched` has these edges.
- Names of columns compare without case. Over a path subtypes compose as in `lineage.columns`, what
  is masked once stays masked, and the evidence is that of the weakest step.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, count, pairwise
from operator import add

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.graphs.column_path import (
    FIRST_INDIRECT,
    ColumnId,
    ColumnPath,
    ColumnPaths,
    ColumnStep,
    ReachedColumn,
    composition_table,
    effect_code,
    effect_of,
)
from dbt_graft.lineage.graphs.simple_paths import simple_paths
from dbt_graft.lineage.graphs.struct_edges import structs
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, Dataset, Subtype

# The node of a dataset's rows, on which INDIRECT edges to `*` act.
_ROWS = ""

# A step from a node: the edge, its end here, and the node at the other end.
_Step = tuple[int, int, int]
_Steps = Callable[[int, bool], Iterable[_Step]]


class ColumnGraph:
    """Columns and the edges between them, in arrays: made once, asked often.

    With `indirect` a question is also about what decides on values and rows, else only about where
    values go. Columns are spelled in any case.
    """

    def __init__(
        self,
        edges: Iterable[ColumnEdge],
        datasets: Iterable[Dataset] = (),
        consumers: Iterable[Consumer] = (),
    ) -> None:
        self._edges = tuple(edges)
        self._datasets: list[DatasetId] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._nodes: list[dict[str, int]] = []  # of each dataset, by folded name
        self._names: list[str] = []  # of each node
        self._folded = cache(str.casefold)  # each text once
        self._dataset_of = array("I")  # of each node
        self._has_schema: set[int] = set()
        for dataset in datasets:
            if dataset.columns:
                number = self._dataset(dataset.id)
                self._has_schema.add(number)
                for column in dataset.columns:
                    self._node(number, column.name)
        self._with_star: set[int] = set()  # datasets with DIRECT edges from `*` to `*`
        self._consumers: dict[int, list[Consumer]] = defaultdict(list)
        for consumer in consumers:
            for read in consumer.reads:
                self._consumers[self._dataset(read)].append(consumer)
        self._sources, self._targets = array("I"), array("I")
        self._codes = bytearray()
        for edge in self._edges:
            self._add_edge(edge)
        self._out = _EdgesByNode(self._sources, self._codes, len(self._names))
        self._in = _EdgesByNode(self._targets, self._codes, len(self._names))
        # What takes a field takes it of the struct, and what takes a struct takes its fields; a
        # field that nothing fills is filled with its struct.
        self._structs_of: dict[int, list[int]] = defaultdict(list)
        self._fields_of: dict[int, list[int]] = defaultdict(list)
        for nodes in self._nodes:
            for name in [name for name in nodes if "." in name]:
                for struct in structs(name, nodes):
                    self._structs_of[nodes[name]].append(nodes[struct])  # the nearest last
                    self._fields_of[nodes[struct]].append(nodes[name])

    def columns(self, dataset: DatasetId) -> list[ColumnId]:
        """The columns of a dataset: those of its schema in order, then those that edges name."""
        nodes = self._nodes_of(dataset)
        return [self._column(node) for key, node in nodes.items() if key not in (_ROWS, ANY_COLUMN)]

    def find(self, dataset: DatasetId, name: str) -> ColumnId | None:
        """The column of this name, spelled as its schema does; None where nothing names it."""
        nodes = self._starts(ColumnId(dataset, name))
        return self._column(nodes[0]) if nodes else None

    @property
    def size(self) -> int:
        """One more than the largest number of a column."""
        return len(self._names)

    def number(self, column: ColumnId) -> int | None:
        """The number of a column, for questions asked of very many; None where nothing names it."""
        return self._nodes_of(column.dataset).get(column.name.casefold())

    def column(self, number: int) -> ColumnId:
        """The column of a number."""
        return self._column(number)

    def feeds(self, number: int) -> list[int]:
        """The columns with a name one step downstream, each once, over DIRECT edges."""
        return self._with_name(far for _, _, far in self._downstream(number, False))

    def fed_by(self, number: int) -> list[int]:
        """The columns with a name, and `*`, one step upstream, each once, over DIRECT edges."""
        return list(dict.fromkeys(far for _, _, far in self._upstream(number, False)))

    def _with_name(self, nodes: Iterable[int]) -> list[int]:
        names = self._names
        return [node for node in dict.fromkeys(nodes) if names[node] not in (_ROWS, ANY_COLUMN)]

    def parents(self, column: ColumnId, *, indirect: bool = False) -> list[ColumnStep]:
        """The steps into a column; with `indirect` also those that decide on its rows."""
        return self._neighbours(column, indirect, self._upstream)

    def children(self, column: ColumnId, *, indirect: bool = False) -> list[ColumnStep]:
        """The steps out of a column."""
        return self._neighbours(column, indirect, self._downstream)

    def upstream(
        self, column: ColumnId, depth: int | None = None, *, indirect: bool = False
    ) -> list[ReachedColumn]:
        """Everything that a column comes from, nearest first; `depth` limits the steps."""
        return self._reached_columns(column, depth, indirect, self._upstream)

    def downstream(
        self, column: ColumnId, depth: int | None = None, *, indirect: bool = False
    ) -> list[ReachedColumn]:
        """Everything that a column feeds, nearest first; `depth` limits the steps."""
        return self._reached_columns(column, depth, indirect, self._downstream)

    def ends(self, column: ColumnId, *, indirect: bool = False) -> list[ColumnId]:
        """The last columns downstream: they feed no other. Empty if the column is itself one."""
        starts = self._starts(column)
        reached = self._reach(starts, None, indirect, self._downstream)
        return [
            self._column(node)
            for node, (steps_to, _) in reached.items()
            if steps_to and not any(True for _ in self._downstream(node, indirect))
        ]

    def consumers(self, column: ColumnId, *, indirect: bool = False) -> list[Consumer]:
        """The dashboards, reports and the like at which it ends, by name.

        They are those that read it or any column on its path downstream, or may: of many it is not
        known which columns they use.
        """
        reached = self._reach(self._starts(column), None, indirect, self._downstream)
        names = {(self._dataset_of[node], self._names[node]) for node in reached}
        names.add((self._numbers.get(column.dataset.key, -1), column.name))
        consumers = {
            consumer.node_id: consumer
            for read, name in names
            for consumer in self._consumers.get(read, ())
            if name in ("", ANY_COLUMN) or consumer.may_read(self._datasets[read], name)
        }
        return sorted(consumers.values(), key=lambda consumer: (consumer.name, consumer.node_id))

    def unmatched(self, dataset: DatasetId) -> tuple[list[ColumnEdge], list[ColumnEdge]]:
        """The DIRECT edges into `*` of a dataset, and those out of it."""
        node = self._nodes_of(dataset).get(ANY_COLUMN)
        if node is None:
            return [], []
        into, out = (
            [self._edges[edge] for edge in edges.edges_of(node, False)]
            for edges in (self._in, self._out)
        )
        return into, out

    def paths(
        self, source: ColumnId, target: ColumnId, limit: int = 100, *, indirect: bool = False
    ) -> ColumnPaths:
        """The paths between two columns that visit none twice, shortest first.

        There may be more than anybody can count: the search ends at `limit`, or after much work.
        """
        reached = self._reach(self._starts(target), None, indirect, self._upstream)
        left: dict[int, int] = {}
        for node, (steps, _) in reached.items():
            left[node] = min(steps, left.get(node, steps))
            for _, near, _ in self._upstream(node, indirect):
                left.setdefault(near, steps)  # a column's rows are as near as the column
            for part in self._with_parts(node):
                left.setdefault(part, steps)
        paths, is_complete = simple_paths(
            self._starts(source),
            lambda node: (far for _, _, far in self._downstream(node, indirect)),
            left,
            limit,
        )
        return ColumnPaths(tuple(self._path(nodes, indirect) for nodes in paths), is_complete)

    def _dataset(self, dataset: DatasetId) -> int:
        number = self._numbers.setdefault(dataset.key, len(self._datasets))
        if number == len(self._datasets):
            self._datasets.append(dataset)
            self._nodes.append({})
        return number

    def _node(self, dataset: int, name: str) -> int:
        nodes = self._nodes[dataset]
        node = nodes.setdefault(self._folded(name), len(self._names))
        if node == len(self._names):
            self._names.append(name)
            self._dataset_of.append(dataset)
        return node

    def _add_edge(self, edge: ColumnEdge) -> None:
        code = effect_code(edge)
        source, target = self._dataset(edge.from_dataset), self._dataset(edge.to_dataset)
        to = edge.to_column
        if to == ANY_COLUMN:
            if code >= FIRST_INDIRECT:
                to = _ROWS
            elif edge.from_column == ANY_COLUMN:
                for dataset in (source, target):
                    self._node(dataset, _ROWS)
                    self._with_star.add(dataset)
        self._sources.append(self._node(source, edge.from_column))
        self._targets.append(self._node(target, to))
        self._codes.append(code)

    def _nodes_of(self, dataset: DatasetId) -> dict[str, int]:
        number = self._numbers.get(dataset.key)
        return {} if number is None else self._nodes[number]

    def _starts(self, column: ColumnId) -> list[int]:
        """The nodes of a column: `*` is a dataset's rows and its unknown columns."""
        nodes = self._nodes_of(column.dataset)
        keys = (ANY_COLUMN, _ROWS) if column.name == ANY_COLUMN else (column.name.casefold(),)
        return [nodes[key] for key in keys if key in nodes]

    def _column(self, node: int) -> ColumnId:
        return ColumnId(self._datasets[self._dataset_of[node]], self._names[node] or ANY_COLUMN)

    def _downstream(self, node: int, indirect: bool) -> Iterable[_Step]:
        targets, dataset = self._targets, self._dataset_of[node]
        if not self._names[node]:
            return self._steps_from_rows(dataset) if indirect else ()
        edges = self._edges_of(self._out, self._with_parts, node, indirect)
        steps = [(edge, node, targets[edge]) for edge in edges]
        if dataset in self._with_star:
            steps += self._steps_by_name(node, self._out, targets)
        return steps

    def _upstream(self, node: int, indirect: bool) -> Iterable[_Step]:
        sources, dataset = self._sources, self._dataset_of[node]
        steps: list[_Step] = []
        if self._names[node]:
            edges = self._edges_of(self._in, self._filled, node, indirect)
            steps = [(edge, node, sources[edge]) for edge in edges]
            if dataset in self._with_star:
                steps += self._steps_by_name(node, self._in, sources, rows=indirect)
        rows = self._nodes[dataset].get(_ROWS) if indirect else None
        if rows is not None:
            steps += [(edge, rows, sources[edge]) for edge in self._in.edges_of(rows, True)]
        if rows == node and dataset in self._with_star:
            for edge in self._in.edges_of(self._nodes[dataset][ANY_COLUMN], False):
                if self._is_star(edge):
                    steps.append((edge, rows, self._rows_beside(sources[edge])))
        return steps

    def _edges_of(
        self,
        edges: _EdgesByNode,
        parts: Callable[[int], Sequence[int]],
        node: int,
        indirect: bool,
    ) -> Sequence[int]:
        """The edges of a column and of what else is it: most graphs have no struct."""
        if not self._structs_of:
            return edges.edges_of(node, indirect)
        return [edge for part in parts(node) for edge in edges.edges_of(part, indirect)]

    def _with_parts(self, node: int) -> Sequence[int]:
        """A column with its fields, and the structs of which it is one."""
        return (node, *self._fields_of.get(node, ()), *self._structs_of.get(node, ()))

    def _filled(self, node: int) -> Sequence[int]:
        """The columns that are filled with a column: its fields, and its struct if it is not."""
        ways = (node, *reversed(self._structs_of.get(node, ())))
        filled = next((part for part in ways if self._in.edges_of(part, True)), node)
        return (filled, *self._fields_of.get(node, ()))

    def _steps_from_rows(self, dataset: int) -> Iterator[_Step]:
        """The steps of rows: out of any of their columns."""
        for node in self._nodes[dataset].values():
            for edge in self._out.edges_of(node, True):
                far = self._targets[edge]
                yield edge, node, self._rows_beside(far) if self._is_star(edge) else far

    def _rows_beside(self, node: int) -> int:
        return self._nodes[self._dataset_of[node]][_ROWS]

    def _steps_by_name(
        self, node: int, edges: _EdgesByNode, far_ends: Sequence[int], *, rows: bool = False
    ) -> Iterator[_Step]:
        """The steps of a named column over edges from `*` to `*`; `rows` where it goes nowhere."""
        star = self._nodes[self._dataset_of[node]][ANY_COLUMN]
        for edge in edges.edges_of(star, False) if star != node else ():
            if self._is_star(edge):
                dataset = self._dataset_of[far_ends[edge]]
                far = self._nodes[dataset].get(self._folded(self._names[node]))
                if far is not None:
                    yield edge, node, far
                elif dataset not in self._has_schema or not self._is_copy(edge):
                    yield edge, node, far_ends[edge]
                elif rows:
                    yield edge, node, self._rows_beside(far_ends[edge])

    def _is_star(self, edge: int) -> bool:
        """Whether it is a DIRECT edge from `*` to `*`."""
        names = self._names
        ends = names[self._sources[edge]], names[self._targets[edge]]
        return ends == (ANY_COLUMN, ANY_COLUMN)

    def _is_copy(self, edge: int) -> bool:
        return effect_of(self._codes[edge]).subtype is Subtype.IDENTITY

    def _neighbours(self, column: ColumnId, indirect: bool, steps: _Steps) -> list[ColumnStep]:
        edges_by_ends: dict[tuple[int, int], list[int]] = {}
        for node in self._starts(column):
            for edge, near, far in steps(node, indirect):
                ends = (far, near) if steps == self._upstream else (near, far)
                edges_by_ends.setdefault(ends, []).append(edge)
        return [self._step(*ends, edges) for ends, edges in edges_by_ends.items()]

    def _step(self, source: int, target: int, edges: Iterable[int]) -> ColumnStep:
        # The same edge may be there twice: `*` is both rows and unknown columns.
        ordered = sorted(dict.fromkeys(edges), key=self._codes.__getitem__)
        return ColumnStep(
            self._column(source), self._column(target), tuple(self._edges[e] for e in ordered)
        )

    def _path(self, nodes: Sequence[int], indirect: bool) -> ColumnPath:
        steps = []
        for near, far in pairwise(nodes):
            edges = [edge for edge, _, end in self._downstream(near, indirect) if end == far]
            steps.append(self._step(near, far, edges))
        return ColumnPath(tuple(steps))

    def _reached_columns(
        self, column: ColumnId, depth: int | None, indirect: bool, steps: _Steps
    ) -> list[ReachedColumn]:
        starts = self._starts(column)
        reached = self._reach(starts, depth, False, steps)
        if indirect:
            reached = self._reach(starts, depth, True, steps) | reached
        return [
            ReachedColumn(self._column(node), steps_to, effect_of(code))
            for node, (steps_to, code) in sorted(reached.items(), key=_depth)
            if steps_to
        ]

    def _reach(
        self, starts: Collection[int], depth: int | None, indirect: bool, steps: _Steps
    ) -> dict[int, tuple[int, int]]:
        """Every node that can be reached: the steps to it, and the effect of the first path."""
        composed = composition_table()
        is_upstream = steps == self._upstream
        reached = dict.fromkeys(starts, (0, 0))
        level, codes = list(starts), self._codes
        for steps_to in count(1):
            if not level or (depth is not None and steps_to > depth):
                return reached
            ahead = []
            for node in level:
                code = reached[node][1]
                for edge, _, far in steps(node, indirect):
                    if far not in reached:
                        edge_code = codes[edge]
                        reached[far] = (
                            steps_to,
                            composed[edge_code][code] if is_upstream else composed[code][edge_code],
                        )
                        ahead.append(far)
            level = ahead
        return reached


def _depth(reached: tuple[int, tuple[int, int]]) -> int:
    return reached[1][0]


class _EdgesByNode:
    """The numbers of edges by the node at one of their ends; values before decisions."""

    def __init__(self, ends: Sequence[int], codes: Sequence[int], nodes: int) -> None:
        degree, direct = array("I", [0]) * (nodes + 1), array("I", [0]) * nodes
        for node, code in zip(ends, codes, strict=True):
            degree[node + 1] += 1
            direct[node] += code < FIRST_INDIRECT
        self._first = array("I", accumulate(degree))
        self._first_indirect = array("I", map(add, self._first, direct))
        self._edges = array("I", [0]) * len(codes)
        # By code and then, in that order, to the next free place of the node.
        by_code = [array("I") for _ in range(max(codes, default=-1) + 1)]
        for edge, code in enumerate(codes):
            by_code[code].append(edge)
        free = self._first[:]
        for edges in by_code:
            for edge in edges:
                node = ends[edge]
                self._edges[free[node]] = edge
                free[node] += 1

    def edges_of(self, node: int, indirect: bool) -> array[int]:
        """The edges of a node, with or without its INDIRECT ones."""
        last = self._first[node + 1] if indirect else self._first_indirect[node]
        return self._edges[self._first[node] : last]
