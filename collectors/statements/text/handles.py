"""The handles of prepared statements, as `rpc_completed` shows them.

    declare @p1 int set @p1=3442 exec sp_prepexec @p1 output,N'@P1 int',N'INSERT …',7 select @p1
    exec sp_execute 3442,8
    exec sp_unprepare 3442

A prepared statement is sent once and run by its number: the text of a number is known within its
session. Handles are values, so they are read before literals are stripped.
"""

from __future__ import annotations

import re
from enum import StrEnum

from dbt_graft.lineage.frozen import frozen

_CALL = re.compile(
    r"\bsp_(?P<name>prepare|prepexec|prepexecrpc|execute|unprepare"
    r"|cursorprepare|cursorprepexec|cursorexecute|cursorunprepare)\s+(?P<handle>@\w+|\d{1,10})\b",
    re.IGNORECASE,
)
# A call begins a text, after declarations at most; further on it is part of a string.
_FIRST = 500


class HandleAction(StrEnum):
    """The use of a handle: get one, run its statement, return it."""

    PREPARE = "prepare"
    EXECUTE = "execute"
    UNPREPARE = "unprepare"


@frozen
class Handle:
    """A prepared statement's number in its session, and the use that a call makes of it."""

    number: int
    act: HandleAction


def handle(text: str) -> Handle | None:
    """The handle that a captured call gets or uses; None where it has none.

    A call that has only begun has no handle yet: `declare @p1 int exec sp_prepare @p1 output…`.
    """
    call = _CALL.search(text, 0, _FIRST)
    if call is None:
        return None
    name, number = call["name"].lower(), call["handle"]
    if number.startswith("@"):
        assigned = re.search(
            rf"\bset\s+{re.escape(number)}\s*=\s*(\d{{1,10}})\b", text[: call.start()], re.I
        )
        if assigned is None:
            return None
        number = assigned[1]
    act = HandleAction.EXECUTE if name.endswith("execute") else HandleAction.PREPARE
    return Handle(int(number), HandleAction.UNPREPARE if name.endswith("unprepare") else act)
