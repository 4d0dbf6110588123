"""Labels of platforms."""

from __future__ import annotations

from dbt_graft.catalog.formatting import engine, platform
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each


@for_each(
    "namespace, label",
    [
        ("duckdb://shop.duckdb", "DuckDB"),
        ("duckdb", "DuckDB"),
        ("spark", "Spark"),
        ("spark://emr:10001", "Spark"),
        ("arn:aws:glue:eu-west-1:123", "AWS Glue"),
        ("exotic://host:1", "exotic"),
    ],
)
def test_a_dataset_is_labelled_by_its_platform(namespace: str, label: str) -> None:
    assert platform(DatasetId(namespace, "raw.orders")) == label


@for_each(
    "name, label",
    [
        ("airflow", "Airflow"),
        ("dbt", "dbt"),
        ("sqlserver", "SQL Server"),
        ("TRINO", "Trino"),
        ("our-loader", "our-loader"),
    ],
)
def test_an_engine_has_the_name_of_its_product(name: str, label: str) -> None:
    assert engine(name) == label
