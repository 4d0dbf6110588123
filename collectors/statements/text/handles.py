"""The handles of prepared statements, as `rpc_completed` shows them.

    declare @p1 int set @p1=3442 exec sp_prepexec @p1 output,N'@P1 int',N'INSERT …',7 select @p1
    exec sp_execute 3442,8
    exec sp_unprepare 3442

A prepared statement is named once and run by its number: who follows a session maps the number to
the text. Handles are values, so they are to be read before a text is folded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_CALL = re.compile(
    r"\bsp_(?P<name>prepare|prepexec|prepexecrpc|execute|unprepare"
    r"|cursorprepare|cursorprepexec|cursorexecute|cursorunprepare)\s+(?P<handle>@\w+|\d{1,10})\b",
    re.IGNORECASE,
)
# A call begins a text, behind declarations at most; what stands further on is somebody's string.
_BEHIND = 500


class HandleAction(StrEnum):
    """What a call does with a handle: gets one, runs what stands behind it, gives it back."""

    PREPARE = "prepare"
    EXECUTE = "execute"
    UNPREPARE = "unprepare"


@dataclass(frozen=True, slots=True)
class Handle:
    """A prepared statement's number in its session, and what is done with it."""

    number: int
    act: HandleAction


def handle(text: str) -> Handle | None:
    """The handle that a captured call gets or uses; None where it shows none.

    A call that has only begun shows no handle yet: `declare @p1 int exec sp_prepare @p1 output…`.
    """
    call = _CALL.search(text, 0, _BEHIND)
    if call is None:
        return None
    name, number = call["name"].lower(), call["handle"]
    if number.startswith("@"):
        given = re.search(
            rf"\bset\s+{re.escape(number)}\s*=\s*(\d{{1,10}})\b", text[: call.start()], re.I
        )
        if given is None:
            return None
        number = given[1]
    act = HandleAction.EXECUTE if name.endswith("execute") else HandleAction.PREPARE
    return Handle(int(number), HandleAction.UNPREPARE if name.endswith("unprepare") else act)
