"""Datasets by the names that people write."""

from __future__ import annotations

import pytest

from dbt_graft.graft.project.named_datasets import close_to
from dbt_graft.lineage.dataset import DatasetId

DATASETS = [
    DatasetId("spark", "raw.orders"),
    DatasetId("mssql://crm:1433", "Shop.dbo.Customers"),
]


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("raw.order", ["spark/raw.orders"]),
        ("RAW.ORDRS", ["spark/raw.orders"]),
        ("CUSTOMER", ["mssql://crm:1433/Shop.dbo.Customers"]),
        ("crm", ["mssql://crm:1433/Shop.dbo.Customers"]),
        ("invoices", []),
    ],
)
def test_names_that_are_nearly_so_in_any_case_are_suggested(name: str, close: list[str]) -> None:
    assert close_to(name, DATASETS) == close
