"""T-SQL as sqlglot can parse it: without pieces that name no source of a column, others rewritten.

Hints, TOP, OPTION and OUTPUT are left out, `a += b` becomes `a = a + b`, and a method of an XML,
spatial or other column becomes a function of it.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.columns.left_out import left_out
from dbt_graft.collectors.statements.columns.rewrites import rewrites
from dbt_graft.collectors.statements.columns.statement_tokens import StatementTokens
from dbt_graft.collectors.statements.text.tokens import Token

_ODBC_TIME = re.compile(r"\{\s*+(?:ts|d|t)\s*+\?\s*+(?:\}|\Z)", re.IGNORECASE)


def make_readable(text: str, tokens: list[Token]) -> str:
    """A statement of T-SQL, rewritten where sqlglot would not parse it.

    Args:
        text: What the tokens are of; its first one is the statement's.
    """
    statement = StatementTokens(text, tokens)
    offset = tokens[0].start
    pieces, at = [], 0
    for first, behind, instead in sorted((*left_out(statement), *rewrites(statement))):
        start = tokens[first].start - offset
        if start >= at:
            pieces += [text[at:start], instead]
            at = tokens[min(behind, len(tokens)) - 1].end - offset
    rewritten = "".join([*pieces, text[at:]]) if pieces else text
    return _ODBC_TIME.sub("?", rewritten) if "{" in rewritten else rewritten
