"""T-SQL as sqlglot can parse it: without pieces that name no source of a column, others rewritten.

Hints, TOP, OPTION and OUTPUT are left out, `a += b` becomes `a = a + b`, and a method of an XML,
spatial or other column becomes a function of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from dbt_graft.collectors.statements.columns.statement_tokens import (
    CHANGES,
    Edit,
    StatementTokens,
    behind_output,
    output_clauses,
)
from dbt_graft.collectors.statements.text.files import FILES
from dbt_graft.collectors.statements.text.modules import is_method
from dbt_graft.collectors.statements.text.tokens import NO_ALIAS, Token, keywords

_HINTS = keywords(
    """FORCESCAN FORCESEEK HOLDLOCK IGNORE_CONSTRAINTS IGNORE_TRIGGERS INDEX KEEPDEFAULTS
    KEEPIDENTITY NOEXPAND NOLOCK NOWAIT PAGLOCK READCOMMITTED READCOMMITTEDLOCK READPAST
    READUNCOMMITTED REPEATABLEREAD ROWLOCK SERIALIZABLE SNAPSHOT TABLOCK TABLOCKX UPDLOCK XLOCK
    DISTRIBUTION CLUSTERED HEAP PARTITION"""
)
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


# They change the column: `SET doc.modify('…')`, `SET note.WRITE(…)`.
_BEFORE_TABLE = keywords("APPLY FROM INSERT INTO JOIN MERGE TABLE USING")
_CHANGING = keywords("MODIFY WRITE")
# Each, and a function that sqlglot reads in its place: its arguments are all that counts.
_JSON_FUNCTIONS: Mapping[str, str] = {
    "JSON_ARRAY": "CONCAT",
    "JSON_ARRAYAGG": "JSON_AGG",
    "JSON_OBJECT": "CONCAT",
    "JSON_OBJECTAGG": "JSONB_OBJECT_AGG",
    "JSON_QUERY": "JSON_QUERY",
    "JSON_VALUE": "JSON_VALUE",
}
_ON_NULL = (["NULL", "ON", "NULL"], ["ABSENT", "ON", "NULL"])
_ROW_FUNCTIONS = keywords("OPENJSON OPENROWSET OPENXML")
_NO_NAME = "[rows]"


def rewrites(statement: StatementTokens) -> Iterator[Edit]:
    """The pieces, and what stands there instead."""
    words = statement.words
    yield from _rewrite_beginning(statement)
    for at in range(1, len(statement.tokens)):
        if words[at] == "=" and words[at - 1] in SIGNS:
            yield from _assignment(statement, at)
        elif words[at] == "(" and at > 2 and words[at - 2] == ".":
            yield from _method(statement, at)
        elif words[at] == "(":
            yield from _function(statement, at)
        elif words[at : at + 3] == ["LOCATION", "=", "FILES"]:  # of an external table
            yield at + 2, at + 5, "?"
        elif words[at : at + 2] == ["FOR", "PATH"]:  # knows FOR PATH AS k
            yield at, at + 2, " "
        elif words[at : at + 5] == ["WITHIN", "GROUP", "(", "GRAPH", "PATH"]:
            yield at, at + 6, " "


def _rewrite_beginning(statement: StatementTokens) -> Iterator[Edit]:
    words = statement.words
    if words[:2] == ["ALTER", "VIEW"]:
        yield 0, 1, "CREATE"
    elif words[:3] == ["WITH", "XMLNAMESPACES", "("]:
        behind = statement.behind_brackets(2)
        goes_on = words[behind] == ","
        yield 0, behind + goes_on, "WITH" if goes_on else " "
    elif words[0] == "MERGE" or words[0] == "WITH":
        yield from _joined_source(statement)
    elif words[0] in {"EXEC", "EXECUTE"} and words[1] == "(":
        behind = statement.behind_brackets(1)
        if words[behind] == "AT":  # EXEC ('…') AT server
            yield 0, 2, " "
            yield behind - 1, len(statement.tokens), " "


def _joined_source(statement: StatementTokens) -> Iterator[Edit]:
    """`MERGE t USING a JOIN b ON … ON …` has brackets around `a JOIN b ON …`."""
    words = statement.words
    using, joins, last_on, at = 0, 0, 0, 0
    while at < len(statement.tokens) and not (using and words[at] == "WHEN"):
        if words[at] == "USING":
            using = at
        elif using:
            joins += words[at] == "JOIN"
            last_on = at if words[at] == "ON" else last_on
        at = max(at + 1, statement.behind_brackets(at))
    if joins and last_on and "MERGE" in words[:using]:
        yield using, using + 1, "USING ("
        yield last_on, last_on + 1, ") ON"


def _assignment(statement: StatementTokens, at: int) -> Iterator[Edit]:
    """`a += b` is `a = a + b`."""
    sign, equal = statement.tokens[at - 1 : at + 1]
    name = statement.begin_of_name(at - 1)
    if name < at - 1 and sign.end == equal.start:
        yield at - 1, at + 1, f"= {_changed_column(statement, name, at - 1)} {sign.word} "


def _method(statement: StatementTokens, at: int) -> Iterator[Edit]:
    """`a.value(b)` is a function of `a` and `b`; of what a query returns, it is left out."""
    words = statement.words
    name = statement.begin_of_name(at - 2)
    if words[at - 1] in _CHANGING and words[name - 1] in {"SET", ","} and name < at - 2:
        changed = _changed_column(statement, name, at - 2)
        yield name, at + 1, f"{statement.text_between(name, at - 2)} = CONCAT({changed}, "
    elif words[name - 1] in _BEFORE_TABLE and words[at - 1] != "NODES":
        return  # INSERT INTO dbo.query (a), FROM dbo.value (NOLOCK)
    elif is_method(statement.tokens[at - 1]):
        if name < at - 2:
            comma = "" if words[at + 1] == ")" else ", "
            yield name, at + 1, f"CONCAT({statement.text_between(name, at - 2)}{comma}"
        elif words[at - 3] == ")":
            yield at - 2, statement.behind_brackets(at), " "


def _function(statement: StatementTokens, at: int) -> Iterator[Edit]:
    words = statement.words
    if words[at - 1] in _JSON_FUNCTIONS:
        yield from _json_function(statement, at)
    elif words[at - 1] in _ROW_FUNCTIONS:
        yield from _row_function(statement, at)
    match words[at - 1]:
        case "PARSE" | "TRY_PARSE":
            yield at - 1, at, "TRY_CAST"
        case "OPENQUERY" if words[behind := statement.behind_name(at + 1)] == ",":
            yield at - 1, behind + 1, "("
        case "MATCH":  # (a-(edge)->b), by columns that no user has
            yield at - 1, statement.behind_brackets(at), "1 = 1"
        case "CHANGETABLE":  # (CHANGES t, …)
            table = statement.text_between(at + 2, statement.behind_name(at + 2))
            yield at - 1, statement.behind_brackets(at), table


def _changed_column(statement: StatementTokens, name: int, behind: int) -> str:
    """A column of an assignment as its value names it: `a` of `UPDATE t SET a += 1` is `[t].a`."""
    column = statement.text_between(name, behind)
    alone = name == behind - 1 and statement.words[0] == "UPDATE" and statement.tokens[1].is_name
    if not alone:
        return column
    target = statement.tokens[statement.behind_name(1) - 1].text
    quoted = target if target[:1] in "#@" else f"[{target.replace(']', ']]')}]"
    return f"{quoted}.{column}"


def _json_function(statement: StatementTokens, at: int) -> Iterator[Edit]:
    """The edits of a function whose brackets open at a place."""
    words = statement.words
    end = statement.behind_brackets(at) - 1
    position = at + 1
    if position < end:
        yield at - 1, at, _JSON_FUNCTIONS[words[at - 1]]
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


def _row_function(statement: StatementTokens, at: int) -> Iterator[Edit]:
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
