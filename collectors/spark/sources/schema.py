"""Columns and types in plans: `struct<id:bigint,tags:array<string>>`.

A column without a name is named after its expression, which may have literals (`(name = Jane)`).
Such names are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from dbt_graft.collectors.spark.plans.arguments import Attribute
from dbt_graft.lineage.records import Column

_BRACKET = re.compile(r"[<>]")
_PLAIN_NAME = re.compile(r"[\w$@#%.-]+(?: [\w$@#%.-]+)*")


def is_plain(name: str) -> bool:
    """Whether a column's name is no expression."""
    return bool(_PLAIN_NAME.fullmatch(name))


@lru_cache(maxsize=512)  # Tables are read again and again.
def parse_struct(text: str) -> tuple[Column, ...]:
    """The columns of a struct type as Spark writes it; nested types stay text."""
    if not (text.startswith("struct<") and text.endswith(">")):
        return ()
    fields, depth, start = [], 0, len("struct<")
    for at in range(start, len(text)):
        char = text[at]
        if (char == "," and not depth) or at == len(text) - 1:
            fields.append(text[start:at])
            start = at + 1
        depth += (char in "<(") - (char in ">)")
    named = (field.partition(":") for field in fields if ":" in field)
    return tuple(Column(name, kind) for name, _, kind in named if _PLAIN_NAME.fullmatch(name))


def first_struct(text: str) -> str:
    """The struct type that a text begins with; empty where it is truncated."""
    depth = 0
    for bracket in _BRACKET.finditer(text) if text.startswith("struct<") else ():
        depth += 1 if bracket.group() == "<" else -1
        if not depth:
            return text[: bracket.end()]
    return ""


def output_columns(schema: Iterable[Column], output: Iterable[Attribute]) -> tuple[Column, ...]:
    """A scan's columns: those in the files with their types, then partition columns."""
    typed = {column.name: column for column in schema}
    partitions = (a for a in output if a.name not in typed and _PLAIN_NAME.fullmatch(a.name))
    return (*typed.values(), *(Column(a.name, "bigint" if a.is_long else "") for a in partitions))


def typed_columns(
    names: list[str], inputs: list[Attribute], types: Mapping[int, str]
) -> tuple[Column, ...]:
    """The columns of a write, with the types of columns that come unchanged from a scan.

    Args:
        names: The target's columns.
        inputs: The columns written into them, by position; ignored where the numbers differ.
        types: The types of columns of scans, by the columns' ids.
    """
    if not all(_PLAIN_NAME.fullmatch(name) for name in names):
        return ()  # Commas of an expression may have been taken as separators.
    if len(names) != len(inputs):
        return tuple(Column(name) for name in names)
    return tuple(
        Column(name, types.get(source.id) or ("bigint" if source.is_long else ""))
        for name, source in zip(names, inputs, strict=True)
    )


def merge_columns(first: tuple[Column, ...], second: tuple[Column, ...]) -> tuple[Column, ...]:
    """Merge two lists of columns: the longer list's order, types from either."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    types = {column.name: column.type for column in shorter}
    names = {column.name for column in longer}
    columns = (Column(c.name, c.type or types.get(c.name, "")) for c in longer)
    return (*columns, *(column for column in shorter if column.name not in names))
