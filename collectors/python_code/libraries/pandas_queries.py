"""Texts that pandas evaluates: `df.query("a > 1")`, `df.eval("c = a + b")`."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from dbt_graft.collectors.python_code.values.frames import as_keys, find_column
from dbt_graft.collectors.python_code.values.machine import Call
from dbt_graft.collectors.python_code.values.values import Data, Form, Frame, combine, derive

_QUOTED = re.compile(r"`([^`]*)`")


def condition_of(call: Call, frame: Frame) -> Data:
    """The columns that a condition in a text names."""
    text = call.text("expr", 0)
    if text is None:
        return call.missing("the condition of `query` is not known")
    return _named_columns(call, frame, text) or Data()


def assign_expressions(call: Call, frame: Frame) -> Frame | Data:
    """The frame with the columns that a text assigns, or the value of an expression."""
    text = call.text("expr", 0)
    if text is None:
        gap = call.gap("the text of `eval` is not known")
        return frame.with_gap(gap)
    value: Frame | Data = frame
    for line in filter(None, map(str.strip, text.splitlines())):
        match = re.match(r"(\w+|`[^`]*`)\s*=(?!=)\s*(.*)", line)
        name, expression = (match[1].strip("`"), match[2]) if match else (None, line)
        assert isinstance(value, Frame)
        data = _named_columns(call, value, expression)
        is_alone = re.fullmatch(r"\w+|`[^`]*`", expression.strip()) is not None
        column = derive((data and [data]) or [], call.place) if not is_alone else data or Data()
        if name is None:
            return replace(column, form=Form.SERIES)
        value = value.with_column(name, replace(column, place=call.place))
    return value


def _named_columns(call: Call, frame: Frame, text: str) -> Data | None:
    quoted: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        name = f"graft_quoted_{len(quoted)}"
        quoted[name] = match[1]
        return name

    readable = re.sub(r"@(\w+)", r"graft_local_\1", _QUOTED.sub(stand_in, text))
    try:
        tree = ast.parse(readable.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return call.missing("a text that pandas evaluates is not read")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [
        quoted.get(node.id, node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and id(node) not in called
        and not node.id.startswith("graft_local_")
        and node.id not in {"index", "True", "False", "None"}
    ]
    parts = [find_column(call.machine, frame, name) for name in as_keys(dict.fromkeys(names))]
    return combine(parts) if parts else None
