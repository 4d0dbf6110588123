"""The lines of files that changes are about."""

from __future__ import annotations

import re

from dbt_graft.analysis.checks.contracts import KIND
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.lineage.dataset import DatasetId

_ROW_WORDS = re.compile(r"\b(?:where|having|qualify|group|join|union|distinct|limit)\b", re.I)


def changed_line(code: str, node: NodeReview, change: NodeChange | None) -> int:
    """The line of a file that a change is about, as far as it names one.

    Else the first of what the file has of the node: of all of it, or of its entry in YAML.
    """
    start, text = entry_lines(code, node.node_id) or (1, code)
    if change is None:
        return start
    words = [change.column, *map(_table, change.datasets)]
    matches = [_word(word, text, node.kind) for word in words if word]
    if not any(matches) and change.verdict is ReviewVerdict.ROWS and not change.datasets:
        matches = [_ROW_WORDS.search(text)]
    first = next((match for match in matches if match), None)
    return start + (text.count("\n", 0, first.start()) if first else 0)


def entry_lines(code: str, name: str) -> tuple[int, str] | None:
    """The entry of a task in YAML: its first line, and its text; None where there is none."""
    head = re.compile(rf"^(?P<indent>[ \t]+)(?P<q>['\"]?){re.escape(name)}(?P=q)[ \t]*:", re.M)
    match = head.search(code)
    if not match:
        return None
    indent = len(match["indent"].expandtabs())
    lines = code[match.start() :].splitlines(keepends=True)
    end = next(
        (
            number
            for number, line in enumerate(lines)
            if number and line.strip() and len(line) - len(line.lstrip()) <= indent
        ),
        len(lines),
    )
    return code.count("\n", 0, match.start()) + 1, "".join(lines[:end])


def _word(word: str, text: str, kind: str) -> re.Match[str] | None:
    """The first place of a word; in a contract that at which it is a name."""
    exact = rf"\b{re.escape(word)}\b"
    name_pattern = rf"\b(?:name|physicalName)[\"']?[ \t]*:[ \t]*[\"']?{exact}"
    match = re.search(name_pattern, text, re.I) if kind == KIND else None
    return match or re.search(exact, text, re.I)


def _table(dataset: DatasetId) -> str:
    return dataset.name.rpartition("/")[2].rpartition(".")[2]
