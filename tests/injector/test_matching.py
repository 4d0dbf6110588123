"""Names in logs under the relations of dbt that they mean."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.injector.matching import short_names
from dbt_graft.injector.platform import platform
from dbt_graft.injector.relations import relations
from dbt_graft.lineage.dataset import parse_dataset_id


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("spark/raw.orders", "spark/raw.orders"),
        ("spark/RAW.Orders", "spark/raw.orders"),
        ("SPARK/analytics.ORDERS", "spark/analytics.orders"),
        ("spark/other.Table", "spark/other.Table"),
    ],
)
def test_a_relation_goes_by_the_spelling_of_dbt(project: Any, written: str, named: str) -> None:
    names = short_names(project.manifest, relations(project.manifest, "spark"))
    assert str(names(parse_dataset_id(written))) == named


@pytest.mark.parametrize(
    ("adapter", "written", "named"),
    [
        ("duckdb", "dbt/raw.orders", "shop-db/raw.orders"),
        ("duckdb", "DBT/raw.unknown", "shop-db/raw.unknown"),
        # Spark does not write into DuckDB: its table is another one.
        ("duckdb", "spark/raw.orders", "spark/raw.orders"),
        ("databricks", "spark/raw.orders", "shop-db/raw.orders"),
        ("databricks", "spark/raw.unknown", "shop-db/raw.unknown"),
    ],
)
def test_other_names_of_dbts_platform_are_its_namespace(
    project: Any, adapter: str, written: str, named: str
) -> None:
    where = platform(adapter, namespace="shop-db")
    names = short_names(project.manifest, relations(project.manifest, "shop-db"), where)
    assert str(names(parse_dataset_id(written))) == named


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("spark/RAW.orders", "shop-db/raw.orders"),
        ("spark/raw.unknown", "spark/raw.unknown"),
        ("other/raw.orders", "other/raw.orders"),
    ],
)
def test_a_rule_may_name_a_relation_in_a_former_namespace(
    project: Any, written: str, named: str
) -> None:
    where = platform("duckdb", namespace="shop-db")
    names = short_names(project.manifest, relations(project.manifest, "shop-db"), where)
    assert str(names.formerly(parse_dataset_id(written), ("spark",))) == named
