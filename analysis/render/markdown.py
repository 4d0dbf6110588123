"""An answer as Markdown for comments, in which nothing of a log or of people is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dbt_graft.analysis.answer import Answer, Cell, Tree
from dbt_graft.analysis.finding import Finding, worst_first

# A backslash does not stop tags of HTML and mentions of people everywhere.
_ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]|#~"} | {mark: f"&#{ord(mark)};" for mark in "<>@"}
)


def markdown(answer: Answer, most: int | None) -> str:
    """The answer for a comment or a ticket; its first line is the mark by which it is found again.

    Args:
        most: The rows of each table; None for all.
    """
    lines = [f"<!-- dbt-graft {answer.question} -->"]
    verdict = f": {markdown_text(answer.verdict)}" if answer.verdict else ""
    lines += [f"### {markdown_text(answer.title)}{verdict}", ""]
    lines += [
        f"- {markdown_text(name)}: {markdown_text(str(value))}"
        for name, value in answer.facts.items()
        if value is not None
    ]
    lines += [""] if answer.facts else []
    if answer.findings:
        lines += _findings_table(worst_first(answer.findings), most)
    for part in answer.tables:
        if isinstance(part, Tree):
            lines += [f"**{markdown_text(part.title)}**", "", *_items(part.branches, 0), ""]
        elif part.rows:
            total = len(part.rows) if part.total is None else part.total
            lines += [f"**{markdown_text(part.title)}** ({total:,})", ""]
            lines += markdown_table(part.head, map(_cells, part.rows[:most]), total)
    lines += [f"Note: {markdown_text(note)}." for note in answer.notes]
    return "\n".join(lines).rstrip() + "\n"


def markdown_table(
    head: tuple[str, ...], rows: Iterable[tuple[str, ...]], total: int
) -> Iterator[str]:
    """The lines of a table, with an empty one behind it; nothing for a table without rows.

    Args:
        rows: Those that are shown.
        total: The number of all.
    """
    table_rows = list(rows)
    if not table_rows:
        return
    columns = len(table_rows[0])
    yield f"| {' | '.join(head or ('',) * columns)} |"
    yield f"|{'---|' * columns}"
    for row in table_rows:
        yield f"| {' | '.join(map(markdown_text, row))} |"
    if total > len(table_rows):
        yield ""
        yield f"… and {total - len(table_rows):,} more."
    yield ""


def markdown_text(value: str) -> str:
    """A text in one line, its marks escaped."""
    return one_line(value).translate(_ESCAPES)


def code(text: str) -> str:
    """A name as Markdown's code."""
    text = one_line(text)
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def one_line(text: str) -> str:
    """A text without control characters, in one line."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _items(branches: Iterable[Tree], depth: int) -> Iterator[str]:
    for branch in branches:
        shown = code(branch.title) if branch.is_command else markdown_text(branch.title)
        yield f"{'  ' * depth}- {shown}"
        yield from _items(branch.branches, depth + 1)


def _findings_table(findings: Sequence[Finding], most: int | None) -> Iterator[str]:
    """The table of findings, without the columns that are empty."""
    head = ("", "code", "subject", "problem", "do", "owner", "by")
    rows = [
        (
            finding.severity.value,
            finding.code,
            finding.subject,
            finding.statement,
            finding.remedy,
            finding.owner,
            " > ".join(finding.path),
        )
        for finding in findings[:most]
    ]
    columns = [(name, column) for name, *column in zip(head, *rows, strict=True) if any(column)]
    names, cells = zip(*columns, strict=True)
    return markdown_table(names, zip(*cells, strict=True), len(findings))


def _cells(row: tuple[Cell, ...]) -> tuple[str, ...]:
    return tuple("" if cell is None else str(cell) for cell in row)
