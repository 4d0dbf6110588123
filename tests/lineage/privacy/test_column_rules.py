"""Patterns of column names."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.privacy.column_rules import ColumnRules

PATTERNS = (
    "raw.*.IBAN",
    "*.mail",
    "spark/db.*",
    "raw.people.*_name",
    "*.address.street",
    "?.a[bc]",
    "x[.]y",
)


@pytest.mark.parametrize(
    ("dataset", "column", "expected"),
    [
        ("raw.bank", "iban", 0),
        ("RAW.BANK", "Iban", 0),
        ("db.bank", "iban", 2),
        ("raw.bank", "mail", 1),
        # The first of several counts.
        ("db.people", "mail", 1),
        ("raw.people", "last_name", 3),
        ("raw.people", "name", None),
        ("raw.people", "address.street", 4),
        ("raw.people", "street", None),
        ("t", "ab", 5),
        ("x", "y", 6),
        ("mail", "x", None),
    ],
)
def test_the_first_pattern_that_names_a_column(
    dataset: str, column: str, expected: int | None
) -> None:
    assert ColumnRules(PATTERNS).first(DatasetId("spark", dataset), column) == expected


def test_without_patterns_no_column_is_named() -> None:
    assert ColumnRules(()).first(DatasetId("spark", "raw.people"), "mail") is None
