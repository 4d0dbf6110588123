"""An event against an expected one: only what the expected one names is compared.

As in Airflow's system tests: `null` expects that there is no such field, `{"$optional": "why", …}`
compares a field only where there is one, with `"$value"` where it is a list. Lists have the same
length and order. A text with `{{` is a template.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from dbt_graft.exporters.openlineage.templates import MARK, EventTemplateError, fits

_OPTIONAL, _VALUE = "$optional", "$value"


@dataclass(frozen=True, slots=True)
class EventDifference:
    """A difference between an event and the expected one.

    Attributes:
        path: `run.facets.parent.job.name`, `inputs[0].name`; empty for the event.
        problem: What is wrong, for people.
    """

    path: str
    problem: str
    expected: Any = None
    found: Any = None


def differences(expected: Any, found: Any, path: str = "") -> Iterator[EventDifference]:
    """Yield the differences, in the order of the expected event."""
    if isinstance(expected, dict):
        yield from _of_fields(expected, found, path)
    elif isinstance(expected, list):
        yield from _of_items(expected, found, path)
    elif isinstance(expected, str) and MARK in expected:
        yield from _of_template(expected, found, path)
    elif not _is_equal(expected, found):
        yield _difference(path, expected, found)


def _of_fields(expected: dict[str, Any], found: Any, path: str) -> Iterator[EventDifference]:
    if not isinstance(found, dict):
        yield _difference(path, expected, found)
        return
    for key, value in expected.items():
        below = f"{path}.{key}" if path else key
        wanted = value
        if value is None:
            if key in found:
                problem = f"expected no such field, found {shown(found[key])}"
                yield EventDifference(below, problem, None, found[key])
            continue
        if isinstance(value, dict) and isinstance(value.get(_OPTIONAL), str):
            if key not in found or found[key] == []:
                continue
            others = {name: one for name, one in value.items() if name != _OPTIONAL}
            wanted = value.get(_VALUE, others)
        if key in found:
            yield from differences(wanted, found[key], below)
        else:
            yield EventDifference(below, f"expected {shown(wanted)}, is missing", wanted)


def _of_items(expected: list[Any], found: Any, path: str) -> Iterator[EventDifference]:
    if not isinstance(found, list):
        yield _difference(path, expected, found)
        return
    if len(expected) != len(found):
        problem = f"expected {len(expected)} items, found {len(found)}: {shown(found)}"
        yield EventDifference(path, problem, expected, found)
    for number, (wanted, one) in enumerate(zip(expected, found, strict=False)):
        yield from differences(wanted, one, f"{path}[{number}]")


def _of_template(template: str, found: Any, path: str) -> Iterator[EventDifference]:
    try:
        if not fits(template, found):
            yield _difference(path, template, found)
    except EventTemplateError as error:
        problem = f"{error}, found {shown(found)}"
        yield EventDifference(path, problem, template, found)


def _is_equal(expected: Any, found: Any) -> bool:
    # In Python True is 1, in JSON it is not.
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    return bool(expected == found)


def _difference(path: str, expected: Any, found: Any) -> EventDifference:
    problem = f"expected {shown(expected)}, found {shown(found)}"
    return EventDifference(path, problem, expected, found)


def shown(value: Any, longest: int = 120) -> str:
    """A value as JSON, cut where it is long."""
    text = orjson.dumps(value).decode()
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
