"""Columns that a query takes by `*` alone: without them it has fewer columns, and does not fail."""

from __future__ import annotations

import re
from collections.abc import Iterable

# To the end of the line, unless it may be inside of quotes or of another comment, which ends there.
_COMMENT = re.compile(r"--[ \t][^\n'\"`\[\]/]*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
# Where all columns decide on rows, or must be as many as those of another query.
_COUNTING = frozenset(
    {"union", "intersect", "except", "minus", "distinct", "natural", "pivot", "unpivot", "all"}
)


def starred_columns(sql: str, columns: Iterable[str]) -> tuple[str, ...]:
    """The columns of those that a query reads, folded, in order, that no word of its SQL means."""
    folded = {column.casefold() for column in columns}
    if not folded or "*" not in sql:
        return ()
    code = _COMMENT.sub("", sql) if "--" in sql else sql
    words = {*_WORD.findall(code.casefold())}
    if not words.isdisjoint(_COUNTING):
        return ()
    return tuple(sorted(column for column in folded if not words.issuperset(_WORD.findall(column))))
