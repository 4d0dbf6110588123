"""Tags and `meta` of a dbt project name what is sensitive."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.injector.sensitivity import column_sensitivities, sensitivity


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({}, ""),
        ({"tags": ["nightly"], "meta": {"owner": "pii team"}}, ""),
        ({"tags": ["PII"]}, "PII"),
        ({"tags": ["personal-data"]}, "personal data"),
        ({"meta": {"contains_pii": True}}, "PII"),
        ({"meta": {"contains_pii": "no"}}, ""),
        ({"meta": {"pii": "yes"}}, "PII"),
        ({"source_meta": {"gdpr": 1}}, "GDPR"),
        ({"config": {"meta": {"sensitive": True}}}, "sensitive"),
        ({"meta": {"classification": "Strictly internal"}}, "Strictly internal"),
        ({"meta": {"classification": "confidential"}, "tags": ["pii"]}, "confidential"),
        ({"meta": {"classification": "public"}, "tags": ["pii"]}, "PII"),
        ({"meta": {"sensitivity": "x" * 99}}, "x" * 40),
        ({"meta": {"sensitivity": ["a"]}, "config": None, "tags": None}, ""),
        ({"meta": None, "config": {"meta": None}}, ""),
    ],
)
def test_a_table_is_as_sensitive_as_tags_and_meta_say(node: dict[str, Any], expected: str) -> None:
    assert sensitivity([node]) == expected


def test_columns_have_a_sensitivity_of_their_own() -> None:
    node = {
        "columns": {
            "email": {"meta": {"pii": True}},
            "name": {"tags": ["confidential"]},
            "phone": {"config": {"meta": {"classification": "restricted"}}},
            "id": {"name": "id"},
            "odd": None,
        }
    }
    assert column_sensitivities([node]) == {
        "email": "PII",
        "name": "confidential",
        "phone": "restricted",
    }
