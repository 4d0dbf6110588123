"""An answer as plain text, for a terminal and for logs of CI."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from dbt_graft.analysis.answer import Answer, Cell, Table, Tree
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.lineage.grouping import group_by_key

_WIDEST = 60  # that a cell is padded to
_LONG = 10  # times the rows of a table: the lines of a tree


def text(answer: Answer, most: int | None) -> str:
    """The answer in lines; no text of a log or of people commands the terminal.

    Args:
        most: The rows of each table, and the findings of each code; None for all.
    """
    return "".join(f"{one_line(line).rstrip()}\n" for line in _lines(answer, most))


def _lines(answer: Answer, most: int | None) -> Iterator[str]:
    yield ": ".join(filter(None, (answer.title, answer.verdict)))
    width = max((cell_len(name) for name in answer.facts), default=0)
    for name, value in answer.facts.items():
        yield f"  {_pad(name, width)}  {_cell(value)}"
    yield from (f"  note: {note}" for note in answer.notes)
    for part in answer.tables:
        if isinstance(part, Tree):
            yield ""
            yield part.title
            for indent, branch in branch_lines(part, most):
                yield f"{indent}{'$ ' if branch.is_command else ''}{branch.title}"
        elif part.rows:
            yield from ("", *_table(part, most))
    if answer.findings:
        yield from _findings(answer.findings, most)


def _table(table: Table, most: int | None) -> Iterator[str]:
    yield f"{table.title} ({table.count:,})"
    columns = [tuple(map(_cell, column)) for column in table.columns(most)]
    widths = [min(max(map(cell_len, column)), _WIDEST) for column in columns]
    rows = list(zip(*columns, strict=True))
    for row in rows if any(rows[0]) else rows[1:]:
        yield "  " + "  ".join(map(_pad, row, widths))
    if table.count >= len(rows):
        yield f"  and {table.count - len(rows) + 1:,} more: --all shows them"


def branch_lines(tree: Tree, most: int | None) -> Iterator[tuple[str, Tree]]:
    """Yield all branches below a tree, each with what stands before it; a tree may be very deep.

    Args:
        most: The branches of a branch; of ten times as many lines none has any more. None for all.
    """
    lines = 0

    def shown(branches: Sequence[Tree]) -> deque[Tree]:
        fan = len(branches) if most is None else most if lines < most * _LONG else 0
        rest = len(branches) - fan
        omitted = [Tree(f"and {rest:,} more: --all shows them")] if rest > 0 else []
        return deque([*branches[:fan], *omitted])

    waiting = [("", shown(tree.branches))]
    while waiting:
        indent, branches = waiting[-1]
        if not branches:
            waiting.pop()
            continue
        branch, lines = branches.popleft(), lines + 1
        yield f"{indent}{'├── ' if branches else '└── '}", branch
        waiting.append((f"{indent}{'│   ' if branches else '    '}", shown(branch.branches)))


def _findings(findings: Sequence[Finding], most: int | None) -> Iterator[str]:
    groups = group_by_key(((finding.severity, finding.code), finding) for finding in findings)
    for severity, code in sorted(groups, key=lambda kind: (list(Severity).index(kind[0]), kind[1])):
        alike = groups[severity, code]
        yield ""
        yield f"{severity.value}: {code} ({len(alike):,})"
        by_remedy = group_by_key((finding.remedy, finding) for finding in alike[:most])
        for remedy, findings_alike in by_remedy.items():
            yield from map(_finding, findings_alike)
            if len(by_remedy) > 1:
                yield from _remedy(remedy, "    ")
        if most and len(alike) > most:
            yield f"  and {len(alike) - most:,} more: --all shows them"
        if len(by_remedy) == 1:
            yield from _remedy(alike[0].remedy, "  ")
    yield ""
    yield count_severities(findings)


def _finding(finding: Finding) -> str:
    owner = f" ({finding.owner})" if finding.owner else ""
    way = f"  by {' > '.join(finding.path)}" if finding.path else ""
    place = f"{finding.place}: " if finding.place not in ("", finding.subject) else ""
    return f"  {place}{finding.subject}{owner}: {finding.statement}{way}"


def _remedy(remedy: str, indent: str) -> Iterator[str]:
    """The next step; further lines are to be copied, and stand as they are."""
    first, *block = remedy.splitlines() or [""]
    if first:
        yield f"{indent}do: {first}"
    yield from block


def count_severities(findings: Sequence[Finding]) -> str:
    """`1 error, 12 warnings`"""
    numbers = Counter(finding.severity for finding in findings)
    return ", ".join(count(numbers[kind], kind.value) for kind in Severity if kind in numbers)


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else one_line(value)


def _pad(value: str, width: int) -> str:
    return value + " " * (width - cell_len(value))
