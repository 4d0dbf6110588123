"""Texts of a script: joined, formatted and changed as far as their parts are known."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.values.limits import LONGEST_TEXT, MOST_ITEMS
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Machine
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    DictCell,
    Items,
    OneOf,
    Text,
    Value,
    alternatives,
)
from dbt_graft.lineage.code import UNKNOWN_PART

# Methods that make one text of another and need nothing else.
_PLAIN = words("""
    strip lstrip rstrip lower upper title capitalize casefold removeprefix removesuffix
    replace expandtabs swapcase zfill ljust rjust center""")
_PREDICATES = frozenset(["startswith", "endswith", "isdigit", "isalpha", "isidentifier"])
_PERCENT = re.compile(r"%(?:\((?P<name>[^)]*)\))?[-#0 +]*\d*(?:\.\d+)?(?P<kind>[a-zA-Z%])")


def as_text(machine: Machine, value: Value) -> Text:
    """A value put into a text."""
    if isinstance(value, Const):
        return Text(value.value if isinstance(value.value, str) else str(value.value), ())
    if isinstance(value, Text):
        return value
    return Text(UNKNOWN_PART, (machine.data(value),))


def concatenate(machine: Machine, values: Sequence[Value]) -> Value:
    """The values as texts, one behind the other; one of several texts where a value is."""
    choices: list[list[Text]] = [[]]
    for value in values:
        ways = [as_text(machine, item) for item in alternatives(value)]
        choices = [[*texts, way] for texts in choices for way in ways]
        if len(choices) > 6:
            choices = [[*texts[:-1], as_text(machine, UNKNOWN)] for texts in choices[:1]]
    joined = [_joined(texts) for texts in choices]
    return joined[0] if len(joined) == 1 else OneOf(tuple(dict.fromkeys(joined)))


def _joined(texts: list[Text]) -> Value:
    text = "".join(item.text for item in texts)
    if len(text) > LONGEST_TEXT:
        return UNKNOWN
    parts = tuple(part for item in texts for part in item.parts)
    return Text(text, parts) if parts else Const(text)


def join_path(machine: Machine, values: Sequence[Value]) -> Value:
    """The parts of a path, one below the other."""
    parts: list[Value] = []
    has_slash = True
    for value in values:
        text = machine.text(value)
        if text == "":
            continue
        if text is not None and text.startswith("/"):
            parts, has_slash = [], True
        parts += [value] if has_slash else [Const("/"), value]
        has_slash = text is not None and text.endswith("/")
    return concatenate(machine, parts) if parts else Const("")


def format_percent(machine: Machine, template: Value, arguments: Value) -> Value:
    """`template % arguments`."""
    text = as_text(machine, template)
    items = machine.items(arguments)
    values = list(items.items) if isinstance(arguments, Items) and items else [arguments]
    pieces: list[Value] = []
    at = 0
    for match in _PERCENT.finditer(text.text):
        pieces.append(Const(text.text[at : match.start()]))
        at = match.end()
        if match["kind"] == "%":
            pieces.append(Const("%"))
        elif match["name"] is not None:
            pieces.append(entry(machine, arguments, match["name"]))
        else:
            pieces.append(values.pop(0) if values else UNKNOWN)
    pieces.append(Const(text.text[at:]))
    return concatenate(machine, pieces) if not text.parts else machine.derived([text, arguments])


def entry(machine: Machine, value: Value, key: str) -> Value:
    """An entry of a dictionary."""
    cell = machine.cell(value)
    if isinstance(cell, DictCell) and key in cell.entries:
        return cell.entries[key]
    return UNKNOWN


def _format(machine: Machine, text: Text, arguments: Arguments) -> Value:
    pieces: list[Value] = []
    number = 0
    try:
        fields = list(string.Formatter().parse(text.text))
    except ValueError:
        return machine.derived([text, *arguments.values()])
    for literal, field, _, _ in fields:
        pieces.append(Const(literal))
        if field is None:
            continue
        name = re.split(r"[.\[]", field)[0]
        value: Value | None
        if name.isdigit() or not name:
            value = arguments.get("", int(name) if name else number)
            number += 1
        else:
            value = arguments.get(name)
            for spread in arguments.more:
                value = value or entry(machine, spread, name)
        pieces.append(value if value is not None and name == field else UNKNOWN)
    return concatenate(machine, pieces)


def call_text_method(call: Call) -> Value:
    """A method of a text."""
    machine, name, arguments = call.machine, call.name, call.arguments
    text = as_text(machine, call.owner)
    values = [as_text(machine, value).text for value in arguments.positional]
    if name == "format" and not text.parts:
        return _format(machine, text, arguments)
    if name == "join":
        return _join(call, text)
    if name in {"encode", "decode"}:
        return call.owner
    known = all(isinstance(value, Const) for value in arguments.positional)
    if name in _PLAIN and not arguments.named and known:
        return _plain(call, text, name)
    if name in _PREDICATES and not text.parts and known:
        return _apply(text.text, name, arguments)
    if name in {"split", "splitlines", "rsplit"} and not text.parts and known:
        parts = _apply(text.text, name, arguments)
        return parts if isinstance(parts, Items) else UNKNOWN
    if name in {"split", "splitlines"} and UNKNOWN_PART not in values:
        return Items((), machine.derived([text]))
    return machine.derived([text, *arguments.values()])


def _apply(text: str, name: str, arguments: Arguments) -> Value:
    constants = [item.value for item in arguments.positional if isinstance(item, Const)]
    if len(text) * max((len(str(value)) for value in constants), default=1) > LONGEST_TEXT * 100:
        return UNKNOWN
    try:
        result = getattr(text, name)(*constants)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return UNKNOWN
    if isinstance(result, list):
        return Items(tuple(Const(item) for item in result))
    return Const(result) if len(str(result)) < LONGEST_TEXT else UNKNOWN


def _plain(call: Call, text: Text, name: str) -> Value:
    widths = [v.value for v in call.arguments.positional if isinstance(v, Const)]
    if any(isinstance(width, int) and width > 1000 for width in widths):
        return UNKNOWN
    result = _apply(text.text, name, call.arguments)
    if not isinstance(result, Const) or not isinstance(result.value, str):
        return UNKNOWN
    changed = result.value
    if not text.parts:
        return result
    if name in {"upper", "title", "capitalize", "swapcase", "casefold"}:
        changed = re.sub(UNKNOWN_PART, UNKNOWN_PART, changed, flags=re.IGNORECASE)
    if changed.count(UNKNOWN_PART) != len(text.parts):
        return call.machine.derived([text])
    return Text(changed, text.parts)


def _join(call: Call, separator: Text) -> Value:
    machine = call.machine
    values = call.get("", 0)
    items = machine.items(values)
    if isinstance(values, Const) and isinstance(values.value, str):
        items = Items(tuple(map(Const, values.value[:MOST_ITEMS])))
    if items is None or items.rest is not None:
        return machine.derived([values] if values is not None else [])
    pieces: list[Value] = []
    for item in items.items:
        pieces += [separator, item] if pieces else [item]
    return concatenate(machine, pieces)


def substitute(call: Call, text: Value) -> Value:
    """A text in which a pattern is replaced, if all is known and the pattern is simple.

    Without brackets and over short texts, no pattern takes long.
    """
    pattern, new = call.text("pat", 0), call.text("repl", 1)
    known = isinstance(text, Const) and isinstance(text.value, str) and len(text.value) <= 200
    if pattern is None or new is None or not known or "(" in pattern or len(pattern) > 40:
        return UNKNOWN
    assert isinstance(text, Const)
    try:
        return Const(re.sub(pattern, new, str(text.value)))
    except (re.error, RecursionError):
        return UNKNOWN


def substitute_text(call: Call) -> Value:
    """`re.sub(pattern, new, text)`."""
    text = call.get("string", 2) or UNKNOWN
    changed = substitute(call, text)
    return changed if changed != UNKNOWN else call.machine.derived(call.arguments.values())
