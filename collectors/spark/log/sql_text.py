"""The SQL text of a statement, where a log has it, without its literals.

`spark.sql("…")` leaves no text behind, but what two servers run does:

| server | where its text stands |
|---|---|
| Thrift Server | the description of the executions that a statement's operation starts |
| Spark Connect | `SparkListenerConnectOperationStarted`, a request as protobuf text, by job tag |
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_graft.collectors.statements.parse import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect

_THRIFT_OPERATION = "thriftserver.SparkExecuteStatementOperation"
# A request that is one statement begins so; in others SQL is but a part of what is asked for.
_COMMAND = re.compile(
    r'sql_command \{[^"]*?\b(?:query|sql): "(?P<sql>(?:[^"\\]|\\.)*)(?:"|\Z)', re.S
)
# Of a long text Spark keeps the beginning.
_CUT = re.compile(r"\[truncated\(size=\d+\)\]\Z")
_ESCAPE = re.compile(r"\\(?:(?P<octal>[0-7]{1,3})|(?P<sign>.))", re.DOTALL)
_SIGNS: Mapping[str, str] = {"n": "\n", "r": "\r", "t": "\t"}


def thrift_sql(description: str, details: str) -> str:
    """The statement that an execution of the Thrift Server is; empty where it is none.

    Args:
        details: The call stack that the execution came from.
    """
    return normalise(description, Dialect.SPARK) if _THRIFT_OPERATION in details else ""


def connect_sql(request: str) -> str:
    """The statement that a request to Spark Connect is; empty where it is none."""
    found = _COMMAND.match(request)
    if not found:
        return ""
    return normalise(_CUT.sub("", _unescaped(found["sql"])), Dialect.SPARK)


def _unescaped(text: str) -> str:
    """A string of protobuf's text format: UTF-8, bytes beyond ASCII as octal numbers.

    https://protobuf.dev/reference/protobuf/textformat-spec/#string
    """
    pieces: list[bytes] = []
    end = 0
    for found in _ESCAPE.finditer(text):
        pieces.append(text[end : found.start()].encode())
        if octal := found["octal"]:
            pieces.append(bytes([int(octal, 8) & 0xFF]))
        else:
            pieces.append(_SIGNS.get(found["sign"], found["sign"]).encode())
        end = found.end()
    pieces.append(text[end:].encode())
    return b"".join(pieces).decode(errors="replace")
