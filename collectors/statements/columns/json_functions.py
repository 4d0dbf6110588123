"""JSON functions of T-SQL, without what sqlglot would not parse: `'k': v`, NULL ON NULL, RETURNING.

https://learn.microsoft.com/sql/t-sql/functions/json-functions-transact-sql
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dbt_graft.collectors.statements.columns.statement_tokens import Edit, StatementTokens

# Each, and a function that sqlglot reads in its place: its arguments are all that counts.
JSON_FUNCTIONS: Mapping[str, str] = {
    "JSON_ARRAY": "CONCAT",
    "JSON_ARRAYAGG": "JSON_AGG",
    "JSON_OBJECT": "CONCAT",
    "JSON_OBJECTAGG": "JSONB_OBJECT_AGG",
    "JSON_QUERY": "JSON_QUERY",
    "JSON_VALUE": "JSON_VALUE",
}
_ON_NULL = (["NULL", "ON", "NULL"], ["ABSENT", "ON", "NULL"])


def json_function(statement: StatementTokens, at: int) -> Iterator[Edit]:
    """The edits of a function whose brackets open at a place."""
    words = statement.words
    end = statement.behind_brackets(at) - 1
    position = at + 1
    if position < end:
        yield at - 1, at, JSON_FUNCTIONS[words[at - 1]]
    while position < end:
        behind = max(position + 1, statement.behind_brackets(position))
        if words[position] == ":":
            yield position, behind, ","
        elif words[position : position + 3] in _ON_NULL:
            behind = position + 3
            yield position, behind, " "
        elif words[position] == "RETURNING" or words[position : position + 2] == ["WITH", "ARRAY"]:
            behind = end
            yield position, behind, " "
        position = behind
