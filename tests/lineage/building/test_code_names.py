"""Names of tables and paths in code are the datasets that logs have."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.building.code_names import DatasetFinder
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.dataset import parse_dataset_id

_DATASETS = """\
s3://lake/raw/orders.csv
s3://lake/landing
abfss://c@acc.dfs.core.windows.net/raw/t
dbfs/mnt/t
file/data/orders.csv
file/data/mart
file/a/x/sales
file/x/sales
mssql://sql01:1433/Shop.dbo.orders
mssql://sql01:1433/Shop.crm.orders
mssql://sql01:1433/Shop.dbo.#t~2
"""


@pytest.mark.parametrize(
    ("name", "datasets"),
    [
        ("s3://lake/raw/orders.csv", ["s3://lake/raw/orders.csv"]),
        ("s3a://lake/raw/orders.csv", ["s3://lake/raw/orders.csv"]),
        ("s3://other/raw/orders.csv", []),
        ("s3://…/raw/orders.csv", ["s3://lake/raw/orders.csv"]),
        ("…/raw/orders.csv", ["s3://lake/raw/orders.csv"]),
        ("…/orders.csv", ["file/data/orders.csv", "s3://lake/raw/orders.csv"]),
        ("…/orders.csv.gz", []),
        ("s3://lake/landing/…/orders.csv", ["s3://lake/landing"]),  # a folder named by a date
        ("s3://lake/landing/2026/11/20/orders.csv", ["s3://lake/landing"]),
        ("abfss://c@acc.dfs.core.windows.net/raw/t", ["abfss://c@acc.dfs.core.windows.net/raw/t"]),
        ("/dbfs/mnt/t", ["dbfs/mnt/t"]),
        ("dbfs:/mnt/t", ["dbfs/mnt/t"]),
        ("/data/orders.csv", ["file/data/orders.csv"]),
        ("./orders.csv", ["file/data/orders.csv", "s3://lake/raw/orders.csv"]),
        ("../data/orders.csv", ["file/data/orders.csv"]),
        ("…/mart/day=…", ["file/data/mart"]),
        ("/data/mart/day=2026-11-20/part-0.parquet", ["file/data/mart"]),
        ("/data/mart/*.parquet", ["file/data/mart"]),
        ("/x/sales", ["file/x/sales"]),
        ("./x/sales", ["file/a/x/sales", "file/x/sales"]),
        ("orders", ["mssql://sql01:1433/Shop.dbo.orders"]),
        ("crm.orders", ["mssql://sql01:1433/Shop.crm.orders"]),
        ("#t", ["mssql://sql01:1433/Shop.dbo.#t~2"]),
        ("", []),
    ],
)
def test_a_name_in_code_is_the_dataset_of_its_end(name: str, datasets: list[str]) -> None:
    finder = DatasetFinder(map(parse_dataset_id, _DATASETS.splitlines()))
    table = (name.replace("…", UNKNOWN_PART),) if "/" in name else tuple(name.split("."))

    assert sorted(map(str, finder.find(table))) == datasets
