"""Filters of scans -> the dates that they leave of each column.

| text | of |
|---|---|
| `[(cast(ds#32 as date) > 2026-10-03), hr#33 IN (0,1)]` | partitions, data, Hive |
| `[IsNotNull(day), GreaterThanOrEqual(day,2026-10-01)]` | `PushedFilters` |
| `filters=ds IS NOT NULL, ds = '2026-10-01'` | Iceberg |

All of them hold together, so one that is not read only leaves more dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from dbt_graft.collectors.spark.plans.arguments import plain_expressions
from dbt_graft.lineage.dates.date_columns import has_time, name_grain
from dbt_graft.lineage.dates.date_conditions import (
    Conditions,
    comparison_ranges,
    intersect_conditions,
    known_extents,
    unite_conditions,
)
from dbt_graft.lineage.dates.date_ranges import date_range

_COLUMN = (
    r"(?:(?:cast|CAST)\()?(?P<column>`[^`]+`|[\w.$-]+)(?:#\d{1,18}L?)?"
    r"(?: (?:as|AS) (?P<type>\w+)\))?"
)
_VALUE = r"'?(?P<value>\d{4}[\d:T .,+Z/QW_-]*)'?"
_COMPARED = re.compile(rf"{_COLUMN} (?P<operator><=>|[<>]?=|[<>]) {_VALUE}")
_REVERSED = re.compile(rf"{_VALUE} (?P<operator><=>|[<>]?=|[<>]) {_COLUMN}")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_AMONG = re.compile(rf"{_COLUMN} (?:IN|INSET) \(?(?P<values>[^()]+?)\)?")
_PUSHED = re.compile(
    r"\*?(?P<operator>EqualTo|EqualNullSafe|GreaterThan|GreaterThanOrEqual|LessThan|LessThanOrEqual)"
    rf"\((?P<column>[\w.$`-]+), ?{_VALUE}\)"
)
_PUSHED_AMONG = re.compile(r"\*?In\((?P<column>[\w.$`-]+), ?\[(?P<values>[^\[\]]+)\]\)")
_PUSHED_JUNCTION = re.compile(r"\*?(?P<word>And|Or)\((?P<inside>.*)\)", re.DOTALL)
_NOT_NULL = re.compile(r"(?i:isnotnull)\([^()]*\)|[^()]* IS NOT NULL")
_OPERATORS = {
    "EqualTo": "=",
    "EqualNullSafe": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_DEEPEST = 12
_MOST_VALUES = 2_000


def date_conditions(filters: str, types: Mapping[str, str]) -> Conditions:
    """The dates that filters leave of each column; more than one range: any of them.

    Args:
        filters: A list, as the plan has it.
        types: The types of columns, where the plan has them.
    """
    return intersect_conditions(
        _condition(expression, types) for expression in plain_expressions(filters)
    )


def is_only_about(filters: str, column: str) -> bool:
    """Whether filters leave out rows by the dates of a column alone."""
    return all(_is_about(expression, column) for expression in plain_expressions(filters))


def _is_about(text: str, column: str, depth: int = 0) -> bool:
    text = _strip_brackets(text)
    if depth == _DEEPEST:
        return False
    for sign in (" OR ", " AND "):
        parts = list(_split(text, sign))
        if len(parts) > 1:
            return all(_is_about(part, column, depth + 1) for part in parts)
    return bool(_NOT_NULL.fullmatch(text)) or column in _condition(text, {}, _DEEPEST - 1)


def _condition(text: str, types: Mapping[str, str], depth: int = 0) -> Conditions:
    text = _strip_brackets(text)
    if depth == _DEEPEST:
        return {}
    for sign, join in (("OR", unite_conditions), ("AND", intersect_conditions)):
        parts = list(_split(text, f" {sign} "))
        if len(parts) > 1:
            return join(_condition(part, types, depth + 1) for part in parts)
    if junction := _PUSHED_JUNCTION.fullmatch(text):
        join = intersect_conditions if junction["word"] == "And" else unite_conditions
        inside = _split(junction["inside"], ",")
        return join(_condition(part, types, depth + 1) for part in inside)
    if among := _AMONG.fullmatch(text) or _PUSHED_AMONG.fullmatch(text):
        return _among_conditions(among["column"], among["values"])
    comparison = _COMPARED.fullmatch(text) or _PUSHED.fullmatch(text)
    operator = _OPERATORS.get(comparison["operator"], comparison["operator"]) if comparison else ""
    if comparison is None and (comparison := _REVERSED.fullmatch(text)):
        operator = _MIRRORED.get(comparison["operator"], comparison["operator"])
    if comparison is None:
        return {}
    column = comparison["column"].strip("`")
    value = date_range(comparison["value"], name_grain(column))
    type_ = comparison.groupdict().get("type") or types.get(column, "")
    ranges = comparison_ranges(operator, value) if value else ()
    # Spark writes the time of a timestamp, midnight too.
    has_times = has_time(type_) or ":" in comparison["value"]
    return {column: known_extents(ranges, has_time=has_times)} if ranges else {}


def _among_conditions(column: str, values: str) -> Conditions:
    column = column.strip("`")
    texts = values.split(",")
    if len(texts) > _MOST_VALUES:
        return {}
    named = name_grain(column)
    ranges = [
        ranges
        for text in texts
        if (value := date_range(text, named)) and (ranges := comparison_ranges("=", value))
    ]
    return {column: tuple(chain.from_iterable(ranges))} if len(ranges) == len(texts) else {}


def _strip_brackets(text: str) -> str:
    text = text.strip()
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for at, char in enumerate(text):
            depth += (char == "(") - (char == ")")
            if not depth and at < len(text) - 1:
                return text
        if depth:
            return text
        text = text[1:-1].strip()
    return text


def _split(text: str, separator: str) -> Iterator[str]:
    depth = start = 0
    if separator in text:
        for at, char in enumerate(text):
            if char in "([":
                depth += 1
            elif char in ")]":
                depth -= 1
            elif not depth and text.startswith(separator, at):
                yield text[start:at]
                start = at + len(separator)
    yield text[start:]
