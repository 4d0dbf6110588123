"""Kinds of faults, by the names of tests in dbt and its packages."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.quality.faults import kind_of_test


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("not_null", "completeness"),
        ("unique", "uniqueness"),
        ("relationships", "referential"),
        ("accepted_values", "validity"),
        ("dbt_utils_unique_combination_of_columns", "uniqueness"),
        ("dbt_utils_expression_is_true", "validity"),
        ("dbt_utils_recency", "freshness"),
        ("dbt_utils_at_least_one", "completeness"),
        ("dbt_utils_accepted_range", "validity"),
        ("dbt_expectations_expect_column_values_to_be_between", "validity"),
        ("dbt_expectations_expect_column_values_to_not_be_null", "completeness"),
        ("dbt_expectations_expect_table_row_count_to_equal", "completeness"),
        ("dbt_expectations_expect_column_values_to_be_unique", "uniqueness"),
        ("elementary_volume_anomalies", "drift"),
        ("elementary_freshness_anomalies", "drift"),
        ("NOT_NULL", "completeness"),
        ("assert_totals_are_positive", "other"),
        ("", "other"),
    ],
)
def test_the_kind_of_a_test(name: str, kind: str) -> None:
    assert kind_of_test(name).value == kind
