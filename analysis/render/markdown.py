"""An answer as Markdown for comments, in which nothing of a log or of people is markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dbt_graft.analysis.answer import Answer, Table, Tree
from dbt_graft.analysis.finding import Finding, worst_first
from dbt_graft.analysis.render.text import branch_lines

# A backslash does not stop tags of HTML and mentions of people everywhere.
_ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]|#~"} | {mark: f"&#{ord(mark)};" for mark in "<>@&"}
)
_ADDRESS = re.compile(r"https?://[!-;=?-{}~]+")


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
        lines += _table(_findings_table(worst_first(answer.findings)), most)
    for part in answer.tables:
        if isinstance(part, Tree):
            lines += [f"**{markdown_text(part.title)}**", "", *_items(part, most), ""]
        elif part.rows:
            lines += [f"**{markdown_text(part.title)}** ({part.count:,})", ""]
            lines += _table(part, most)
    lines += [f"Note: {markdown_text(note)}." for note in answer.notes]
    return "\n".join(lines).rstrip() + "\n"


def _table(table: Table, most: int | None) -> Iterator[str]:
    """The lines of a table, with an empty one behind it."""
    head, *rows = zip(*table.columns(most), strict=True)
    yield f"| {' | '.join(map(str, head))} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        cells = ("" if cell is None else markdown_text(str(cell)) for cell in row)
        yield f"| {' | '.join(cells)} |"
    if table.count > len(rows):
        yield ""
        yield f"… and {table.count - len(rows):,} more."
    yield ""


def markdown_text(value: str) -> str:
    """A text in one line, its marks escaped; an address is a link."""
    return f"<{value}>" if _ADDRESS.fullmatch(value) else one_line(value).translate(_ESCAPES)


def code(text: str) -> str:
    """A name as Markdown's code."""
    text = one_line(text)
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def one_line(text: str) -> str:
    """A text without control characters, in one line."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _items(tree: Tree, most: int | None) -> Iterator[str]:
    for indent, branch in branch_lines(tree, most):
        shown = code(branch.title) if branch.is_command else markdown_text(branch.title)
        yield f"{'  ' * (len(indent) // 4 - 1)}- {shown}"


def _findings_table(findings: Sequence[Finding]) -> Table:
    head = ("", "code", "place", "subject", "problem", "do", "owner", "by")
    rows = [
        (
            finding.severity.value,
            finding.code,
            finding.place,
            finding.subject,
            finding.statement,
            finding.remedy,
            finding.owner,
            " > ".join(finding.path),
        )
        for finding in findings
    ]
    return Table("", head, rows)
