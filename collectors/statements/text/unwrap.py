"""SQL inside SQL: statements that clients send as the string argument of a call.

Drivers run parameterised statements through SQL Server's system procedures; as `rpc_completed`
shows it: `exec sp_executesql N'INSERT INTO t VALUES (@P1)',N'@P1 int',5`. The call is replaced by
the statement it carries, to the depth at which statements wrap each other; `sp_rename`, which names
a table in a string, gets the name without quotes. Runs before literals are stripped.

What runs in another database stays in brackets, `EXEC (USE [Dw]; …)`, and so does what runs on a
linked server, `EXEC (…) AT srv`; a database there is its second part: `AT srv.Dw`. A module that is
created stays in brackets, where its body ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.files import protect_files
from dbt_graft.collectors.statements.text.modules import KINDS
from dbt_graft.collectors.statements.text.variables import (
    ASSIGNMENT,
    EXPRESSION,
    STRING_PART,
    VARIABLE,
    Variables,
    unquote,
)

_DEEPEST = 5
# The position of each procedure's statement among its arguments, from 0. Microsoft's reference,
# "cursor stored procedures" and "database engine stored procedures".
STATEMENT_AT = {
    "sp_executesql": 0,
    "sp_prepare": 2,
    "sp_prepexec": 2,
    "sp_prepexecrpc": 1,
    "sp_cursoropen": 1,
    "sp_cursorprepare": 2,
    "sp_cursorprepexec": 3,
}
_RENAME = "sp_rename"
_RENAMES = f"EXEC {_RENAME} "
# It carries the name of a procedure.
_CALLS_BY_NAME = "sp_prepexecrpc"
# What it runs may fill variables of the caller: `@x int OUTPUT`.
_FILLS = "sp_executesql"
_SERVER_PARTS = 3  # srv.db.schema.
_DATABASE_PARTS = 2  # db.schema.
_STATEMENT_NAMES = frozenset({"@stmt", "@statement", "@tsql"})
_STRING = STRING_PART
_VALUE = rf"(?:{_STRING}|{VARIABLE}(?:\s+OUT(?:PUT)?\b)?|[-+]?[$]?[\w.]++|\?)"
_ARGUMENT = rf"(?:@\w++\s*=\s*)?{_VALUE}"
_EXECUTE = r"(?<![\w@#$.])EXEC(?:UTE)?"
_CALL = re.compile(
    rf"(?P<skip>{COMMENT}|{_STRING}|{NAME[Dialect.TSQL]})"
    rf"|(?:{_EXECUTE}\s+(?:@\w++\s*=\s*)?|\A\s*)(?P<place>(?:(?:\w*+|{NAME[Dialect.TSQL]})\.){{0,3}})"
    rf"\[?(?P<procedure>{'|'.join((*STATEMENT_AT, _RENAME))})\]?\s+"
    rf"(?P<arguments>{_ARGUMENT}(?:\s*,\s*{_ARGUMENT})*)"
    rf"|{_EXECUTE}\s*\(\s*(?P<parts>{EXPRESSION})\s*(?:,[^()]*+)?(?:\)|\Z)"
    rf"(?:\s*AS\s+(?:USER|LOGIN)\s*=\s*{_STRING})?"
    rf"(?:\s*AT\s+(?:DATA_SOURCE\s+)?(?P<server>\w++|{NAME[Dialect.TSQL]}))?"
    rf"|{ASSIGNMENT}",
    re.IGNORECASE | re.DOTALL,
)
_MODULE = re.compile(
    rf"(?:\s|{COMMENT})*(?:CREATE|ALTER)\s+(?:OR\s+ALTER\s+)?(?:{'|'.join(sorted(KINDS))})\b", re.I
)
# With QUOTED_IDENTIFIER OFF a text in double quotes is a string, and in `EXEC (…)` nothing else.
_QUOTES = re.compile(
    rf"(?P<skip>{COMMENT}|{_STRING}|\[(?:[^\]]|\]\])*\])|(?P<begins>{_EXECUTE}\s*\()"
    r'|(?P<opens>\()|(?P<closes>\))|(?P<quoted>"(?:[^"]|"")*(?:"|\Z))',
    re.IGNORECASE | re.DOTALL,
)
_ONE_ARGUMENT = re.compile(
    rf"(?:(?P<name>@\w++)\s*=\s*)?(?P<value>{_VALUE})", re.IGNORECASE | re.DOTALL
)
_PARAMETER = re.compile(r"(@\w++)\s")
_CALLED = re.compile(rf"EXEC|\A\s*(?:\w+\.+)?(?:{'|'.join((*STATEMENT_AT, _RENAME))})\s", re.I)
_PART_OF_NAME = re.compile(rf"{NAME[Dialect.TSQL]}|[^.]+|(?<=\.)(?=\.)")
_USE = re.compile(
    rf"(?:\A|(?<=[;\s]))USE\s+(?P<name>{NAME[Dialect.TSQL]}|[\w?]++)\s*+(?:;|(?=\s)|\Z)",
    re.IGNORECASE,
)
# The input buffer of a parameterised request: `(@P1 int,@P2 nvarchar(4000))INSERT …`.
_DECLARATIONS = re.compile(r"\s*\(\s*@\w++\s(?:[^()']++|\([^()']*+\))*\)\s*(?=\w)")
# A text called a thousand times is not repeated a thousand times.
_MOST = 1_000_000
_ANY_STRING = STRING[Dialect.TSQL]
_NAME = rf"(?:\w++|{NAME[Dialect.TSQL]})"
_REMOTE = re.compile(
    rf"(?P<skip>{COMMENT}|{_ANY_STRING}|{NAME[Dialect.TSQL]})"
    rf"|\bOPENQUERY\s*\(\s*(?P<server>{_NAME})\s*,\s*(?P<query>{_ANY_STRING})\s*(?:\)|\Z)"
    rf"|\bOPENROWSET\s*\(\s*{_ANY_STRING}\s*,\s*(?P<rowset>{_ANY_STRING})(?:\s*;\s*{_ANY_STRING})*\s*,\s*"
    rf"(?:(?P<rows>{_ANY_STRING})|(?P<table>{_NAME}(?:\s*\.+\s*{_NAME})*))\s*(?:\)|\Z)"
    rf"|\bOPENDATASOURCE\s*\(\s*{_ANY_STRING}\s*,\s*(?P<source>{_ANY_STRING})\s*\)",
    re.IGNORECASE | re.DOTALL,
)
_BACKTICKS = re.compile(r"`([^`\n]+)`")
_SERVER = re.compile(
    r"(?:^|;)\s*(?:Server|Data\s+Source|Address|Addr|Network\s+Address)\s*=\s*([^;]+)", re.I
)
_DATABASE = re.compile(r"(?:^|;)\s*(?:Database|Initial\s+Catalog)\s*=\s*([^;]+)", re.I)


def unwrap(text: str, depth: int = 0) -> str:
    """A T-SQL batch with calls that carry statements replaced by these statements."""
    if declarations := _DECLARATIONS.match(text):
        text = text[declarations.end() :]
    if depth == _DEEPEST:
        return text
    text = _unwrap_remote_queries(protect_files(text), lambda query: unwrap(query, depth + 1))
    if not _CALLED.search(text):
        return text
    text = _in_single_quotes(text)
    variables = Variables()
    shown = 0

    def replace_call(match: re.Match[str]) -> str:
        nonlocal shown
        unchanged = match.group()
        if match["variable"]:
            rest = variables.rest(text, match.end()) if match["more"] else ""
            variables.assign(match["variable"], match["value"], bool(match["adds"]), rest)
            return unchanged
        statement = None
        qualifier = _PART_OF_NAME.findall(match["place"] or "")
        if match["procedure"] and match["procedure"].casefold() == _RENAME:
            statement = _rename_call(match["arguments"], qualifier, variables)
        elif match["procedure"]:
            statement = _carried_statement(
                match["procedure"].casefold(), match["arguments"], variables
            )
        elif match["parts"]:
            statement = variables.text(match["parts"])
        if statement is None or shown > _MOST:
            return unchanged
        shown += len(statement)
        # A comment at the end of the statement ends there.
        statement = unwrap(statement, depth + 1) + ("\n" if "--" in statement else "")
        server = match["server"] or (qualifier[0] if len(qualifier) == _SERVER_PARTS else "")
        has_database = len(qualifier) >= _DATABASE_PARTS and not statement.startswith(_RENAMES)
        return _in_place(statement, server, qualifier[-2] if has_database else "")

    return _CALL.sub(replace_call, text)


def _in_single_quotes(text: str) -> str:
    """A text with `EXEC ('SELECT …')` where it has `EXEC ("SELECT …")`."""
    if '"' not in text:
        return text
    depth = 0

    def rewrite(match: re.Match[str]) -> str:
        nonlocal depth
        piece = match.group()
        if match["begins"] or (depth and match["opens"]):
            depth += 1
        elif depth and match["closes"]:
            depth -= 1
        elif depth and match["quoted"]:
            end = "'" if piece[1:].replace('""', "").endswith('"') else ""
            return "'" + piece[1:].removesuffix('"').replace('""', '"').replace("'", "''") + end
        return piece

    return _QUOTES.sub(rewrite, text)


def _in_place(statement: str, server: str, database: str) -> str:
    """A statement as one of the text, or in brackets where it runs elsewhere."""
    if server:
        if use := _USE.match(statement):
            database, statement = use["name"], statement[use.end() :]
        return f" EXEC ({statement}) AT {server}{database and f'.{database}'}"
    if database:
        statement = f"USE {database}; {statement}"
    is_apart = _USE.search(statement) or _MODULE.match(statement)
    return f" EXEC ({statement}); " if is_apart else f" {statement}; "


def _carried_statement(procedure: str, arguments: str, variables: Variables) -> str | None:
    """The statement in a procedure's arguments; None where no part of it is known."""
    statement = variables.text(_statement(procedure, arguments))
    by_name = procedure == _CALLS_BY_NAME and statement and not statement.startswith("{")
    if statement and procedure == _FILLS:
        statement += _filled_variables(arguments, variables)
    return f"EXEC {statement}" if by_name else statement


def _filled_variables(arguments: str, variables: Variables) -> str:
    """The variables that a call of `sp_executesql` fills, as `; SET @mine = @its`."""
    _, *rest = _ONE_ARGUMENT.finditer(arguments)
    declared = variables.text(rest[0]["value"]) if rest else None
    names = _PARAMETER.findall(declared or "")
    filled = ""
    for at, argument in enumerate(rest[1:]):
        name = argument["name"] or "".join(names[at : at + 1])
        if name and argument["value"].startswith("@"):
            variable, *output = argument["value"].split()
            filled += f"; SET {variable} = {name}" if output else ""
    return filled


def _statement(procedure: str, arguments: str) -> str:
    """The string or variable among a procedure's arguments that is its statement."""
    matches = list(_ONE_ARGUMENT.finditer(arguments))
    named = [a["value"] for a in matches if (a["name"] or "").casefold() in _STATEMENT_NAMES]
    positional = [a["value"] for a in matches[STATEMENT_AT[procedure] :]]
    value = (named or positional or [""])[0]
    return value if "'" in value or value.startswith("@") else ""


def _rename_call(arguments: str, qualifier: list[str], variables: Variables) -> str | None:
    """`sp_rename 'dbo.a', 'b'` with names in the place of strings; None where one is not known.

    The new name is one part, as written: dots and brackets belong to it. A procedure called in
    another database, `d.sys.sp_rename`, renames there.
    """
    matches = list(_ONE_ARGUMENT.finditer(arguments))
    values = {(a["name"] or "").casefold() or at: a["value"] for at, a in enumerate(matches)}
    old, new, kind = (
        _text(values.get(name, values.get(at, "")), variables)
        for at, name in enumerate(("@objname", "@newname", "@objtype"))
    )
    if not old or not new:
        return None
    parts = [_part(part) for part in _PART_OF_NAME.findall(old)]
    if len(qualifier) >= _DATABASE_PARTS:
        of_table = 2 if (kind or "OBJECT").upper() == "OBJECT" else 3
        parts = [qualifier[-2], *["", "", *parts][-of_table:]]
    what = f", {kind}" if kind and kind.isalpha() else ""
    return f"{_RENAMES}{'.'.join(parts)}, {_bracket_name(new)}{what}"


def _text(value: str, variables: Variables) -> str | None:
    return variables.text(value) if "'" in value or value.startswith("@") else value


def _part(written: str) -> str:
    """A part of a name in brackets; one left out (`db..t`) stays empty."""
    if written[:1] == '"':
        return _bracket_name(written[1:-1].replace('""', '"'))
    return written if written[:1] in ("", "[") else _bracket_name(written)


def _bracket_name(name: str) -> str:
    return f"[{name.replace(']', ']]')}]"


def _unwrap_remote_queries(text: str, unwrap: Callable[[str], str]) -> str:
    """A text in which queries and tables of other servers stand without quotes.

    Args:
        unwrap: Applied to each query found.
    """
    if "open" not in text.casefold():
        return text

    def rewrite(match: re.Match[str]) -> str:
        unchanged = match.group()
        if match["server"]:
            return _query(match["server"], match["query"])
        server = _server(match["rowset"] or match["source"] or "")
        if not server:
            return unchanged
        database = _database(match["rowset"] or "")
        if match["rows"]:
            return _query(f"{server}{database and f'.{database}'}", match["rows"])
        if not match["table"]:
            return server
        parts = _PART_OF_NAME.findall(match["table"])
        if database and len(parts) < _SERVER_PARTS:
            parts = [database, *["", *parts][-2:]]
        return ".".join((server, *parts))

    def _query(server: str, query: str) -> str:
        # The server may be MySQL's or BigQuery's.
        text = _BACKTICKS.sub(lambda match: _bracket_name(match[1]), unquote(query))
        return f"OPENQUERY({server}, {unwrap(text)}\n)"

    return _REMOTE.sub(rewrite, text)


def _server(connection: str) -> str:
    """The server's name in a connection, in brackets; empty where it has none."""
    text = unquote(connection)
    named = _SERVER.search(text)
    name = named[1].strip() if named else "" if "=" in text or not text else text
    # Access and Excel name a file there, not a server.
    is_file = bool(re.search(r"\.\w{3,5}$|^\w:|^\\\\", name))
    return _bracket_name(name) if name and not is_file else ""


def _database(connection: str) -> str:
    """The database in a connection, in brackets; empty where it names none."""
    named = _DATABASE.search(unquote(connection))
    return _bracket_name(named[1].strip()) if named else ""
