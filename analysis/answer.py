"""An answer: what a question about a lineage gives, in one form for all renderers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from dbt_graft.analysis.finding import Finding
from dbt_graft.lineage.frozen import frozen

Cell = str | int | None


@frozen
class Table:
    """Rows alike.

    Attributes:
        title: A noun, as `datasets`; the number of rows is shown behind it.
        head: The name of each column; empty for one that needs none.
        rows: The most important first.
        total: The number of rows if it is more than those that are here.
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    total: int | None = None

    @property
    def count(self) -> int:
        """The number of all rows."""
        return len(self.rows) if self.total is None else self.total

    def columns(self, most: int | None) -> list[tuple[Cell, ...]]:
        """The columns of the first rows, each with its head, without those that are empty."""
        rows = self.rows[:most]
        head = self.head or ("",) * len(rows[0])
        columns = list(zip(head, *rows, strict=True))
        return [column for column in columns if any(cell != "" for cell in column[1:])] or columns


@frozen
class Tree:
    """A label with branches below it, as the way on which a value came.

    Attributes:
        is_command: The label is a command for a shell.
    """

    title: str
    branches: Sequence[Tree] = ()
    is_command: bool = False


@frozen
class Answer:
    """The answer of a question.

    Attributes:
        title: The thing or the times that were asked about.
        verdict: The answer in a few words; for a question without one, empty.
        facts: Name -> value, in a line each.
        tables: The details; what is empty is not shown.
        notes: Sentences about what is not known, and why.
        findings: What somebody should do something about.
        grade: The worst of what was found, by a name of the scale of the question, for
            `--fail-on`; empty if nothing was found.
        question: The name of the question; `docs/schemas/NAME.schema.json` has its data.
        data: All of it for programs.
    """

    title: str
    verdict: str = ""
    facts: Mapping[str, Cell] = field(default_factory=dict)
    tables: Sequence[Table | Tree] = ()
    notes: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    grade: str = ""
    question: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
