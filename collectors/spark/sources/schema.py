"""Columns and types in plans: `struct<id:bigint,tags:array<string>>`.

A column without a name is named after its expression, which may have literals (`(name = Jane)`).
Such names are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from dbt_graft.collectors.spark.plans.arguments import Attribute
from dbt_graft.lineage.records import Column

_BRACKET = re.compile(r"[<>]")
_PLAIN_NAME = re.compile(r"[\w$@#%.-]+(?: [\w$@#%.-]+)*")
# `(a + 1)`, `f(a, Jane)`, `m[Jane]`, `a LIKE Jane`: Spark's names of expressions.
_EXPRESSION = re.compile(r"^\(|[=<>'\"\\\n]|\w\(|\w\[(?!\d+\])|\bCASE WHEN\b| [IR]?LIKE ")
_FUNCTION_OF_COLUMN = re.compile(r"\w+\((?:distinct )?[\w.]+\)", re.IGNORECASE)
# A simple type, or what a nested one begins with.
_TYPE = re.compile(r"[a-z]\w*(?:(?P<nested><)|(?:\([^()<>]*\))?(?: [\w ]+)?(?=,|$))")


def is_plain(name: str) -> bool:
    """Whether any column, also a literal without a name, may be called so."""
    return bool(_PLAIN_NAME.fullmatch(name))


def is_column_name(name: str) -> bool:
    """Whether a name in a schema, or of a column that is computed from others, has no literal."""
    return bool(name) and (
        not _EXPRESSION.search(name) or bool(_FUNCTION_OF_COLUMN.fullmatch(name))
    )


@lru_cache(maxsize=512)  # Tables are read again and again.
def parse_struct(text: str) -> tuple[Column, ...]:
    """The columns of a struct type as Spark writes it; nested types stay text."""
    if not (text.startswith("struct<") and text.endswith(">")):
        return ()
    inside = text[len("struct<") : -1]
    fields, start = [], 0
    while start < len(inside):
        # Names are not quoted: a colon is one between name and type if a type follows.
        colon, end = inside.find(":", start), 0
        while colon >= 0 and not (end := _type_end(inside, colon + 1)):
            colon = inside.find(":", colon + 1)
        if colon < 0 or end < 0:
            return ()
        fields.append(Column(inside[start:colon], inside[colon + 1 : end]))
        start = end + 1
    return tuple(field for field in fields if is_column_name(field.name))


def _type_end(text: str, start: int) -> int:
    """The end of the type that starts there; 0 where none does, -1 where it has no end."""
    match = _TYPE.match(text, start)
    if match is None or not match["nested"]:
        return match.end() if match else 0
    depth = 0
    for bracket in _BRACKET.finditer(text, match.start("nested")):
        depth += 1 if bracket.group() == "<" else -1
        if not depth:
            end = bracket.end()
            return end if text[end : end + 1] in ("", ",") else 0
    return -1


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
    partitions = (a for a in output if a.name not in typed and is_column_name(a.name))
    return (*typed.values(), *(Column(a.name, "bigint" if a.is_long else "") for a in partitions))


def written_names(listed: Sequence[str], taken: Sequence[Attribute]) -> list[str]:
    """The names of the columns of a write: those that its command lists.

    Commas in names divide one into several there. They are known by the columns that the write
    takes from its query, which have the same names, or else tell how many there are.
    """
    names = [column.name for column in taken]
    is_divided = len(listed) > len(names) and not all(map(is_plain, listed))
    return names if not listed or _join(listed) == _join(names) or is_divided else list(listed)


def _join(names: Iterable[str]) -> str:
    return ",".join(names).replace(", ", ",")


def typed_columns(
    names: Sequence[str],
    inputs: Sequence[Attribute],
    types: Mapping[int, str],
    named: Collection[str] = (),
) -> tuple[Column, ...]:
    """The columns of a write, with the types of columns that come unchanged from a scan.

    Args:
        names: The target's columns.
        inputs: The columns written into them, by position; ignored where the numbers differ.
        types: The types of columns of scans, by the columns' ids.
        named: Names that are no expressions.
    """
    if not all(is_plain(name) or name in named for name in names):
        return ()
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
