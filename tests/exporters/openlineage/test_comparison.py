"""An event against an expected one: only what that names, each difference with its path."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.exporters.openlineage.comparison import differences
from tests.cases import for_each

EVENT: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-11-22T02:00:00+00:00",
    "run": {"runId": "01a19467-e800-763a-bbc9-7f14e359d112", "facets": {"try": {"number": 1}}},
    "inputs": [{"name": "raw/orders"}, {"name": "raw/items"}],
    "outputs": [],
    "job": {"name": "load", "dynamic": True, "url": "http://user@host:80/a/b"},
}


@for_each(
    "expected",
    [
        {},
        {"eventType": "COMPLETE", "run": {"facets": {"try": {"number": 1}}}},
        {"job": {"dynamic": True}, "inputs": [{}, {"name": "raw/items"}]},
        {"job": {"facets": None}, "producer": None},
        {"job": {"facets": {"$optional": "not in Airflow 2", "a": 1}}},
        {"outputs": {"$optional": "none without a connection", "$value": [{"name": "x"}]}},
        {"inputs": {"$optional": "as above", "$value": [{"name": "raw/orders"}, {}]}},
        {"run": {"runId": "{{ is_uuid(result) }}"}, "eventTime": "{{ is_datetime(result) }}"},
        {"run": "{{ any(result) }}", "inputs": "{{ result | length == 2 }}"},
        {"run": {"facets": {"try": {"number": "{{ result is number }}"}}}},
        {"job": {"name": "{{ env_var('GRAFT_TEST_JOB', 'load') }}"}},
        {"job": {"name": "{{ regex_match(result, 'lo') }}"}},
        {"job": {"name": "{{ not_match(result, 'stage') }}"}},
        {"job": {"name": "{{ result.endswith('ad') }}"}},
        {"job": {"url": "{{ (result | url_path) == '/a/b' }}"}},
        {"job": {"url": "{{ (result | url_scheme_authority) == 'http://user@host:80' }}"}},
    ],
)
def test_what_is_as_expected_makes_no_difference(expected: Any) -> None:
    assert list(differences(expected, EVENT)) == []


@for_each(
    "expected, path, problem",
    [
        ({"eventType": "FAIL"}, "eventType", 'expected "FAIL", found "COMPLETE"'),
        ({"job": {"dynamic": 1}}, "job.dynamic", "expected 1, found true"),
        ({"run": {"facets": {"try": {"number": True}}}}, "run.facets.try.number", "found 1"),
        ({"run": {"facets": {"sql": {"query": "x"}}}}, "run.facets.sql", "is missing"),
        ({"run": {"facets": ["x"]}}, "run.facets", 'found {"try":{"number":1}}'),
        ({"job": {"name": {"x": 1}}}, "job.name", 'expected {"x":1}, found "load"'),
        ({"inputs": [{}]}, "inputs", "expected 1 items, found 2"),
        ({"inputs": [{}, {"name": "x"}]}, "inputs[1].name", 'expected "x", found "raw/items"'),
        ({"job": {"name": None}}, "job.name", 'expected no such field, found "load"'),
        ({"job": {"name": "{{ is_uuid(result) }}"}}, "job.name", 'found "load"'),
        ({"inputs": "{{ is_datetime(result) }}"}, "inputs", "is_datetime"),
        ({"job": {"name": "{{ not_match(result, 'oa') }}"}}, "job.name", "must not contain oa"),
        ({"job": {"name": "{{ env_var('GRAFT_NO_SUCH') }}"}}, "job.name", "GRAFT_NO_SUCH is not"),
        ({"job": {"name": "{{ oops"}}, "job.name", "the template is not valid"),
        ({"job": {"name": "{{ result.x.y }}"}}, "job.name", "the template is not valid"),
        ({"job": {"name": "{{ 1 / 0 }}"}}, "job.name", "ZeroDivisionError"),
        (
            {"run": {"facets": {"try": {"$optional": "why", "number": 2}}}},
            "run.facets.try.number",
            "expected 2, found 1",
        ),
    ],
)
def test_a_difference_has_its_path(expected: Any, path: str, problem: str) -> None:
    [difference] = differences(expected, EVENT)
    assert difference.path == path
    assert problem in difference.problem


@pytest.mark.parametrize(
    "template",
    [
        "{{ result.__class__.__name__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ is_uuid.__globals__['os'].environ }}",
        "{% for n in range(10**9) %}{% endfor %}{{ true }}",
    ],
)
def test_a_template_gets_out_of_its_sandbox_nowhere(template: str) -> None:
    [difference] = differences({"job": {"name": template}}, EVENT)
    assert "the template" in difference.problem


def test_a_long_value_is_cut() -> None:
    [difference] = differences({"job": {"name": "x" * 500}}, EVENT)
    assert len(difference.problem) < 200
    assert difference.expected == "x" * 500


def test_all_differences_are_found() -> None:
    expected = {"eventType": "FAIL", "job": {"name": "x"}, "outputs": [1]}
    assert [difference.path for difference in differences(expected, EVENT)] == [
        "eventType",
        "job.name",
        "outputs",
    ]
