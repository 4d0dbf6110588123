"""Files that T-SQL names in strings: `BULK INSERT t FROM 'x'`, `COPY INTO t FROM 'x'`,
`OPENROWSET(BULK 'x', …)`, `CREATE EXTERNAL TABLE t WITH (LOCATION = 'x', …)`.

They would be lost with the literals, so here they become names: files.[https://…/x], as in Spark.
Passwords and signatures are taken out. A path below a data source, whose place only the server
knows, is files.[data_source://lake/x].
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, TSQL_QUOTED, Dialect
from dbt_graft.collectors.statements.text.protect import without_password
from dbt_graft.collectors.statements.text.variables import unquote

# What stands before a path in brackets, as if it were the schema of a table.
FILES = "files"

_STRING = STRING[Dialect.TSQL]
_HINT = re.compile(r"\b(?:BULK|COPY\s++INTO|EXTERNAL\s++TABLE)\b", re.IGNORECASE)
_BETWEEN = rf"\s(?:[^'\";\[]|{NAME[Dialect.TSQL]}){{0,1000}}?"
_PLACES = re.compile(
    rf"(?P<skip>{COMMENT}|{NAME[Dialect.TSQL]})"
    rf"|(?P<before>\b(?:BULK\s++INSERT|COPY\s++INTO){_BETWEEN}\bFROM\s*+"
    rf"|\bCREATE\s++EXTERNAL\s++TABLE{_BETWEEN}\bLOCATION\s*+=\s*+"
    rf"|\bOPENROWSET\s*+\(\s*+BULK\s*+)(?P<paths>{_STRING}(?:\s*+,\s*+{_STRING})*)"
    rf"|{_STRING}",
    re.IGNORECASE | re.DOTALL,
)
_ONE = re.compile(_STRING, re.IGNORECASE | re.DOTALL)
_ANYWHERE = re.compile(r"\w++://|\\\\|[A-Za-z]:")
# The options behind a path, and the data source among them: a string, or of a table a name.
_OPTIONS = re.compile(
    rf"\s*+(?:,|WITH\s*+\()(?:[^()']|{TSQL_QUOTED}|\((?:[^()']|{TSQL_QUOTED})*\))*",
    re.IGNORECASE | re.DOTALL,
)
_DATA_SOURCE = re.compile(
    rf"{_STRING}|{NAME[Dialect.TSQL]}|\b(?P<option>DATA_SOURCE)\s*+=\s*+"
    rf"(?:(?P<text>{_STRING})|(?P<quoted>{NAME[Dialect.TSQL]})|(?P<name>\w++))?",
    re.IGNORECASE | re.DOTALL,
)
_SCHEME = "data_source://"


def protect_files(text: str) -> str:
    """A T-SQL text in which files stand without quotes."""
    if not _HINT.search(text):
        return text

    def rewrite(match: re.Match[str]) -> str:
        if not match["paths"]:
            return match.group()
        options = _OPTIONS.match(match.string, match.end())
        source = _data_source(f"{match['before']} {options.group() if options else ''}")
        paths = [_full_path(unquote(path), source) for path in _ONE.findall(match["paths"])]
        if not all(paths):
            return match.group()
        names = (f"{FILES}.[{path.replace(']', ']]')}]" for path in paths)
        return match["before"] + ", ".join(names)

    return _PLACES.sub(rewrite, text)


def split_data_source(path: str) -> tuple[str, str]:
    """The data source below which a path lies, empty for none, and the rest of the path."""
    if not path.startswith(_SCHEME):
        return "", path
    source, _, rest = path.removeprefix(_SCHEME).partition("/")
    return source, rest


def _data_source(options: str) -> str | None:
    """The data source in options; empty where they name a value that is not known.

    None where they name none.
    """
    for match in _DATA_SOURCE.finditer(options):
        if match["option"]:
            if match["quoted"]:
                end = match["quoted"][-1]
                return match["quoted"][1:-1].replace(end * 2, end)
            return unquote(match["text"]) if match["text"] else match["name"] or ""
    return None


def _full_path(path: str, source: str | None) -> str:
    """A path that says all of its place, without a password; empty where it does not."""
    if _ANYWHERE.match(path) or (path[:1] == "/" and source is None):
        return without_password(path)
    if not source or "/" in source:
        return ""
    return f"{_SCHEME}{source}/{without_password(path).lstrip('/')}"
