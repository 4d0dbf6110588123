"""SQL text of statements without literals, where a log has it.

`spark.sql("…")` leaves no text in the log; statements of two servers do:

| server | place of the text |
|---|---|
| Thrift Server | the description of the executions that a statement's operation starts |
| Spark Connect | `SparkListenerConnectOperationStarted`, a request as protobuf text, by job tag |
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.time_limit import run_limited

_THRIFT_OPERATION = "thriftserver.SparkExecuteStatementOperation"
# The start of a request that is one statement; in others SQL is only a part.
_COMMAND = re.compile(
    r'sql_command \{[^"]*?\b(?:query|sql): "(?P<sql>(?:[^"\\]|\\.)*)(?:"|\Z)', re.S
)
# Spark cuts a long text.
_CUT = re.compile(r"\[truncated\(size=\d+\)\]\Z")
_ESCAPE = re.compile(r"\\(?:(?P<octal>[0-7]{1,3})|(?P<sign>.))", re.DOTALL)
_SIGNS: Mapping[str, str] = {"n": "\n", "r": "\r", "t": "\t"}


def thrift_sql(description: str, details: str) -> str:
    """Return the statement of a Thrift Server execution; empty for other executions.

    Args:
        details: The call stack of the execution.
    """
    if _THRIFT_OPERATION not in details:
        return ""
    return run_limited(normalise, description, Dialect.SPARK)


def connect_sql(request: str) -> str:
    """Return the statement of a Spark Connect request; empty for other requests."""
    match = _COMMAND.match(request)
    if not match:
        return ""
    return run_limited(normalise, _CUT.sub("", _unescape(match["sql"])), Dialect.SPARK)


def _unescape(text: str) -> str:
    """Decode a string of protobuf's text format: UTF-8, bytes beyond ASCII as octal numbers.

    https://protobuf.dev/reference/protobuf/textformat-spec/#string
    """
    pieces: list[bytes] = []
    end = 0
    for escape in _ESCAPE.finditer(text):
        pieces.append(text[end : escape.start()].encode())
        if octal := escape["octal"]:
            pieces.append(bytes([int(octal, 8) & 0xFF]))
        else:
            pieces.append(_SIGNS.get(escape["sign"], escape["sign"]).encode())
        end = escape.end()
    pieces.append(text[end:].encode())
    return b"".join(pieces).decode(errors="replace")
