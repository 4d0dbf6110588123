"""The texts of T-SQL's functions as views: of the rows that one returns, or of its one value.

The view of a value has one column, named like the function. Where queries that can be seen do not
fill what a function returns, there is no view.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.tables.verbs import declared_tables
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.modules import body, called_functions
from dbt_graft.collectors.statements.text.names import name_at
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords, tokenise

_BLOCKS = keywords("BEGIN END ELSE RETURN")
_CHANGES = keywords("SET SELECT IF WHILE")


class FunctionView(NamedTuple):
    """A function as a view.

    Attributes:
        text: Empty where its rows or its value are not those of queries that can be seen.
        of_one_value: It returns one value, and the view one column.
    """

    text: str
    of_one_value: bool = False


def function_view(text: str) -> FunctionView:
    """A function, by its text: `CREATE FUNCTION f … RETURN (SELECT …)` as `CREATE VIEW f AS …`."""
    try:
        tokens = tokenise(text, Dialect.TSQL)
    except TokenError:
        return FunctionView("")
    words = [token.word for token in tokens]
    first = words.index("FUNCTION") + 1 if "FUNCTION" in words else 0
    name = name_at(tokens, first, Dialect.TSQL)
    if not first or name is None or "RETURNS" not in words:
        return FunctionView("")
    create = f"CREATE VIEW {_text(text, tokens[first : name.end])}"
    begins = body(tokens, closings(tokens), words.index("RETURNS"))
    if ("RETURNS", "TABLE") in pairwise(words):
        returns = words.index("RETURN") if "RETURN" in words else None
        return FunctionView(f"{create} AS {text[tokens[returns].end :]}" if returns else "")
    statements = [
        statement
        for statement in split(tokens[begins:], Dialect.TSQL)
        if len(statement) > 1 or statement[0].word not in _BLOCKS
    ]
    returned = tokens[words.index("RETURNS") + 1]
    if returned.word[:1] == "@":
        return FunctionView(_filled_table(text, create, returned.word, tokens, statements))
    query = _value(text, statements)
    column = name.name[-1].replace("]", "]]")
    return FunctionView(query and f"{create} ([{column}]) AS {query}", of_one_value=True)


def _text(text: str, tokens: list[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def _reads(statement: list[Token]) -> bool:
    return any(token.word == "FROM" for token in statement)


def _value(text: str, statements: list[list[Token]]) -> str:
    """The query of a function's value: its RETURN, or the one that fills what this returns."""
    reading = [statement for statement in statements if _reads(statement)]
    calling = [statement for statement in statements if any(called_functions(statement))]
    returns = [statement for statement in statements if statement[0].word == "RETURN"]
    if not reading and not calling:
        return "SELECT 1" if returns else ""
    source = (reading or calling)[0]
    if len(returns) != 1 or any(other is not source for other in (*reading, *calling)):
        return ""
    words = [token.word for token in source]
    if source is returns[0]:
        value = f"SELECT {_text(text, source[1:])}"
    elif words[0] in ("SET", "DECLARE") and words[1][:1] == "@" and words[-1] == ")":
        value = f"SELECT {_text(text, source[words.index('=') + 1 :])}"
    elif words[0] == "SELECT" and (value := _assigned_query(text, source)):
        pass
    else:
        return ""
    # What is worked out with it afterwards is not looked at: it is made of the value.
    alone = source is returns[0] or (len(returns[0]) == 2 and len(_changing(statements)) == 1)
    return value if alone else f"SELECT CONCAT(v.x, '') FROM ({value}) AS v (x)"  # noqa: S608


def _changing(statements: list[list[Token]]) -> list[list[Token]]:
    return [
        statement
        for statement in statements
        if statement[0].word in _CHANGES
        or (statement[0].word == "DECLARE" and any(token.word == "=" for token in statement))
    ]


def _assigned_query(text: str, query: list[Token]) -> str:
    """`SELECT TOP 1 @v = a FROM t` as `SELECT TOP 1 a FROM t`; empty if it assigns more."""
    words = [token.word for token in query]
    end = words.index("FROM")
    places = [at for at in range(1, end) if words[at] == "=" and words[at - 1][:1] == "@"]
    if len(places) != 1 or "," in _outermost(words[:end]):
        return ""
    before, behind = query[: places[0] - 1], query[places[0] + 1 :]
    return f"{_text(text, before)} {_text(text, behind)}"


def _outermost(words: list[str]) -> list[str]:
    depth, outermost = 0, list[str]()
    for word in words:
        depth += (word == "(") - (word == ")")
        if not depth:
            outermost.append(word)
    return outermost


def _declared(tokens: list[Token], table: str) -> str:
    """The columns of a table variable, `([a], [b])`."""
    columns = dict(declared_tables(tokens))
    names = next((columns[name] for name in columns if name[0].upper() == table), ())
    quoted = ", ".join(f"[{name.replace(']', ']]')}]" for name in names)
    return f"({quoted})" if quoted else ""


def _filled_table(
    text: str, create: str, table: str, tokens: list[Token], statements: list[list[Token]]
) -> str:
    """The rows that INSERT puts into what a function returns; empty if others put some there."""
    queries: list[str] = []
    columns: str | None = None
    for statement in statements:
        words = [token.word for token in statement]
        at = 2 if words[:2] == ["INSERT", "INTO"] else 1
        if words[0] == "INSERT" and words[at : at + 1] == [table]:
            named = _text(text, statement[at + 1 : closings(statement).get(at + 1, at) + 1])
            query = statement[closings(statement).get(at + 1, at) + 1 :]
            if query and query[0].word == "VALUES":
                continue
            if columns not in (None, named) or not query or query[0].word != "SELECT":
                return ""
            columns = named
            queries.append(_text(text, query))
        elif _reads(statement) or (table in words and words[0] != "RETURN"):
            return ""
    columns = columns or _declared(tokens, table)
    return f"{create} {columns} AS {' UNION ALL '.join(queries)}" if queries and columns else ""
