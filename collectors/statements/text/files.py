"""Files that T-SQL names in strings: `BULK INSERT t FROM 'x'`, `COPY INTO t FROM 'x'`,
`OPENROWSET(BULK 'x', …)`.

They would be lost with the literals, so here they become names: files.[https://…/x], as in Spark.
Passwords and signatures are taken out. A path that depends on a data source stays a value: where
that lies, only the server knows.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.protect import without_password
from dbt_graft.collectors.statements.text.variables import unquote

# What stands before a path in brackets, as if it were the schema of a table.
FILES = "files"

_STRING = STRING[Dialect.TSQL]
_HINT = re.compile(r"\b(?:BULK|COPY\s++INTO)\b", re.IGNORECASE)
_PLACES = re.compile(
    rf"(?P<skip>{COMMENT}|{NAME[Dialect.TSQL]})"
    rf"|(?P<before>\b(?:BULK\s++INSERT|COPY\s++INTO)\s(?:[^'\";\[]|{NAME[Dialect.TSQL]}){{0,1000}}?"
    rf"\bFROM\s*+|\bOPENROWSET\s*+\(\s*+BULK\s*+)(?P<paths>{_STRING}(?:\s*+,\s*+{_STRING})*)"
    rf"|{_STRING}",
    re.IGNORECASE | re.DOTALL,
)
_ONE = re.compile(_STRING, re.IGNORECASE | re.DOTALL)
_ANYWHERE = re.compile(r"\w++://|\\\\|[A-Za-z]:")
# Where the name of a data source stands behind a path at the most.
_NEAR = 500


def protect_files(text: str) -> str:
    """A T-SQL text in which files stand without quotes."""
    if not _HINT.search(text):
        return text

    def rewrite(match: re.Match[str]) -> str:
        if not match["paths"]:
            return match.group()
        paths = [unquote(string) for string in _ONE.findall(match["paths"])]
        behind = match.string[match.end() : match.end() + _NEAR].casefold()
        if not all(_is_complete(path, behind) for path in paths):
            return match.group()
        names = (f"{FILES}.[{without_password(path).replace(']', ']]')}]" for path in paths)
        return match["before"] + ", ".join(names)

    return _PLACES.sub(rewrite, text)


def _is_complete(path: str, behind: str) -> bool:
    """Whether a path says all of its place, by what follows it."""
    is_local = path[:1] == "/" and "data_source" not in behind
    return is_local or bool(_ANYWHERE.match(path))
