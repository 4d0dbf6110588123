"""The places where exceptions arose, without the values that their messages may quote."""

from __future__ import annotations

import logging
import re
from types import ModuleType

import pytest

from dbt_graft.lineage.errors import (
    GraftError,
    exception_place,
    exception_reason,
    exception_summary,
    exception_traceback,
)

SECRET = "4929-1234"


def raised(code: str, module: str = "dbt_graft.collectors.fictional") -> Exception:
    """The exception of code that runs as one of our modules."""
    namespace = ModuleType(module).__dict__
    try:
        exec(compile(code, "fictional.py", "exec"), namespace)  # noqa: S102
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_the_place_is_the_innermost_line_of_ours() -> None:
    error = raised("import json\n\njson.loads('{')")
    assert exception_place(error) == "dbt_graft.collectors.fictional:3"


def test_code_of_others_has_no_place() -> None:
    assert exception_place(raised("int('x')", "somebody.elses")) == ""
    assert exception_place(raised("int('x')", "dbt_graft_airflow.sensor")) == ""
    assert exception_place(ValueError()) == ""


def test_a_summary_has_class_and_place_but_not_the_message() -> None:
    summary = exception_summary(raised(f"int('{SECRET}')"))
    assert summary == "ValueError at dbt_graft.collectors.fictional:1"
    assert exception_summary(ValueError(SECRET)) == "ValueError"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (GraftError("is no YAML", place="a.yml"), "a.yml: is no YAML"),
        (raised(f"int('{SECRET}')"), "ValueError at dbt_graft.collectors.fictional:1"),
    ],
)
def test_a_reason_is_logged_with_its_traceback(
    error: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert exception_reason(error, logging.getLogger("dbt_graft.fictional")) == words
    [record] = caplog.records
    assert record.exc_info
    assert record.exc_info[1] is error
    assert SECRET not in record.getMessage()


def test_a_traceback_has_causes_first_and_no_values() -> None:
    code = f"""
try:
  int("{SECRET}")
except ValueError as error:
  raise KeyError("{SECRET}") from error
"""
    text = exception_traceback(raised(code))
    assert SECRET not in text
    assert re.findall(r"^(\w+Error|which led to)$", text, re.M) == [
        "ValueError",
        "which led to",
        "KeyError",
    ]
    assert 'File "fictional.py", line 3' in text


def test_a_traceback_keeps_messages_about_code_and_from_the_system() -> None:
    assert "AttributeError: 'str' object has no attribute 'x'" in exception_traceback(
        raised("''.x")
    )
    assert "FileNotFoundError: No such file" in exception_traceback(raised("open('/no/such')"))
    assert exception_traceback(GraftError("is no YAML", place="a.yml")).endswith(
        "dbt_graft.lineage.errors.GraftError: a.yml: is no YAML\n"
    )


def test_a_circle_of_causes_ends() -> None:
    value, other = ValueError(), KeyError()
    value.__cause__, other.__cause__ = other, value
    assert exception_traceback(value).count("Traceback") == 2
