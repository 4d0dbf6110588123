"""The clause OUTPUT of T-SQL: where it stands, and what OUTPUT … INTO writes."""

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
            values = _ACTION.sub("NULL", statement.text_between(at + 1, into))
            writes.append(f"INSERT INTO {statement.text_between(into + 1, behind)} SELECT {values}")
    return writes


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
