"""SQL inside SQL: the statements that clients send as the string argument of a call.

Drivers run parameterised statements through SQL Server's system procedures; as `rpc_completed`
shows it: `exec sp_executesql N'INSERT INTO t VALUES (@P1)',N'@P1 int',5`. The call is replaced by
the statement it carries, to the depth at which statements wrap each other; one that names a table
in a string, `sp_rename`, gets the name without quotes. Must come before literals are folded.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, Dialect
from dbt_graft.collectors.statements.text.remote import visible_remotes
from dbt_graft.collectors.statements.text.variables import (
    ASSIGNMENT,
    EXPRESSION,
    STRING_PART,
    VARIABLE,
    Variables,
    unquoted,
)

_DEEPEST = 5
# Where each procedure takes its statement, from 0. Of Microsoft's documents on the "cursor stored
# procedures" and "database engine stored procedures".
_STATEMENT_AT = {
    "sp_executesql": 0,
    "sp_prepare": 2,
    "sp_prepexec": 2,
    "sp_prepexecrpc": 1,
    "sp_cursoropen": 1,
    "sp_cursorprepare": 2,
    "sp_cursorprepexec": 3,
}
_RENAME = "sp_rename"
# What it carries is a procedure's name.
_CALLS_BY_NAME = "sp_prepexecrpc"
_PLACE_ON_SERVER = 3  # srv.db.schema.
_STATEMENT_NAMES = frozenset({"@stmt", "@statement", "@tsql"})

_STRING = STRING_PART
_VALUE = rf"(?:{_STRING}|{VARIABLE}(?:\s+OUT(?:PUT)?\b)?|[-+]?[$]?[\w.]++|\?)"
_ARGUMENT = rf"(?:@\w++\s*=\s*)?{_VALUE}"
_EXECUTE = r"(?<![\w@#$.])EXEC(?:UTE)?"
_CALL = re.compile(
    rf"(?P<skip>{COMMENT}|{_STRING}|{NAME[Dialect.TSQL]})"
    rf"|(?:{_EXECUTE}\s+(?:@\w++\s*=\s*)?|\A\s*)(?P<place>(?:\[?\w*+\]?\.){{0,3}})"
    rf"\[?(?P<procedure>{'|'.join((*_STATEMENT_AT, _RENAME))})\]?\s+"
    rf"(?P<arguments>{_ARGUMENT}(?:\s*,\s*{_ARGUMENT})*)"
    rf"|{_EXECUTE}\s*\(\s*(?P<parts>{EXPRESSION})\s*(?:,[^()]*+)?(?:\)|\Z)"
    rf"(?:\s*AT\s+(?:DATA_SOURCE\s+)?(?P<server>\w++|{NAME[Dialect.TSQL]}))?"
    rf"|{ASSIGNMENT}",
    re.IGNORECASE | re.DOTALL,
)
_ONE_ARGUMENT = re.compile(
    rf"(?:(?P<name>@\w++)\s*=\s*)?(?P<value>{_VALUE})", re.IGNORECASE | re.DOTALL
)
_CALLED = re.compile(rf"EXEC|\A\s*(?:\w+\.+)?(?:{'|'.join((*_STATEMENT_AT, _RENAME))})\s", re.I)
_PART_OF_NAME = re.compile(rf"{NAME[Dialect.TSQL]}|[^.]+")
# The input buffer of a parameterised request: `(@P1 int,@P2 nvarchar(4000))INSERT …`.
_DECLARATIONS = re.compile(r"\s*\(\s*@\w++\s(?:[^()']++|\([^()']*+\))*\)\s*(?=\w)")
# A text called a thousand times is not shown a thousand times.
_MOST = 1_000_000


def unwrap(text: str, depth: int = 0) -> str:
    """A T-SQL batch in which calls that carry statements are replaced by these statements."""
    if declarations := _DECLARATIONS.match(text):
        text = text[declarations.end() :]
    if depth == _DEEPEST:
        return text
    text = visible_remotes(text, lambda query: unwrap(query, depth + 1))
    if not _CALLED.search(text):
        return text
    variables = Variables()
    shown = 0

    def inner(match: re.Match[str]) -> str:
        nonlocal shown
        whole = match.group()
        if match["variable"]:
            variables.assign(match["variable"], match["value"], bool(match["adds"]))
            return whole
        statement = None
        if match["procedure"]:
            if match["procedure"].casefold() == _RENAME:
                return _renaming(match["arguments"]) or whole
            statement = _carried(match["procedure"].casefold(), match["arguments"], variables)
        elif match["parts"]:
            statement = variables.text(match["parts"])
        if statement is None or shown > _MOST:
            return whole
        shown += len(statement)
        # A comment at the end of the statement ends there.
        statement = unwrap(statement, depth + 1) + ("\n" if "--" in statement else "")
        parts = (match["place"] or "").split(".")
        server = match["server"] or (parts[0] if len(parts) > _PLACE_ON_SERVER else "")
        return f" EXEC ({statement}) AT {server}" if server else f" {statement}; "

    return _CALL.sub(inner, text)


def _carried(procedure: str, arguments: str, variables: Variables) -> str | None:
    """The statement that a procedure is called with; None where it is not told."""
    statement = variables.text(_statement(procedure, arguments))
    by_name = procedure == _CALLS_BY_NAME and statement and not statement.startswith("{")
    return f"EXEC {statement}" if by_name else statement


def _statement(procedure: str, arguments: str) -> str:
    """The string or variable among a procedure's arguments that is its statement."""
    found = list(_ONE_ARGUMENT.finditer(arguments))
    named = [a["value"] for a in found if (a["name"] or "").casefold() in _STATEMENT_NAMES]
    positional = [a["value"] for a in found[_STATEMENT_AT[procedure] :]]
    value = (named or positional or [""])[0]
    return value if "'" in value or value.startswith("@") else ""


def _renaming(arguments: str) -> str | None:
    """`sp_rename 'dbo.a', 'b'` with names in the place of strings; None for variables."""
    found = list(_ONE_ARGUMENT.finditer(arguments))
    values = {(a["name"] or "").casefold() or at: a["value"] for at, a in enumerate(found)}
    old, new, kind = (
        values.get(name, values.get(at, ""))
        for at, name in enumerate(("@objname", "@newname", "@objtype"))
    )
    if not old or not new or "@" in (old[0], new[0]):
        return None
    parts = [_bracketed(part) for part in _PART_OF_NAME.findall(_plain(old))]
    what = f", {_plain(kind)}" if kind and _plain(kind).isalpha() else ""
    return f"EXEC sp_rename {'.'.join(parts)}, {_bracketed(_plain(new))}{what}"


def _plain(value: str) -> str:
    return unquoted(value) if "'" in value else value


def _bracketed(name: str) -> str:
    return name if name[:1] in ("[", '"') else f"[{name.replace(']', ']]')}]"
