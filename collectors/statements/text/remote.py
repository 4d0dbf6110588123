"""Other servers inside T-SQL: queries that run there, and tables that stand there.

The query of `OPENQUERY(srv, 'SELECT …')` loses its quotes, so that the scan finds the tables of the
linked server. `OPENROWSET` and `OPENDATASOURCE` name the server in a connection, which holds
passwords: only the server stays, before a query or as the first of four parts of a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.variables import unquote

_STRING = STRING[Dialect.TSQL]
_NAME = rf"(?:\w++|{NAME[Dialect.TSQL]})"
_REMOTE = re.compile(
    rf"(?P<skip>{COMMENT}|{_STRING}|{NAME[Dialect.TSQL]})"
    rf"|\bOPENQUERY\s*\(\s*(?P<server>{_NAME})\s*,\s*(?P<query>{_STRING})\s*(?:\)|\Z)"
    rf"|\bOPENROWSET\s*\(\s*{_STRING}\s*,\s*(?P<rowset>{_STRING})(?:\s*;\s*{_STRING})*\s*,\s*"
    rf"(?:(?P<rows>{_STRING})|(?P<table>{_NAME}(?:\s*\.+\s*{_NAME})*))\s*(?:\)|\Z)"
    rf"|\bOPENDATASOURCE\s*\(\s*{_STRING}\s*,\s*(?P<source>{_STRING})\s*\)",
    re.IGNORECASE | re.DOTALL,
)
_SERVER = re.compile(
    r"(?:^|;)\s*(?:Server|Data\s+Source|Address|Addr|Network\s+Address)\s*=\s*([^;]+)", re.I
)


def unwrap_remote_queries(text: str, unwrap: Callable[[str], str]) -> str:
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
        if match["rows"]:
            return _query(server, match["rows"])
        return f"{server}.{match['table']}" if match["table"] else server

    def _query(server: str, query: str) -> str:
        return f"OPENQUERY({server}, {unwrap(unquote(query))}\n)"

    return _REMOTE.sub(rewrite, text)


def _server(connection: str) -> str:
    """The server's name in a connection, in brackets; empty where it has none."""
    text = unquote(connection)
    named = _SERVER.search(text)
    name = named[1].strip() if named else "" if "=" in text or not text else text
    # Access and Excel name a file there, not a server.
    is_file = bool(re.search(r"\.\w{3,5}$|^\w:|^\\\\", name))
    return f"[{name.replace(']', ']]')}]" if name and not is_file else ""
