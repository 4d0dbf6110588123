"""Parameters of procedures and statements: their names as declared, and the values of one call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbt_graft.lineage.frozen import frozen

Parameters = tuple[tuple[str, str], ...]

_NAME = re.compile(r"@[\w@#$]+(?=\s+\w)")
_STRING = re.compile(r"[Nn]?'(?:[^']|'')*'(?!')")
_ARGUMENT = re.compile(
    r"\s*,\s*(?:(?P<name>@[\w@#$]+)\s*=\s*)?(?P<value>[Nn]?'(?:[^']|'')*'(?!')|[-+\w.@$]+)"
    r"(?:\s+OUT(?:PUT)?\b)?",
    re.IGNORECASE,
)
# Behind a call: the OUTPUT parameters that a driver asks for.
_ENDS = re.compile(r"[\s;]*(?:select\s+@[\w@#$,\s]+;?\s*)?", re.IGNORECASE)
_EXECUTES = re.compile(
    r"\bexec(?:ute)?\s+(?:@\w+\s*=\s*)?"
    r"(?P<name>(?:(?:\[[^\]]+\]|[\w#$]+)?\.){0,3}(?:\[[^\]]+\]|[\w#$]+))(?![\w#$@(.])",
    re.IGNORECASE,
)
# Before a call with OUTPUT parameters stands `declare @p1 int set @p1=NULL`.
_DECLARES = re.compile(r"\s*declare\b", re.IGNORECASE)
_CALL_BEGINS = 500
# More values than SQL Server takes.
_MOST = 2_100


def declared_parameters(text: str, begin: int, end: int) -> Parameters:
    """The names in the declarations of a call, without values: `N'@P1 date,@P2 int'`.

    They come behind the statement, of `sp_executesql`, or before it.
    """
    behind = _ARGUMENT.match(text, end)
    named = _NAME.findall(behind["value"]) if behind and not behind["name"] else []
    if not named:
        before = _STRING.findall(text[:begin])
        named = _NAME.findall(before[-1]) if before else []
    return tuple((name.casefold(), "") for name in named)


def bind_values(names: Parameters, text: str, at: int) -> Parameters:
    """The parameters with the values that a call gives them.

    Args:
        at: Where its arguments begin; declarations may be the first.
    """
    values_by_name = dict(names)
    order = [name for name, _ in names]
    position = 0
    for count, (name, value) in enumerate(_arguments(text, at)):
        if count == 0 and not name and _NAME.search(value):
            continue
        if name:
            values_by_name[name.casefold()] = value
        elif position < len(order):
            values_by_name[order[position]] = value
            position += 1
    return tuple(values_by_name.items())


def _arguments(text: str, at: int) -> list[tuple[str, str]]:
    arguments: list[tuple[str, str]] = []
    argument = _ARGUMENT.match(text, at) or _ARGUMENT.match(f",{text[at : at + 4000]}")
    while argument and len(arguments) < _MOST:
        arguments.append((argument["name"] or "", argument["value"]))
        argument = _ARGUMENT.match(argument.string, argument.end())
    return arguments


@frozen
class ProcedureCall:
    """A call of one procedure.

    Attributes:
        procedure: Its name without schema, in lower case.
        arguments: The names and values of its arguments, as written; those by place have no name.
    """

    procedure: str
    arguments: Parameters

    def values(self, parameters: Sequence[str]) -> Parameters:
        """The values by name; of an argument by place, where the parameters are known."""
        names = {place: name for place, (name, _) in enumerate(self.arguments) if name}
        names = {**dict(enumerate(parameters)), **names}
        return tuple(
            (names[place], value)
            for place, (_, value) in enumerate(self.arguments)
            if place in names
        )


def procedure_call(text: str) -> ProcedureCall | None:
    """The procedure that a text calls; None where it does more, or names none."""
    begin = _EXECUTES.search(text, 0, _CALL_BEGINS)
    if begin is None or (text[: begin.start()].strip() and not _DECLARES.match(text)):
        return None
    arguments = _call_arguments(text, begin.end())
    if arguments is None:
        return None
    return ProcedureCall(begin["name"].rpartition(".")[2].strip("[]").casefold(), arguments)


def _call_arguments(text: str, at: int) -> Parameters | None:
    """The arguments of a call, those by place without a name; None where its text goes on.

    Args:
        at: Where they begin.
    """
    arguments: list[tuple[str, str]] = []
    listed, end = f",{text[at:]}", 1
    argument = _ARGUMENT.match(listed)
    while argument and len(arguments) < _MOST:
        arguments.append(((argument["name"] or "").casefold(), argument["value"]))
        end = argument.end()
        argument = _ARGUMENT.match(listed, end)
    return tuple(arguments) if _ENDS.fullmatch(listed, end) else None
