"""Tags and `meta` of a dbt project name what is sensitive."""

from __future__ import annotations

from typing import Any

from dbt_graft.injector.sensitivity import column_labels, labels
from tests.cases import for_each


@for_each(
    "node, expected",
    [
        ({}, []),
        ({"tags": ["nightly"], "meta": {"owner": "pii team"}}, []),
        ({"tags": ["PII"]}, ["PII"]),
        ({"tags": ["personal-data"]}, ["personal data"]),
        ({"tags": ["internal", "public"]}, ["internal", "public"]),
        ({"tags": ["pii:email", "sensitivity:secret", "team:pii"]}, ["pii: email", "secret"]),
        ({"meta": {"contains_pii": True}}, ["PII"]),
        ({"meta": {"contains_pii": "no"}}, []),
        ({"meta": {"pii": "yes"}}, ["PII"]),
        ({"source_meta": {"gdpr": 1}}, ["GDPR"]),
        ({"config": {"meta": {"sensitive": True}}}, ["sensitive"]),
        ({"config": {"tags": ["secret"]}}, ["secret"]),
        ({"meta": {"classification": "internal"}}, ["internal"]),
        ({"meta": {"classification": "Strictly internal"}}, ["Strictly internal"]),
        ({"meta": {"classification": "none", "sensitivity": None}}, []),
        ({"meta": {"classification": "confidential"}, "tags": ["pii"]}, ["confidential", "PII"]),
        ({"meta": {"sensitivity": "x" * 99}}, ["x" * 40]),
        ({"meta": {"sensitivity": ["a", "b"]}, "config": None, "tags": None}, ["a", "b"]),
        # Labels that nobody can read are labels.
        ({"meta": {"pii": "email"}}, ["pii: email"]),
        ({"meta": {"pii_type": "email", "data-classification": "C3"}}, ["C3", "pii_type: email"]),
        ({"meta": {"privacy": {"classification": "secret"}}}, ["secret"]),
        ({"policy_tags": ["projects/p/taxonomies/1"]}, ["policy_tags: projects/p/taxonomies/1"]),
        ({"tags": ["pii_name", "gdpr_art9", "personal_finance"]}, ["pii_name", "gdpr_art9"]),
        (
            {"tags": ["gdpr:personal", "gdpr=special_category"]},
            ["gdpr: personal", "gdpr: special_category"],
        ),
        (
            {"databricks_tags": {"pii": "true", "sensitive": "true", "cost_center": "7"}},
            ["PII", "sensitive"],
        ),
        ({"databricks_tags": {"pii": "false", "key_only": ""}}, []),
        ({"config": {"databricks_tags": {"classification": "confidential"}}}, ["confidential"]),
        ({"config": {"meta": {"masking_policy": "mask_mail"}}}, ["masking_policy: mask_mail"]),
        ({"column_mask": {"function": "mask_mail"}}, ["column_mask.function: mask_mail"]),
        ({"meta": {"governance": {"pii": True, "owner": "x"}}}, ["PII"]),
        ({"meta": {"privacy": {"level": 3, "reviewed": False}}}, ["privacy.level: 3"]),
        ({"meta": {"privacy": {"category": "personal"}}}, ["privacy.category: personal"]),
        ({"meta": {"classification": {"level": "pii"}}}, ["classification.level: pii"]),
        (
            {"meta": {"classification": [{"sensitivity": "secret"}, "internal"]}},
            ["secret", "internal"],
        ),
        ({"meta": {"containsPII": True, "piiType": "email"}}, ["PII", "pii_type: email"]),
        ({"meta": {"dataClassification": "C3"}, "tags": ["isPII"]}, ["C3", "PII"]),
        # Written by us beside the label itself.
        ({"meta": {"classification": "pii", "classification_from": "a.b"}}, ["PII"]),
        ({"meta": None, "config": {"meta": None}}, []),
    ],
)
def test_labels_are_what_tags_and_meta_say(node: dict[str, Any], expected: list[str]) -> None:
    assert list(labels([node])) == expected


def test_each_of_several_sources_of_a_table_labels_it() -> None:
    first = {"meta": {"classification": "internal"}, "columns": {"mail": {"meta": {"owner": "x"}}}}
    second = {
        "meta": {"classification": "secret"},
        "columns": {"mail": {"meta": {"pii": True}}, "id": {"tags": ["internal"]}},
    }
    assert labels([first, second]) == ("internal", "secret")
    assert column_labels([first, second]) == {"mail": ("PII",), "id": ("internal",)}


def test_columns_have_labels_of_their_own() -> None:
    node = {
        "columns": {
            "email": {"meta": {"pii": True}},
            "name": {"tags": ["confidential"]},
            "phone": {"config": {"meta": {"classification": "restricted"}}},
            "id": {"name": "id"},
            "odd": None,
        }
    }
    assert column_labels([node]) == {
        "email": ("PII",),
        "name": ("confidential",),
        "phone": ("restricted",),
    }
