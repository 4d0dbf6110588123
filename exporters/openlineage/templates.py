"""Templates of expected values: Jinja in a sandbox, with the functions of Airflow's system tests.

A text with `{{` is rendered with the found value as `result`; it fits if it renders `true`, or the
value itself. The functions are those of `OpenLineageTestOperator` in Airflow's OpenLineage
provider, so that its templates can be used as they are.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

MARK = "{{"
_TRUE, _FALSE = "true", "false"


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


def _any(result: Any) -> Any:
    return result


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


def _url_path(url: str) -> str:
    return urlsplit(url).path


def _environment() -> SandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment()
    environment.globals.update(
        any=_any,
        is_datetime=_is_datetime,
        is_uuid=_is_uuid,
        regex_match=_regex_match,
        env_var=_env_var,
        not_match=_not_match,
    )
    environment.filters.update(url_scheme_authority=_url_scheme_authority, url_path=_url_path)
    return environment


_ENVIRONMENT = _environment()
