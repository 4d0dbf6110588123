"""The answers of `graft columns`, as lines for a terminal and as JSON values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click

from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.questions.show.column_reasons import reasons
from dbt_graft.graft.questions.show.column_tree import ColumnView, tree
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.graphs.column_path import (
    ColumnId,
    ColumnPaths,
    ColumnStep,
    Effect,
    ReachedColumn,
)

_SHOWN, _PATHS, _MOST_PATHS = 8, 10, 1_000


@dataclass(frozen=True)
class TableListing:
    """The columns of a table, with the numbers of columns upstream and downstream."""

    dataset: DatasetId
    view: ColumnView

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON values."""
        rows = [
            {"name": column.name, "upstream": upstream, "downstream": downstream}
            for column, upstream, downstream in self._counted()
        ]
        return {"dataset": str(self.dataset), "columns": rows}

    def lines(self) -> Iterator[str]:
        """The answer for people."""
        rows = list(self._counted())
        yield click.style(one_line(str(self.dataset)), bold=True)
        if not rows:
            yield "  no schema and no statement that was read names a column of it"
        width = max((len(column.name) for column, *_ in rows), default=0)
        for column, upstream, downstream in rows:
            name = one_line(column.name).ljust(width)
            yield f"  {name}  comes from {upstream:,}, feeds {downstream:,}"

    def _counted(self) -> Iterator[tuple[ColumnId, int, int]]:
        depth, indirect = self.view.depth, self.view.indirect
        for column in self.view.graph.columns(self.dataset):
            upstream = self.view.graph.upstream(column, depth, indirect=indirect)
            downstream = self.view.graph.downstream(column, depth, indirect=indirect)
            yield column, len(upstream), len(downstream)


@dataclass(frozen=True)
class ColumnLine:
    """All that a column comes from and feeds, and the ends of its line.

    Attributes:
        sides: True for upstream, False for downstream.
    """

    column: ColumnId
    view: ColumnView
    sides: Sequence[bool]

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON values."""
        answer: dict[str, Any] = _column(self.column)
        for upstream in self.sides:
            ask = self.view.graph.upstream if upstream else self.view.graph.downstream
            reached = ask(self.column, self.view.depth, indirect=self.view.indirect)
            answer["upstream" if upstream else "downstream"] = [*map(_reached, reached)]
            if not reached:
                answer.setdefault("reasons", []).extend(self._reasons(upstream))
        if False in self.sides:
            answer["ends"] = [*map(_column, self._ends)]
            answer["consumers"] = [
                {
                    "node_id": consumer.node_id,
                    "name": consumer.name,
                    "kind": consumer.kind,
                    "url": consumer.url,
                }
                for consumer in self._consumers
            ]
        return answer

    def lines(self) -> Iterator[str]:
        """The answer for people."""
        yield click.style(one_line(str(self.column)), bold=True)
        for upstream in self.sides:
            yield "comes from" if upstream else "feeds"
            lines = list(tree(self.view, self.column, upstream=upstream))
            yield from (f"  {line}" for line in lines)
            if not lines:
                why = list(self._reasons(upstream))
                yield "  nothing that is known" if why else "  no column"
                yield from (f"  - {one_line(reason)}" for reason in why[:_SHOWN])
        if False not in self.sides:
            return
        if not self.view.indirect and (decided := self._decided_text()):
            yield f"decides on {decided} (--kind all)"
        if self._ends:
            yield f"ends in {_list_names(self.view.label(column) for column in self._ends)}"
        if self._consumers:
            names = _list_names(one_line(consumer.name) for consumer in self._consumers)
            yield f"read by {_counted_kinds(self._consumers)}: {names}"

    @cached_property
    def _ends(self) -> list[ColumnId]:
        return self.view.graph.ends(self.column, indirect=self.view.indirect)

    @cached_property
    def _consumers(self) -> list[Consumer]:
        return self.view.graph.consumers(self.column, indirect=self.view.indirect)

    def _reasons(self, upstream: bool) -> Iterator[str]:
        return reasons(self.view, self.column, upstream=upstream)

    def _decided_text(self) -> str:
        """The columns and tables on which it decides in one step."""
        steps = self.view.graph.children(self.column, indirect=True)
        direct = {step.target for step in self.view.graph.children(self.column)}
        targets = [step.target for step in steps if step.target not in direct]
        return _list_names(self.view.label(target) for target in dict.fromkeys(targets))


@dataclass(frozen=True)
class PathListing:
    """The paths from one column to another, or back where there is none."""

    start: ColumnId
    end: ColumnId
    view: ColumnView

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON values."""
        start, end, search = self._found
        paths = [{**_effect(p.effect), "steps": [*map(_step, p.steps)]} for p in search.paths]
        ends = {"from": str(start), "to": str(end)}
        return {**ends, "is_complete": search.is_complete, "paths": paths}

    def lines(self) -> Iterator[str]:
        """The answer for people."""
        start, end, search = self._found
        if not search.paths:
            yield f"no path between {self.view.label(start)} and {self.view.label(end)}"
            if not self.view.indirect:
                yield "  --kind all also follows what decides on values and rows"
            return
        count = f"{'' if search.is_complete else 'the shortest '}{_count(search.paths, 'path')}"
        yield f"{self.view.label(start)} to {self.view.label(end)}: {count}"
        for path in search.paths:
            yield f"  {_count(path.steps, 'step')}"
            yield f"    {self.view.label(path.steps[0].source)}"
            for step in path.steps:
                yield f"    → {self.view.label(step.target)}  {self.view.change(step.edges)}"
        if not search.is_complete:
            yield f"  there are more; --all prints up to {_MOST_PATHS:,}"

    @cached_property
    def _found(self) -> tuple[ColumnId, ColumnId, ColumnPaths]:
        limit = _MOST_PATHS if self.view.everything else _PATHS
        for start, end in ((self.end, self.start), (self.start, self.end)):
            back = self.view.graph.paths(end, start, limit, indirect=self.view.indirect)
            if back.paths:
                return end, start, back
        return self.start, self.end, back


def _count(members: Sequence[object], noun: str) -> str:
    return f"{len(members):,} {noun}{'' if len(members) == 1 else 's'}"


def _list_names(names: Iterable[str]) -> str:
    listed = list(names)
    rest = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + rest


def _counted_kinds(consumers: Iterable[Consumer]) -> str:
    """`3 dashboards, 1 task`."""
    kinds = Counter(one_line(consumer.kind) for consumer in consumers)
    return ", ".join(f"{n:,} {kind}{'' if n == 1 else 's'}" for kind, n in sorted(kinds.items()))


def _column(column: ColumnId) -> dict[str, Any]:
    return {"dataset": str(column.dataset), "column": column.name}


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "type": str(effect.type),
        "subtype": str(effect.subtype),
        "masking": effect.masking,
        "evidence": str(effect.evidence),
    }


def _reached(reached: ReachedColumn) -> dict[str, Any]:
    return {**_column(reached.column), "depth": reached.depth, **_effect(reached.effect)}


def _step(step: ColumnStep) -> dict[str, Any]:
    edges = [
        {
            "type": str(edge.type),
            "subtype": str(edge.subtype),
            "masking": edge.masking,
            "evidence": str(edge.evidence),
            "task": edge.task,
        }
        for edge in step.edges
    ]
    return {"from": _column(step.source), "to": _column(step.target), "edges": edges}
