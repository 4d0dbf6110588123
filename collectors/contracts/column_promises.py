"""The promises of a contract for a column: type, nulls, values and unit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from dbt_graft.analysis.checks.column_promise import ColumnPromise
from dbt_graft.collectors.contracts.document import PropertyPart

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
