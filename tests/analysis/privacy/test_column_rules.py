"""Patterns of column names."""

from __future__ import annotations

from dbt_graft.analysis.privacy.column_rules import ColumnRules
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each

PATTERNS = (
    "raw.*.IBAN",
    "*.mail",
    "spark/db.*",
    "raw.people.*_name",
    "*.address.street",
    "?.a[bc]",
    "x[.]y",
)


@for_each(
    "dataset, column, expected",
    [
        ("raw.bank", "iban", {0}),
        ("RAW.BANK", "Iban", {0}),
        ("db.bank", "iban", {2}),
        ("raw.bank", "mail", {1}),
        ("db.people", "mail", {1, 2}),
        ("raw.people", "last_name", {3}),
        ("raw.people", "name", set()),
        ("raw.people", "address.street", {4}),
        ("raw.people", "street", set()),
        ("t", "ab", {5}),
        ("x", "y", {6}),
        ("mail", "x", set()),
    ],
)
def test_the_patterns_that_name_a_column(dataset: str, column: str, expected: set[int]) -> None:
    assert ColumnRules(PATTERNS).matching(DatasetId("spark", dataset), column) == expected


def test_without_patterns_no_column_is_named() -> None:
    assert ColumnRules(()).matching(DatasetId("spark", "raw.people"), "mail") == set()
