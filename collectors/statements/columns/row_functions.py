"""OPENJSON, OPENXML and OPENROWSET … WITH (…), whose columns it names, as sqlglot reads them.

OPENJSON(a) WITH (b int '$.b') AS j           OPENJSON(a) AS j ([b])
OPENROWSET(BULK files.[x], …) AS f            files.[x] AS f
OPENROWSET(BULK files.[x], …) WITH (b int) f  (SELECT [b] FROM files.[x]) AS f
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.statements.columns.statement_tokens import Edit, StatementTokens
from dbt_graft.collectors.statements.text.files import FILES
from dbt_graft.collectors.statements.text.source_words import NO_ALIAS
from dbt_graft.collectors.statements.text.tokens import keywords

ROW_FUNCTIONS = keywords("OPENJSON OPENROWSET OPENXML")
_NO_NAME = "[rows]"


def row_function(statement: StatementTokens, at: int) -> Iterator[Edit]:
    """The edits of a function whose brackets open at a place."""
    words, behind = statement.words, statement.behind_brackets(at)
    names = _column_names(statement, behind + 1) if words[behind] == "WITH" else []
    file = _file(statement, at)
    if not names:
        if file:
            yield at - 1, behind, file
        if (
            words[behind] == "WITH" and words[behind + 1] != "("
        ):  # WITH dbo.t: as that table has them
            yield behind, statement.behind_name(behind + 1), " "
        return
    end = statement.behind_brackets(behind + 1)
    alias_at = end + (words[end] == "AS")
    is_named = (
        alias_at < len(statement.tokens)
        and statement.tokens[alias_at].is_name
        and words[alias_at] not in NO_ALIAS
    )
    alias = statement.text_between(alias_at, alias_at + 1) if is_named else _NO_NAME
    end = alias_at + 1 if is_named else end
    columns = ", ".join(f"[{name.replace(']', ']]')}]" for name in names)
    if file:
        yield at - 1, end, f"(SELECT {columns} FROM {file}) AS {alias}"  # noqa: S608 (not run)
    else:
        renamed = words[end] == "("  # AS j (a, b)
        yield behind, end, f"AS {alias}" if renamed else f"AS {alias} ({columns})"


def _column_names(statement: StatementTokens, at: int) -> list[str]:
    """The columns of `(a int, b varchar(9) '$.b')`."""
    names: list[str] = []
    if statement.words[at] != "(":
        return names
    position, end, first = at + 1, statement.behind_brackets(at) - 1, True
    while position < end:
        if first:
            names.append(statement.tokens[position].text)
        first = statement.words[position] == ","
        position = max(position + 1, statement.behind_brackets(position))
    return names


def _file(statement: StatementTokens, at: int) -> str:
    """The file in `(BULK files.[x], …)`; empty where it is another function, or not known."""
    words = statement.words
    first = at + 2 + (words[at + 2] == "(")
    if words[at + 1] != "BULK" or words[first : first + 2] != [FILES.upper(), "."]:
        return ""
    return statement.text_between(first, first + 3)
