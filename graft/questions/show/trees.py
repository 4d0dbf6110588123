"""Upstream and downstream as trees, with what each step does and who does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

from dbt_graft.analysis.answer import Tree
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.catalog.formatting import SUBTYPE
from dbt_graft.graft.project.names import words
from dbt_graft.lineage.code_lines import code_line
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graph import Graph, N
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import ColumnEdge, EdgeType, Evidence, Subtype

SIDES = {True: "upstream", False: "downstream"}
_TASKS = 2  # that make a step, by name
# A step in words, whichever way the tree goes.
_CHANGE = SUBTYPE | {
    Subtype.JOIN: "join",
    Subtype.FILTER: "filter",
    Subtype.GROUP_BY: "group by",
    Subtype.SORT: "sort",
    Subtype.WINDOW: "window",
    Subtype.CONDITIONAL: "condition",
}


class Branch(NamedTuple):
    """A step of a tree: its end, its line, and whether the tree goes on from there."""

    end: Any
    line: str
    is_followed: bool = True


def tree(
    title: str, start: Any, branches_of: Callable[[Any], Sequence[Branch]], depth: int | None
) -> Tree:
    """A tree, each part of which is there once.

    Args:
        depth: The most steps; None for all.
    """
    root: list[Tree] = []
    seen = {start}
    waiting = [(root, iter(branches_of(start)))]
    while waiting:
        trees, branches = waiting[-1]
        branch = next(branches, None)
        if branch is None:
            waiting.pop()
            continue
        below = branches_of(branch.end) if branch.is_followed else ()
        note, children = "", list[Tree]()
        if below and branch.end in seen:
            note = "  (see above)"
        elif below and len(waiting) == depth:
            note = "  …"
        elif below:
            seen.add(branch.end)
            waiting.append((children, iter(below)))
        trees.append(Tree(f"{branch.line}{note}", children))
    return Tree(title, root)


@frozen
class Way:
    """The part of a lineage that is wanted.

    Attributes:
        sides: True for upstream, False for downstream.
        depth: The most steps; None for all.
        indirect: What decides on values and rows is followed, too.
    """

    sides: Sequence[bool] = (True, False)
    depth: int | None = None
    indirect: bool = False


@dataclass(frozen=True)
class Steps:
    """The steps of a lineage, in words."""

    described: DescribedLineage
    way: Way = field(default_factory=Way)

    def trees(
        self, start: Any, branches_of: Callable[..., Sequence[Branch]], depth: int | None = None
    ) -> list[Tree]:
        """The trees of each side, unless it is empty.

        Args:
            depth: The most steps where the way names none.
        """
        trees = [
            tree(
                "comes from" if upstream else "feeds",
                start,
                partial(branches_of, upstream=upstream),
                self.way.depth or depth,
            )
            for upstream in self.way.sides
        ]
        return [tree for tree in trees if tree.branches]

    def dataset(self, dataset: DatasetId) -> str:
        """The last two parts of a dataset's name; its identity where others end so too."""
        is_plain = len(dataset.parts) > 1 and self._shorts[dataset.short.casefold()] < 2
        return dataset.short if is_plain else str(dataset)

    def column(self, column: ColumnId) -> str:
        """A column; `*` is all columns, or one that is not known."""
        return f"{self.dataset(column.dataset)}.{column.name}"

    def maker(self, task: str) -> str:
        """A task's name, or that of a dbt model or a view."""
        definition = self.described.lineage.definitions.get(task)
        if definition and definition.kind is DefinitionKind.VIEW:
            return f"view {self.dataset(definition.dataset)}"
        return words(task) if definition else task

    def makers(self, edges: Sequence[ColumnEdge | Flow]) -> str:
        """The tasks and models of a step, and its evidence unless logs show it."""
        tasks = [*map(self.maker, dict.fromkeys(edge.task for edge in edges))]
        evidence = min((edge.evidence for edge in edges), key=list(Evidence).index)
        weak = "" if evidence is Evidence.OBSERVED else f", {evidence}"
        return f"by {join_names(tasks, _TASKS)}{weak}"

    def change(self, edges: Sequence[ColumnEdge]) -> str:
        """The change that a step makes, and who makes it."""
        changes = dict.fromkeys(
            edge.masked_by.word
            if edge.masking and edge.type is EdgeType.DIRECT
            else _CHANGE[edge.subtype]
            for edge in edges
        )
        edge = next((edge for edge in edges if edge.place), edges[0])
        line = code_line(self.described.lineage, edge.task, edge.place)
        by = self.makers(edges)
        if line:
            by = f"{by.removesuffix(f', {Evidence.CODE}')}, in {line.text}"
        return f"{', '.join(changes)}, {by}"

    def of_column(self, column: ColumnId, *, upstream: bool) -> list[Branch]:
        """The columns one step away, values first; upstream what decides is among them."""
        graph, indirect = self.described.column_graph, self.way.indirect
        if upstream:
            steps = graph.parents(column, indirect=True)
        else:
            steps = graph.children(column, indirect=indirect)
        steps.sort(key=lambda step: step.effect.type is EdgeType.INDIRECT)
        edges_by_end = group_by_key(
            (step.source if upstream else step.target, edge)
            for step in steps
            for edge in step.edges
        )
        return [
            Branch(
                end,
                f"{self.column(end)}  {self.change(edges)}",
                indirect or any(edge.type is EdgeType.DIRECT for edge in edges),
            )
            for end, edges in edges_by_end.items()
        ]

    def of_dataset(self, dataset: DatasetId, *, upstream: bool) -> list[Branch]:
        """The datasets one step away; downstream also who only reads it."""
        flows_by_end = group_by_key(
            (flow.source if upstream else flow.target, flow)
            for flow in self._flows[upstream].get(dataset, ())
        )
        readers = [] if upstream else self.described.consumers
        return [
            *(
                Branch(end, f"{self.dataset(end)}  {self.makers(flows)}")
                for end, flows in flows_by_end.items()
            ),
            *(
                Branch(reader, f"{reader.name}  ({reader.kind})", is_followed=False)
                for reader in readers
                if dataset in reader.reads
            ),
        ]

    def of_task(self, task: str, *, upstream: bool) -> list[Branch]:
        """The tasks and models that write what a task reads, or read what it writes."""
        near = self._tasks.parents(task) if upstream else self._tasks.children(task)
        return [Branch(other, self.maker(other)) for other in near]

    def readers(self, dataset: DatasetId) -> list[Consumer]:
        """The dashboards and the like that read a dataset, or what is made of it."""
        below = {dataset, *self._datasets.downstream(dataset)}
        return [reader for reader in self.described.consumers if not below.isdisjoint(reader.reads)]

    def reached(self, start: DatasetId | str) -> dict[str, list[dict[str, Any]]]:
        """All datasets, or tasks, on each side of one, with the steps to them."""
        if isinstance(start, DatasetId):
            return self._reached("dataset", self._datasets, start)
        return self._reached("task", self._tasks, start)

    def _reached(self, noun: str, graph: Graph[N], start: N) -> dict[str, list[dict[str, Any]]]:
        asks = {True: graph.upstream, False: graph.downstream}
        return {
            SIDES[upstream]: [
                {noun: str(far), "depth": depth}
                for far, depth in asks[upstream](start, self.way.depth).items()
            ]
            for upstream in self.way.sides
        }

    @cached_property
    def _datasets(self) -> Graph[DatasetId]:
        return self.described.lineage.dataset_graph()

    @cached_property
    def _tasks(self) -> Graph[str]:
        return self.described.lineage.task_graph()

    @cached_property
    def _flows(self) -> dict[bool, dict[DatasetId, list[Flow]]]:
        """The flows into, and out of, each dataset."""
        flows = self.described.lineage.flows
        return {
            True: group_by_key((flow.target, flow) for flow in flows),
            False: group_by_key((flow.source, flow) for flow in flows),
        }

    @cached_property
    def _shorts(self) -> Counter[str]:
        return Counter(dataset.short.casefold() for dataset in self.described.lineage.datasets)
