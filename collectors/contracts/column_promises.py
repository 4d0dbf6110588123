"""The promises of a contract for a column: type, nulls, values and unit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from dbt_graft.analysis.checks.column_promise import ColumnPromise
from dbt_graft.analysis.checks.contracts import WrittenPromise
from dbt_graft.collectors.contracts.document import ObjectPart, PropertyPart

# Keys under which a quality rule, or its arguments, lists the values that are valid.
_VALUES = ("validValues", "mustBeIn")
_LONGEST_UNIT = 20


def column_promise(column: PropertyPart, label: str) -> ColumnPromise:
    """The promises of a property.

    Args:
        label: Its classification.
    """
    constraints = [("unique", column.unique), ("primary_key", column.primary_key)]
    return ColumnPromise(
        (column.physical_type or column.logical_type).casefold(),
        is_true(column.required),
        frozenset((kind, "") for kind, value in constraints if is_true(value)),
        values=frozenset(map(_digest, _valid_values(column.quality))),
        classification=label,
        unit=_unit(column.custom),
    )


def column_bounds(table: ObjectPart) -> Iterator[WrittenPromise]:
    """The bounds and the quality rules of a table and its columns, by their number."""
    bounds, rules = 0, _count(table.quality)
    waiting = [*table.properties]
    while waiting:
        column = waiting.pop()
        waiting += column.fields
        bounds += _count(column.options)
        rules += _count(column.quality)
    for name, number in (("bounds", bounds), ("quality rules", rules)):
        if number:
            yield WrittenPromise(name, str(number))


def _count(written: Any) -> int:
    return len(written) if isinstance(written, list | dict) else 0


def is_true(value: Any) -> bool:
    """Whether a flag is set, as people write it."""
    return value is True or str(value).casefold() in ("true", "yes")


def _valid_values(quality: Any) -> Iterator[Any]:
    for rule in quality if isinstance(quality, list) else ():
        if not isinstance(rule, dict):
            continue
        arguments = rule.get("arguments")
        for mapping in (rule, arguments if isinstance(arguments, dict) else {}):
            for key in _VALUES:
                values = mapping.get(key)
                yield from values if isinstance(values, list) else ()


def _unit(custom: Any) -> str:
    for entry in custom if isinstance(custom, list) else ():
        if isinstance(entry, dict) and str(entry.get("property")).casefold() == "unit":
            return str(entry.get("value") or "").strip()[:_LONGEST_UNIT]
    return ""


def _digest(value: Any) -> str:
    return hashlib.blake2b(repr(value).encode(), digest_size=12).hexdigest()
