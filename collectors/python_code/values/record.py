"""The sources, targets, edges and gaps of a script while it is followed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from dbt_graft.collectors.python_code.script import (
    CalledFunction,
    Medium,
    Script,
    ScriptEdge,
    ScriptGap,
    ScriptSource,
    ScriptTarget,
)
from dbt_graft.collectors.python_code.values.values import Const, Input, LineGap, Value
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART, CodePlace
from dbt_graft.lineage.records import EdgeType, Masking

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")


class ScriptRecord:
    """The parts of a `Script`, each once."""

    def __init__(self) -> None:
        self.sources: dict[ScriptSource, int] = {}
        self._task = ""
        self._tasks: set[str] = set()
        self._called: dict[CodePlace, tuple[_FunctionNode, set[str]]] = {}
        self._handing_on: set[str] = set()
        self._files: dict[str, set[str]] = {}
        self._targets: dict[tuple[CodePlace, Medium, str, Dialect, str], int] = {}
        self._columns: list[dict[str, None]] = []
        self._open: set[int] = set()
        self._repeated_sources: set[int] = set()
        self._repeated_targets: set[int] = set()
        self._edges: dict[ScriptEdge, None] = {}
        self._gaps: dict[ScriptGap, None] = {}

    @property
    def has_targets(self) -> bool:
        """Whether the script writes at all."""
        return bool(self._targets)

    def add_task(self, task: str) -> None:
        """Note that there is a task of Airflow."""
        self._tasks.add(_without_templates(task))

    def add_call(self, file: str, function: _FunctionNode) -> None:
        """Note that a function is called."""
        place = CodePlace(file, function.lineno)
        self._called.setdefault(place, (function, set()))[1].add(self._task)

    def add_file(self, file: str) -> None:
        """Note that a file is read."""
        self._files.setdefault(file, set()).add(self._task)

    def add_result(self, value: Value) -> None:
        """Note that the task hands a value on to others, if it is one."""
        if self._task and value != Const(None):
            self._handing_on.add(self._task)

    @contextmanager
    def of_task(self, task: str) -> Iterator[None]:
        """Record what follows as the work of a task of Airflow."""
        self.add_task(task)
        before, self._task = self._task, task
        try:
            yield
        finally:
            self._task = before

    def add_source(self, place: CodePlace, medium: Medium, text: str, dialect: Dialect) -> int:
        """Add a source; its number."""
        source = ScriptSource(place, medium, _without_templates(text), dialect, task=self._task)
        if source in self.sources:
            self._repeated_sources.add(self.sources[source])
        return self.sources.setdefault(source, len(self.sources))

    def add_choice(self, place: CodePlace, sources: Iterable[int]) -> int:
        """Add a source that is one of several; its number."""
        choices = tuple(sources)
        source = ScriptSource(place, Medium.CHOICE, "", choices=choices, task=self._task)
        return self.sources.setdefault(source, len(self.sources))

    def add_target(self, place: CodePlace, medium: Medium, text: str, dialect: Dialect) -> int:
        """Add a target; its number."""
        key = place, medium, _without_templates(text), dialect, self._task
        if key in self._targets:
            self._repeated_targets.add(self._targets[key])
        else:
            self._targets[key] = len(self._targets)
            self._columns.append({})
        return self._targets[key]

    def add_columns(self, target: int, columns: Iterable[str]) -> None:
        """Add columns that a target gets."""
        self._columns[target].update(dict.fromkeys(columns))

    def open_target(self, target: int) -> None:
        """Note that a target gets further columns."""
        self._open.add(target)

    def add_edges(
        self,
        target: int,
        column: str,
        inputs: Iterable[Input],
        place: CodePlace,
        without: tuple[str, ...] = (),
    ) -> None:
        """Add the inputs of a column of a target."""
        for source, from_column, subtype, masking in _strongest(inputs):
            if source < 0:
                self.add_gap(
                    LineGap(place, f"the frame of column {from_column!r} is not known"),
                    target,
                    column,
                )
                continue
            edge = ScriptEdge(target, column, source, from_column, subtype, place, masking, without)
            self._edges[edge] = None

    def add_gap(self, gap: LineGap, target: int | None = None, column: str = "") -> None:
        """Add a gap, of a column of a target where it is known."""
        self._gaps[ScriptGap(gap.place, gap.reason, target, column, self._task)] = None

    def script(self) -> Script:
        """The script as recorded."""
        sources = tuple(
            replace(source, is_repeated=at in self._repeated_sources)
            for source, at in self.sources.items()
        )
        targets = tuple(
            ScriptTarget(
                *(place, medium, text, tuple(self._columns[at])),
                *(at in self._open, dialect, at in self._repeated_targets, task),
            )
            for (place, medium, text, dialect, task), at in self._targets.items()
        )
        functions = {
            place: CalledFunction(
                getattr(node, "name", ""),
                frozenset(_names(node)) if self._tasks else frozenset(),
                self._used_by(tasks),
            )
            for place, (node, tasks) in self._called.items()
        }
        files = {file: self._used_by(tasks) for file, tasks in self._files.items()}
        return Script(
            *(sources, targets, tuple(self._edges), tuple(self._gaps)),
            *(tuple(sorted(self._tasks)), functions, files),
        )

    def _used_by(self, tasks: Iterable[str]) -> frozenset[str]:
        return frozenset("" if task in self._handing_on else task for task in tasks)


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _without_templates(text: str) -> str:
    """A text that Airflow fills in for a run: `landing/{{ ds }}/orders.csv`."""
    return _TEMPLATE.sub(UNKNOWN_PART, text)


def _strongest(inputs: Iterable[Input]) -> list[Input]:
    """Of a column that goes into another on several ways, the way that changes it most."""
    direct: dict[tuple[int, str, Masking], Input] = {}
    others = []
    for item in sorted(inputs):
        if item.subtype.type is EdgeType.INDIRECT:
            others.append(item)
            continue
        key = item.source, item.column, item.masking
        before = direct.get(key)
        direct[key] = item if before is None else item.then(before.subtype)
    return [*direct.values(), *others]
