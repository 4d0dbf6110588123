"""What a client said, understood once for each distinct text: its statements without literals.

Most of a busy log is a few statements with ever new values. Drivers send these as calls that carry
the statement as a string of its own, so it is taken out of the call and looked up; only what was
never seen is folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.runs.temporaries import Use, uses
from dbt_graft.collectors.sqlserver.runs.transactions import Step, step
from dbt_graft.collectors.statements.parse import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.handles import Handle, HandleAction, handle

# Texts that are remembered, by number and by length of all of them in characters.
_MOST_TEXTS, _MOST_CHARACTERS = 50_000, 32_000_000
_CALL = re.compile(
    r"\s*(?:declare @\w+ int\s+set @\w+=(?P<handle>\d{1,10})\s+)?exec(?:ute)?\s+(?:sys\.)?"
    r"sp_(?P<procedure>executesql|prepexec|prepare)\s+"
    r"(?:@\w+\s+output\s*,\s*(?:NULL|N'[^']*+')\s*,\s*)?"
    r"(?P<statement>N'[^']*+(?:''[^']*+)*'(?!'))",
    re.IGNORECASE,
)
_BY_HANDLE = re.compile(
    r"\s*exec(?:ute)?\s+(?:sys\.)?sp_(?P<act>execute|unprepare)\s+(?P<handle>\d{1,10})\b", re.I
)
# A call begins a text, behind declarations at most.
_BEHIND = 500
_PREPARES = re.compile(r"\bsp_(?:cursor)?prepare\s", re.I)
_RESET = re.compile(r"\s*exec(?:ute)?\s+(?:sys\.)?sp_reset_connection\b", re.I)

_USE = re.compile(r"(?:^|;|\s)USE\s+(?P<name>\[(?:[^\]]|\]\])+\]|[\w@#$]+)", re.I)


class Said(NamedTuple):
    """A text, understood.

    Attributes:
        text: Its statements, unwrapped and without literals.
        noise: The rule by which it is left out; empty where it is not.
        step: What it does to the transaction of its session.
        database: The database that it ends in by a `USE`; empty without one.
        temporaries: The temporary tables that it names.
    """

    text: str
    noise: str = ""
    step: Step | None = None
    database: str = ""
    temporaries: tuple[Use, ...] = ()


def said(text: str, noise: Callable[[str], str | None]) -> Said:
    """A captured text, understood.

    Args:
        noise: The rule by which a text is left out.
    """
    folded = normalise(text, Dialect.TSQL)
    used = ""
    for use in _USE.finditer(folded) if "use" in folded.casefold() else ():
        used = use["name"].removeprefix("[").removesuffix("]").replace("]]", "]")
    return Said(folded, noise(text) or "", step(folded), used, uses(folded))


class Reader:
    """Reads texts, and remembers what it read."""

    def __init__(self, noise: Callable[[str], str | None]) -> None:
        self._noise = noise
        self._known: dict[str, Said] = {}
        self._characters = 0

    def batch(self, text: str) -> Said:
        """The text of a batch or of a statement in one."""
        found = self._known.get(text)
        if found is None:
            found = said(text, self._noise)
            self._characters += len(text) + len(found.text)
            if len(self._known) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
                self._known.clear()
                self._characters = 0
            self._known[text] = found
        return found

    def call(self, text: str) -> Call:
        """What a remote procedure call says, and the handle that it gets or uses."""
        if call := _CALL.match(text):
            # Values come behind the statement: without them it is the same every time.
            carried = self.batch(f"exec sp_executesql {call['statement']}")
            procedure, number = call["procedure"].lower(), call["handle"]
            prepares = number and procedure != "executesql"
            used = Handle(int(number), HandleAction.PREPARE) if prepares else None
            return Call(carried, used, runs=procedure != "prepare")
        if by_handle := _BY_HANDLE.match(text):
            runs = by_handle["act"].lower() == "execute"
            act = HandleAction.EXECUTE if runs else HandleAction.UNPREPARE
            return Call(None, Handle(int(by_handle["handle"]), act), runs)
        used = handle(text)
        if used is not None and used.act is not HandleAction.PREPARE:
            return Call(None, used, used.act is HandleAction.EXECUTE)
        return Call(self.batch(text), used, _PREPARES.search(text, 0, _BEHIND) is None)


class Call(NamedTuple):
    """A remote procedure call.

    Attributes:
        said: The statement that it carries; None where it names one by its handle.
        handle: The handle that it gets, uses or gives back.
        runs: It runs the statement; `sp_prepare` only names it.
    """

    said: Said | None
    handle: Handle | None
    runs: bool


def resets(text: str) -> bool:
    """Whether a call gives a pooled connection back: all that the session held is gone."""
    return _RESET.match(text) is not None
