"""Files that SQL Server reads, by the names that other engines give them."""

from __future__ import annotations

from dbt_graft.collectors.sqlserver.names import file_dataset
from tests.cases import for_each

SERVER = "mssql://sql01:1433"


@for_each(
    "path, dataset",
    [
        (
            "https://acc.blob.core.windows.net/lake/in/orders.csv",
            "abfss://lake@acc.dfs.core.windows.net/in/orders.csv",
        ),
        (
            "https://Acc.dfs.core.windows.net/lake/in/y=2026/*.parquet",
            "abfss://lake@acc.dfs.core.windows.net/in",
        ),
        (
            "abs://acc.blob.core.windows.net/lake/in/*.parquet",
            "abfss://lake@acc.dfs.core.windows.net/in",
        ),
        (
            "abs://lake@acc.blob.core.windows.net/in/*.parquet",
            "abfss://lake@acc.dfs.core.windows.net/in",
        ),
        ("s3://bucket/in/orders.csv", "s3://bucket/in/orders.csv"),
        ("https://example.com/in/orders.csv", "https://example.com/in/orders.csv"),
        ("\\\\fs01\\share\\orders.csv", "file://fs01/share/orders.csv"),
        ("C:\\in\\orders.csv", "file://sql01/C:/in/orders.csv"),
        ("/var/in/orders_2026-11-21.csv", "file://sql01/var/in/orders_2026-11-21.csv"),
        ("/var/in/2026-11-21/orders.csv", "file://sql01/var/in"),
    ],
)
def test_a_file_is_the_dataset_of_its_path(path: str, dataset: str) -> None:
    assert str(file_dataset(path, SERVER)) == dataset


def test_a_named_instance_is_a_server_too() -> None:
    assert str(file_dataset("D:\\x.csv", "mssql://sql01/INST")) == "file://sql01/D:/x.csv"
