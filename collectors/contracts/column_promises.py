"""The promises of a contract for a column: type, nulls, values and unit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from dbt_graft.collectors.contracts.document import PropertyPart
from dbt_graft.lineage.column_promise import ColumnPromise

# Keys under which a quality rule, or its arguments, lists the values that are valid.
_VALUES = ("validValues", "mustBeIn")
_LONGEST_UNIT = 20


def column_promise(one: PropertyPart, label: str) -> ColumnPromise:
    """The promises of a property.

    Args:
        label: Its classification.
    """
    constraints = [("unique", one.unique), ("primary_key", one.primary_key)]
    return ColumnPromise(
        (one.physical_type or one.logical_type).casefold(),
        is_true(one.required),
        frozenset((kind, "") for kind, value in constraints if is_true(value)),
        values=frozenset(map(_digest, _valid_values(one.quality))),
        classification=label,
        unit=_unit(one.custom),
    )


def is_true(value: Any) -> bool:
    """Whether a flag is set, as people write it."""
    return value is True or str(value).casefold() in ("true", "yes")


def _valid_values(quality: Any) -> Iterator[Any]:
    for rule in quality if isinstance(quality, list) else ():
        if not isinstance(rule, dict):
            continue
        arguments = rule.get("arguments")
        for place in (rule, arguments if isinstance(arguments, dict) else {}):
            for key in _VALUES:
                found = place.get(key)
                yield from found if isinstance(found, list) else ()


def _unit(custom: Any) -> str:
    for one in custom if isinstance(custom, list) else ():
        if isinstance(one, dict) and str(one.get("property")).casefold() == "unit":
            return str(one.get("value") or "").strip()[:_LONGEST_UNIT]
    return ""


def _digest(value: Any) -> str:
    return hashlib.blake2b(repr(value).encode(), digest_size=12).hexdigest()
