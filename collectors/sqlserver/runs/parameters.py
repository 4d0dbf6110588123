"""Parameters of remote procedure calls: their names as declared, and the values of one call."""

from __future__ import annotations

import re

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


def call_arguments(text: str, at: int) -> Parameters | None:
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


def _arguments(text: str, at: int) -> list[tuple[str, str]]:
    arguments: list[tuple[str, str]] = []
    argument = _ARGUMENT.match(text, at) or _ARGUMENT.match(f",{text[at : at + 4000]}")
    while argument and len(arguments) < _MOST:
        arguments.append((argument["name"] or "", argument["value"]))
        argument = _ARGUMENT.match(argument.string, argument.end())
    return arguments
