"""An event against an expected one: only what the expected one names is compared.

As in Airflow's system tests: `null` expects that there is no such field, `{"$optional": "why", …}`
compares a field only where there is one, with `"$value"` where it is a list. Lists have the same
length and order. A text with `{{` is a template of Jinja, rendered in a sandbox with the found
value as `result`; it fits if it renders `true`, or the value itself. The functions are those of
`OpenLineageTestOperator` in Airflow's OpenLineage provider, so that its templates can be used as
they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import orjson
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

from dbt_graft.lineage.frozen import frozen

_OPTIONAL, _VALUE = "$optional", "$value"
MARK = "{{"
_TRUE, _FALSE = "true", "false"


@frozen
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


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[EventDifference]:
    """Yield the differences, in the order of the expected event."""
    if isinstance(expected, dict):
        yield from _compare_fields(expected, actual, path)
    elif isinstance(expected, list):
        yield from _compare_items(expected, actual, path)
    elif isinstance(expected, str) and MARK in expected:
        yield from _compare_template(expected, actual, path)
    elif not _is_equal(expected, actual):
        yield _difference(path, expected, actual)


def _compare_fields(expected: dict[str, Any], actual: Any, path: str) -> Iterator[EventDifference]:
    if not isinstance(actual, dict):
        yield _difference(path, expected, actual)
        return
    for key, value in expected.items():
        field_path = f"{path}.{key}" if path else key
        wanted = value
        if value is None:
            if key in actual:
                problem = f"expected no such field, found {shown(actual[key])}"
                yield EventDifference(field_path, problem, None, actual[key])
            continue
        if isinstance(value, dict) and isinstance(value.get(_OPTIONAL), str):
            if key not in actual or actual[key] == []:
                continue
            others = {name: member for name, member in value.items() if name != _OPTIONAL}
            wanted = value.get(_VALUE, others)
        if key in actual:
            yield from differences(wanted, actual[key], field_path)
        else:
            yield EventDifference(field_path, f"expected {shown(wanted)}, is missing", wanted)


def _compare_items(expected: list[Any], actual: Any, path: str) -> Iterator[EventDifference]:
    if not isinstance(actual, list):
        yield _difference(path, expected, actual)
        return
    if len(expected) != len(actual):
        problem = f"expected {len(expected)} items, found {len(actual)}: {shown(actual)}"
        yield EventDifference(path, problem, expected, actual)
    for number, (wanted, actual_entry) in enumerate(zip(expected, actual, strict=False)):
        yield from differences(wanted, actual_entry, f"{path}[{number}]")


def _compare_template(template: str, actual: Any, path: str) -> Iterator[EventDifference]:
    try:
        if not fits(template, actual):
            yield _difference(path, template, actual)
    except EventTemplateError as error:
        problem = f"{error}, found {shown(actual)}"
        yield EventDifference(path, problem, template, actual)


def _is_equal(expected: Any, actual: Any) -> bool:
    # In Python True is 1, in JSON it is not.
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


def _difference(path: str, expected: Any, actual: Any) -> EventDifference:
    problem = f"expected {shown(expected)}, found {shown(actual)}"
    return EventDifference(path, problem, expected, actual)


def shown(value: Any, longest: int = 120) -> str:
    """A value as JSON, cut where it is long."""
    text = orjson.dumps(value).decode()
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


class EventTemplateError(ValueError):
    """A template cannot be rendered."""


def fits(template: str, result: Any) -> bool:
    """Whether a found value fits a template.

    Raises:
        EventTemplateError: The template is not valid, or one of its functions objects.
    """
    try:
        rendered = _ENVIRONMENT.from_string(template).render(result=result)
    except TemplateError as error:
        raise EventTemplateError(f"the template is not valid: {error.message}") from error
    except (EventTemplateError, RecursionError):
        raise
    except Exception as error:
        raise EventTemplateError(f"the template failed: {type(error).__name__}: {error}") from error
    return rendered.lower() == _TRUE or rendered == result or rendered == str(result)


def _is_datetime(result: Any) -> str:
    try:
        datetime.fromisoformat(result)
    except (TypeError, ValueError):
        return _FALSE
    return _TRUE


def _is_uuid(result: Any) -> str:
    try:
        UUID(result)
    except (TypeError, ValueError, AttributeError):
        return _FALSE
    return _TRUE


def _regex_match(result: Any, pattern: str) -> str:
    return _TRUE if isinstance(result, str) and re.match(pattern, result) else _FALSE


def _env_var(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None:
        raise EventTemplateError(f"the environment variable {name} is not set")
    return value


def _not_match(result: Any, pattern: str) -> str:
    if pattern in result:
        raise EventTemplateError(f"must not contain {pattern}")
    return _TRUE


def _url_scheme_authority(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _environment() -> SandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment()
    environment.globals.update(
        any=lambda result: result,
        is_datetime=_is_datetime,
        is_uuid=_is_uuid,
        regex_match=_regex_match,
        env_var=_env_var,
        not_match=_not_match,
    )
    environment.filters.update(
        url_scheme_authority=_url_scheme_authority, url_path=lambda url: urlsplit(url).path
    )
    return environment


_ENVIRONMENT = _environment()
