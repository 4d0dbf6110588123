"""The promises of time in a contract (`slaProperties`), and the tables that they are about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from dbt_graft.analysis.checks.contracts import ColumnPromise, ContractTable, WrittenPromise
from dbt_graft.analysis.quality.times import clock_text, length, time_of_day
from dbt_graft.collectors.contracts.document import ObjectPart, PropertyPart
from dbt_graft.lineage.frozen import frozen

# Keys under which a quality rule, or its arguments, lists the values that are valid.
_VALUES = ("validValues", "mustBeIn")
_LONGEST_UNIT = 20


def column_promise(column: PropertyPart, label: str) -> ColumnPromise:
    """The promises of a property."""
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


# Names of properties, with the short ones of the standard.
_AGES = ("latency", "ly", "freshness")
_AVAILABLE = ("timeofavailability", "ta")
# On which times of day in different zones are compared.
_ANY_DAY = date(2001, 1, 1)


@frozen
class Promise:
    """A property of a contract's service level.

    Attributes:
        element: The tables or columns that it is about, with commas; empty for all.
    """

    property: str
    value: Any
    unit: str = ""
    element: str = ""


def apply_promises(
    tables: Sequence[ContractTable], promises: Sequence[Promise]
) -> tuple[ContractTable, ...]:
    """Tables with their freshness SLO and deadline, of several the strictest, and other promises.

    What is not a length of time, or no time of day, stays as it is written: forecasts say so.
    """
    promised_tables = list(tables)
    for promise in sorted(promises, key=_strictness):
        word = promise.property.casefold()
        numbers = [*_table_numbers(tables, promise.element)]
        for number in numbers or range(len(tables)):
            table = promised_tables[number]
            if numbers and word in _AGES and not table.freshness_slo:
                promised_tables[number] = replace(table, freshness_slo=_length(promise))
            elif numbers and word in _AVAILABLE and not table.deadline:
                promised_tables[number] = replace(table, deadline=_clock(promise))
            else:
                value, reason = _length(promise), ""
                if not numbers:
                    reason = f"{promise.element} is no table of the contract"
                elif word in (*_AGES, *_AVAILABLE):
                    value = _clock(promise) if word in _AVAILABLE else value
                    reason = "another one of this table is checked"
                written = WrittenPromise(promise.property, value, reason)
                promised_tables[number] = replace(table, promises=(*table.promises, written))
    return tuple(promised_tables)


def _strictness(promise: Promise) -> tuple[bool, float]:
    """The shortest age and the earliest time of day first; then what is neither."""
    word = promise.property.casefold()
    if word in _AGES and (age := length(_length(promise))):
        return False, age.total_seconds()
    if word in _AVAILABLE and (clock := time_of_day(_clock(promise))):
        return False, datetime.combine(_ANY_DAY, *clock).timestamp()
    return True, 0


def _table_numbers(tables: Sequence[ContractTable], element: str) -> Iterator[int]:
    """The tables that an element names, or of which it names a column.

    Of one table the name may be left out. What names neither is of no table.
    """
    parts = [part.strip().casefold() for part in element.split(",") if part.strip()]
    numbers = [number for number, table in enumerate(tables) if _is_named(table, parts)]
    if parts and not numbers:
        columns = {part.rsplit(".", 1)[-1] for part in parts}
        numbers = [
            number
            for number, table in enumerate(tables)
            if any(column.name.casefold() in columns for column in table.columns)
        ]
    yield from numbers if parts and len(tables) > 1 else range(len(tables))


def _is_named(table: ContractTable, parts: Sequence[str]) -> bool:
    """Whether one of the elements is a name of the table, or of a column of it."""
    names = [name.casefold() for name in table.names]
    return any(part == name or part.startswith(f"{name}.") for part in parts for name in names)


def _length(promise: Promise) -> str:
    """`4` and `d` as `4d`; as it is written where it is not a length of time."""
    if promise.value is None:
        return ""
    text, unit = str(promise.value).strip(), promise.unit.strip()
    with_unit = f"{text}{unit}" if len(unit) <= 1 else f"{text} {unit}"
    return next((candidate for candidate in (with_unit, text) if length(candidate)), with_unit)


def _clock(promise: Promise) -> str:
    """A time of day, of which the unit may be the zone."""
    if promise.value is None:
        return ""
    text = clock_text(promise.value)
    with_zone = f"{text} {promise.unit}".strip()
    return with_zone if time_of_day(with_zone) else text
