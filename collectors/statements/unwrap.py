"""SQL inside SQL: the statements that clients send as the string argument of a call.

Drivers run parameterised statements through SQL Server's system procedures; as `rpc_completed`
shows it: `exec sp_executesql N'INSERT INTO t VALUES (@P1)',N'@P1 int',5`. The call is replaced by
the statement it carries, to the depth at which statements wrap each other. Must come before
literals are folded.
"""

from __future__ import annotations

import re

from collectors.statements.dialect import COMMENT, NAME, STRING, Dialect

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
_STATEMENT_NAMES = frozenset({"@stmt", "@statement"})

_STRING = STRING[Dialect.TSQL]
_VALUE = rf"(?:{_STRING}|@[\w@#$]++(?:\s+OUT(?:PUT)?\b)?|[-+]?[$]?[\w.]++|\?)"
_ARGUMENT = rf"(?:@\w++\s*=\s*)?{_VALUE}"
_EXECUTE = r"(?<![\w@#$.])EXEC(?:UTE)?"
_CALL = re.compile(
    rf"(?P<skip>{COMMENT}|{_STRING}|{NAME[Dialect.TSQL]})"
    rf"|{_EXECUTE}\s+(?:@\w++\s*=\s*)?(?:\[?\w*+\]?\.){{0,3}}"
    rf"\[?(?P<procedure>{'|'.join(_STATEMENT_AT)})\]?\s+"
    rf"(?P<arguments>{_ARGUMENT}(?:\s*,\s*{_ARGUMENT})*)"
    rf"|{_EXECUTE}\s*\(\s*(?P<parts>(?:{_STRING}|@[\w@#$]++)"
    rf"(?:\s*\+\s*(?:{_STRING}|@[\w@#$]++))*)\s*(?:,[^()]*+)?(?:\)|\Z)"
    r"(?!\s*AT\b)",
    re.IGNORECASE | re.DOTALL,
)
_ONE_ARGUMENT = re.compile(
    rf"(?:(?P<name>@\w++)\s*=\s*)?(?P<value>{_VALUE})", re.IGNORECASE | re.DOTALL
)
_ONE_PART = re.compile(rf"{_STRING}|@[\w@#$]++", re.DOTALL)
# The input buffer of a parameterised request: `(@P1 int,@P2 nvarchar(4000))INSERT …`.
_DECLARATIONS = re.compile(r"\s*\(\s*@\w++\s(?:[^()']++|\([^()']*+\))*\)\s*(?=\w)")


def unwrap(text: str, depth: int = 0) -> str:
    """A T-SQL batch in which calls that carry statements are replaced by these statements."""
    if declarations := _DECLARATIONS.match(text):
        text = text[declarations.end() :]
    if depth == _DEEPEST or "exec" not in text.casefold():
        return text

    def inner(match: re.Match[str]) -> str:
        statement = None
        if match["procedure"]:
            statement = _statement(match["procedure"].casefold(), match["arguments"])
        elif match["parts"]:
            statement = _concatenated(match["parts"])
        return match.group() if statement is None else f" {unwrap(statement, depth + 1)}; "

    return _CALL.sub(inner, text)


def _statement(procedure: str, arguments: str) -> str | None:
    """The statement among a procedure's arguments; None where a variable holds it."""
    found = list(_ONE_ARGUMENT.finditer(arguments))
    named = [a["value"] for a in found if (a["name"] or "").casefold() in _STATEMENT_NAMES]
    positional = [a["value"] for a in found[_STATEMENT_AT[procedure] :]]
    value = (named or positional or [""])[0]
    return _unquoted(value) if "'" in value else None


def _concatenated(parts: str) -> str | None:
    """`'a' + @b + 'c'` as one text, a marker where a variable's value stood; None for `@sql`."""
    found = _ONE_PART.findall(parts)
    if not any("'" in part for part in found):
        return None
    return "".join(_unquoted(part) if "'" in part else "?" for part in found)


def _unquoted(string: str) -> str:
    body = string.partition("'")[2]
    # Without its closing quote the string was cut off there.
    return body.removesuffix("'").replace("''", "'")
