"""Paths in logs that are relations of dbt, because the manifest says where they lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt_graft.injector.graft import graft
from dbt_graft.injector.locations import Places, location
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.relations import relations, short_names
from dbt_graft.lineage.dataset import parse_dataset_id
from tests.cases import for_each

PLACES = Places(Path("/shop"), "s3://lake/external")


@for_each(
    "node, path",
    [
        # dbt-duckdb
        ({"relation_name": "'data/orders/*.parquet'"}, "file/shop/data/orders"),
        ({"relation_name": "'data/orders.parquet'"}, "file/shop/data/orders.parquet"),
        ({"relation_name": "read_parquet('s3://lake/orders/*/*.parquet', union_by_name=true)"},
         "s3://lake/orders"),
        ({"relation_name": "read_csv(['/in/a/1.csv', '/in/a/2.csv'], delim=',')"}, "file/in/a"),
        ({"relation_name": "read_csv(['/in/a/x.csv', '/in/b/x.csv'])"}, None),
        ({"relation_name": "delta_scan('s3a://lake/orders')"}, "s3://lake/orders"),
        ({"relation_name": "iceberg_scan('gs://lake/it''s')"}, "gs://lake/it's"),
        ({"name": "orders", "source_name": "raw", "schema": "in",
          "meta": {"external_location": "s3://{source_name}/{schema}/{name}.parquet"}},
         "s3://raw/in/orders.parquet"),
        ({"config": {"external_location": "read_json('/in/x/*.json')"}}, "file/in/x"),
        ({"config": {"meta": {"external_location": "/in/x/dt=*/*.parquet"}}}, "file/in/x"),
        ({"config": {"materialized": "external", "location": "out/rev.parquet"}},
         "file/shop/out/rev.parquet"),
        ({"alias": "rev", "config": {"materialized": "external", "format": "csv"}},
         "s3://lake/external/rev.csv"),
        ({"alias": "rev", "config": {"materialized": "external", "options": {"partition_by": "d"}}},
         "s3://lake/external/rev"),
        # dbt-spark, dbt-databricks
        ({"alias": "rev", "config": {"location_root": "abfss://c@acc.dfs.core.windows.net/x/"}},
         "abfss://c@acc.dfs.core.windows.net/x/rev"),
        ({"relation_name": "delta.`/lake/orders`"}, "file/lake/orders"),
        ({"relation_name": "parquet.`s3a://lake/orders/dt=*`"}, "s3://lake/orders"),
        # dbt-athena, dbt-glue, dbt-trino
        ({"config": {"external_location": "s3://lake/rev/"}}, "s3://lake/rev"),
        ({"config": {"custom_location": "s3://lake/rev"}}, "s3://lake/rev"),
        ({"config": {"properties": {"location": "'s3a://lake/rev'"}}}, "s3://lake/rev"),
        # dbt_external_tables
        ({"external": {"location": "s3://lake/orders/"}}, "s3://lake/orders"),
        ({"external": {"location": "gs://x", "options": {"uris": ["gs://lake/o/*.csv"]}}},
         "gs://lake/o"),
        ({"external": {"options": {"uris": ["gs://lake/o/*.csv"]}}}, "gs://lake/o"),
        ({"external": {"location": "@raw.stage/orders"}}, None),
        # No path at all, or none that is one dataset.
        ({"relation_name": '"shop"."raw"."orders"'}, None),
        ({"relation_name": "[shop].[raw].[orders]"}, None),
        ({"relation_name": "`shop`.`raw`.`o/p`"}, None),
        ({"relation_name": "'/*.parquet'"}, None),
        ({"config": {"location": "EU"}, "relation_name": "generate_series(1, 3)"}, None),
        ({"config": {"location": None, "external_location": 3}, "external": "x"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_the_manifest_says_where_the_files_of_a_relation_lie(
    node: dict[str, Any], path: str | None
) -> None:
    dataset = location(node, PLACES)
    assert (dataset and str(dataset)) == path


def test_a_relative_path_without_a_folder_to_start_at_is_none() -> None:
    assert location({"relation_name": "'data/x.parquet'"}, Places()) is None


def test_a_path_that_is_a_relation_needs_no_rule(empty_project: Any) -> None:
    empty_project.source("landing", "orders", relation_name="'/in/orders/*.parquet'")
    for twin in ("a", "b"):
        empty_project.source("landing", twin, relation_name="'/in/twins/*.parquet'")
    names = short_names(empty_project.manifest, relations(empty_project.manifest, "duckdb"))
    twins = parse_dataset_id("file/in/twins")

    assert str(names(parse_dataset_id("file/in/orders"))) == "duckdb/raw.orders"
    assert names(twins) == twins
    assert [str(one) for one in names.ambiguous[twins]] == ["duckdb/raw.a", "duckdb/raw.b"]
    assert str(names(parse_dataset_id("file/in/other"))) == "file/in/other"


def test_a_task_that_writes_the_files_of_a_source_promotes_it(
    empty_project: Any, empty_log: Any
) -> None:
    orders = empty_project.source("landing", "orders", relation_name="'/in/orders/*.parquet'")
    empty_log.statement("land", ["kafka/orders"], ["file/in/orders"])
    names = short_names(empty_project.manifest, relations(empty_project.manifest, "spark"))

    lineage = empty_log.lineage(names)
    grafted = graft(empty_project.artifacts(), lineage, GraftOptions("spark"))

    (promoted,) = grafted.report.promoted
    assert (promoted.sources, promoted.tasks) == ((orders,), ("land",))
    assert not grafted.report.added
