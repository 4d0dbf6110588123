"""The clause OUTPUT of T-SQL: where it stands, and what becomes of the rows that it returns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_graft.collectors.statements.columns.statement_tokens import StatementTokens
from dbt_graft.collectors.statements.text.tokens import Token, keywords

CHANGES = keywords("INSERT UPDATE DELETE MERGE")
_BEHIND = keywords("SELECT VALUES FROM WHERE WITH EXEC EXECUTE DEFAULT OUTPUT OPTION ;")
_ACTION = re.compile(r"\$action\b", re.IGNORECASE)


def outputs_into(text: str, tokens: list[Token]) -> list[str]:
    """The writes of `OUTPUT … INTO`, as statements of their own: `INSERT INTO … SELECT …`."""
    statement = StatementTokens(text, tokens)
    writes = []
    for at, behind in output_clauses(statement):
        into = next((near for near in range(at, behind) if statement.words[near] == "INTO"), 0)
        if at + 1 < into < behind - 1:
            values = _values(statement, at + 1, into)
            writes.append(f"INSERT INTO {statement.text_between(into + 1, behind)} SELECT {values}")
    return writes


def split_composed(text: str, tokens: list[Token]) -> tuple[str, list[Token], str] | None:
    """`INSERT … SELECT … FROM (DELETE … OUTPUT …) x` -> the DELETE, its tokens, and the INSERT.

    In the INSERT, `(SELECT deleted.a …) x` stands for the rows that the DELETE returns.
    """
    outer = StatementTokens(text, tokens)
    words = outer.words
    for at in range(1, len(tokens) if words[0] in {"INSERT", "WITH"} else 0):
        if words[at] == "(" and words[at - 1] == "FROM" and words[at + 1] in CHANGES:
            end = outer.behind_brackets(at) - 1
            inner = StatementTokens(outer.text_between(at + 1, end), tokens[at + 1 : end])
            clause = next(output_clauses(inner), None)
            if clause is None:
                return None
            values = _values(inner, clause[0] + 1, clause[1])
            head, tail = outer.text_between(0, at + 1), outer.text_between(end, len(tokens))
            return inner.text, inner.tokens, f"{head}SELECT {values}{tail}"
    return None


def _values(statement: StatementTokens, at: int, behind: int) -> str:
    return _ACTION.sub("NULL", statement.text_between(at, behind))


def output_clauses(statement: StatementTokens) -> Iterator[tuple[int, int]]:
    """The places where clauses begin, and those behind them."""
    words = statement.words
    if words[0] in CHANGES | {"WITH"}:
        for at, word in enumerate(words):
            if word == "OUTPUT" and "." not in (words[at - 1], words[at + 1]):
                yield at, behind_output(statement, at)


def behind_output(statement: StatementTokens, at: int) -> int:
    """The place behind OUTPUT, its columns, INTO, and the columns of that."""
    at += 1
    while at < len(statement.tokens) and statement.words[at] not in _BEHIND:
        at = max(at + 1, statement.behind_brackets(at))
    return at
