"""Pieces of T-SQL that name no source of a column and that sqlglot would not parse."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dbt_graft.collectors.statements.columns.outputs import (
    CHANGES,
    behind_output,
    output_clauses,
)
from dbt_graft.collectors.statements.columns.statement_tokens import Edit, StatementTokens
from dbt_graft.collectors.statements.text.tokens import keywords

_HINTS = keywords(
    """FORCESCAN FORCESEEK HOLDLOCK IGNORE_CONSTRAINTS IGNORE_TRIGGERS INDEX KEEPDEFAULTS
    KEEPIDENTITY NOEXPAND NOLOCK NOWAIT PAGLOCK READCOMMITTED READCOMMITTEDLOCK READPAST
    READUNCOMMITTED REPEATABLEREAD ROWLOCK SERIALIZABLE SNAPSHOT TABLOCK TABLOCKX UPDLOCK XLOCK
    DISTRIBUTION CLUSTERED HEAP PARTITION"""
)
_JOIN_HINTS = keywords("HASH LOOP MERGE REMOTE")
SIGNS = keywords("+ - * / % & | ^")


def left_out(statement: StatementTokens) -> Iterator[Edit]:
    """The pieces: hints, TOP, OUTPUT and others."""
    words = statement.words
    for at in range(len(statement.tokens)):
        behind = _place_behind(statement, at)
        if behind > at:
            yield at, behind, " "
        elif words[at] == "INTO" and words[name := statement.behind_name(at + 1)] == "ON":
            yield name, name + 2, " "  # a filegroup
        elif words[at] == "DELETE" and (first := _first_from(statement, at)):
            yield first, first + 1, " "
    for at, behind in output_clauses(statement):
        yield at, behind, " "


def _place_behind(statement: StatementTokens, at: int) -> int:
    """The place behind a piece that begins at a place, or else the place."""
    rule = _PIECES.get(statement.words[at])
    if rule:
        return rule(statement, at)
    if statement.words[at] in _JOIN_HINTS and statement.words[at + 1] == "JOIN" and at > 1:
        return at + 1
    return _assigned_variable(statement, at) if statement.words[at][:1] == "@" else at


def _with(statement: StatementTokens, at: int) -> int:
    words = statement.words
    if words[at + 1 : at + 3] == ["CHECK", "OPTION"]:
        return at + 3
    return _behind_hints(statement, at)


def _behind_hints(statement: StatementTokens, at: int) -> int:
    """The place behind `WITH (TABLOCK, …)`, or else the place."""
    words = statement.words
    hints = words[at] == "WITH" and words[at + 1] == "(" and words[at + 2] in _HINTS
    return statement.behind_brackets(at + 1) if hints else at


def _option(statement: StatementTokens, at: int) -> int:
    behind = statement.behind_brackets(at + 1)
    return behind if behind == len(statement.tokens) and behind > at + 1 else at


def _top(statement: StatementTokens, at: int) -> int:
    if statement.words[at - 1] not in CHANGES or statement.words[at + 1] != "(":
        return at
    behind = statement.behind_brackets(at + 1)
    return behind + (statement.words[behind] == "PERCENT")


def _culture(statement: StatementTokens, at: int) -> int:
    """`TRY_PARSE(a AS date USING 'en-US')`."""
    return at + 2 if statement.words[at + 1 : at + 3] == ["?", ")"] else at


def _assigned_variable(statement: StatementTokens, at: int) -> int:
    """`@v =` of `SET @v = a = 1`, or else the place."""
    words = statement.words
    if words[at - 1] not in {"SET", ","} or words[at + 1] != "=":
        return at
    behind = statement.behind_name(at + 2)
    behind += words[behind] in SIGNS
    return at + 2 if words[behind] == "=" else at


def _first_from(statement: StatementTokens, at: int) -> int:
    """The place of the first FROM of `DELETE FROM t FROM …`; 0 without a second one."""
    first = _top(statement, at + 1) if statement.words[at + 1] == "TOP" else at + 1
    if statement.words[first] != "FROM":
        return 0
    behind = _behind_hints(statement, statement.behind_name(first + 1))
    if statement.words[behind] == "OUTPUT":
        behind = behind_output(statement, behind)
    return first if statement.words[behind] == "FROM" else 0


_PIECES: dict[str, Callable[[StatementTokens, int], int]] = {
    "OPTION": _option,
    "TOP": _top,
    "USING": _culture,
    "WITH": _with,
}
