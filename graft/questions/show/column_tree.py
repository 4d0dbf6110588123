"""A column's upstream or downstream as a tree in lines, with the change that each step makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import click

from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.catalog.formatting import SUBTYPE
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ColumnEdge, EdgeType, Evidence, Subtype

# Unless everything is wanted: children of a column, lines of a tree; tasks of a step.
_FAN, _LINES, _TASKS = 12, 200, 2
# A step in words, whichever way the tree goes.
_CHANGE = SUBTYPE | {
    Subtype.JOIN: "join",
    Subtype.FILTER: "filter",
    Subtype.GROUP_BY: "group by",
    Subtype.SORT: "sort",
    Subtype.WINDOW: "window",
    Subtype.CONDITIONAL: "condition",
}


@dataclass(frozen=True)
class ColumnView:
    """The lineage of columns, and the part of it that is wanted.

    Attributes:
        depth: The most steps; None for all.
        indirect: What decides on values and rows is followed too.
        everything: No wide fan is cut, and no long tree.
    """

    graph: ColumnGraph
    lineage: Lineage
    depth: int | None = None
    indirect: bool = False
    everything: bool = False

    def dataset(self, dataset: DatasetId) -> str:
        """The last two parts of a dataset's name; its identity where others end so too."""
        is_plain = len(dataset.parts) > 1 and self._shorts[dataset.short.casefold()] < 2
        return one_line(dataset.short if is_plain else str(dataset))

    def label(self, column: ColumnId) -> str:
        """A column in a terminal; `*` is all columns, or one that is not known."""
        return click.style(f"{self.dataset(column.dataset)}.{one_line(column.name)}", bold=True)

    def change(self, edges: Sequence[ColumnEdge]) -> str:
        """The change that a step makes, the tasks or models that make it, and its evidence."""
        words = dict.fromkeys(
            edge.masked_by.word
            if edge.masking and edge.type is EdgeType.DIRECT
            else _CHANGE[edge.subtype]
            for edge in edges
        )
        tasks = list(dict.fromkeys(edge.task for edge in edges))
        by = ", ".join(map(self.maker, tasks[:_TASKS]))
        rest = f" and {len(tasks) - _TASKS} more" if len(tasks) > _TASKS else ""
        evidence = min((edge.evidence for edge in edges), key=list(Evidence).index)
        weak = "" if evidence is Evidence.OBSERVED else f", {evidence}"
        return click.style(one_line(f"{', '.join(words)}, by {by}{rest}{weak}"), dim=True)

    def maker(self, task: str) -> str:
        """A task's name, or that of a dbt model or a view."""
        definition = self.lineage.definitions.get(task)
        if definition is None:
            return task
        if definition.kind is DefinitionKind.VIEW:
            return f"view {self.dataset(definition.dataset)}"
        resource, _, rest = task.partition(".")
        return f"{resource} {rest.partition('.')[2]}"

    @cached_property
    def _shorts(self) -> Counter[str]:
        return Counter(dataset.short.casefold() for dataset in self.lineage.datasets)


@dataclass
class _Level:
    """The children of a column that are not printed yet; of those that never are, the number."""

    before: str
    depth: int
    children: list[tuple[ColumnId, list[ColumnEdge]]]
    omitted: int = 0


def tree(view: ColumnView, column: ColumnId, *, upstream: bool) -> Iterator[str]:
    """Yield the lines of a tree below a column; none where it has no step in this direction.

    A sub-tree is printed once. Upstream, what decides is always printed, but followed only where
    the view says so.
    """

    def level(before: str, depth: int, column: ColumnId) -> _Level:
        children = _children(view, column, upstream)
        fan = len(children) if view.everything else _FAN if lines < _LINES else 0
        children, rest = children[:fan], children[fan:]
        return _Level(before, depth, children[::-1], len(rest))

    lines, seen = 0, {column}
    levels = [level("", 1, column)]
    while levels:
        deepest = levels[-1]
        if not deepest.children:
            if deepest.omitted:
                yield f"{deepest.before}└─ … and {deepest.omitted:,} more (--all)"
            levels.pop()
            continue
        far, edges = deepest.children.pop()
        is_last = not deepest.children and not deepest.omitted
        note = ""
        if view.indirect or any(edge.type is EdgeType.DIRECT for edge in edges):
            below = level(deepest.before + ("   " if is_last else "│  "), deepest.depth + 1, far)
            if below.children or below.omitted:
                if far in seen:
                    note = "  (see above)"
                elif deepest.depth == view.depth:
                    note = "  …"
                else:
                    levels.append(below)
                    seen.add(far)
        lines += 1
        branch = "└─" if is_last else "├─"
        yield f"{deepest.before}{branch} {view.label(far)}  {view.change(edges)}{note}"


def _children(
    view: ColumnView, column: ColumnId, upstream: bool
) -> list[tuple[ColumnId, list[ColumnEdge]]]:
    """The columns one step away with the edges to them, values first."""
    steps = (
        view.graph.parents(column, indirect=True)
        if upstream
        else view.graph.children(column, indirect=view.indirect)
    )
    edges_by_column: dict[ColumnId, list[ColumnEdge]] = {}
    for step in sorted(steps, key=lambda step: step.effect.type is EdgeType.INDIRECT):
        edges_by_column.setdefault(step.source if upstream else step.target, []).extend(step.edges)
    return list(edges_by_column.items())
