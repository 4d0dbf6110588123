"""Paths of a plan fold into the datasets they are part of, and are named as OpenLineage does."""

from __future__ import annotations

from dbt_graft.lineage.paths import dataset_folders, path_dataset
from tests.cases import for_each


@for_each(
    "path, dataset",
    [
        ("file:/landing/orders", "file/landing/orders"),
        ("file:///landing/orders", "file/landing/orders"),
        ("/landing/orders", "file/landing/orders"),
        ("file://localhost/landing/orders", "file/landing/orders"),
        ("file://fs01/share/orders", "file://fs01/share/orders"),
        ("s3a://bucket/landing/orders", "s3://bucket/landing/orders"),
        ("s3n://bucket/x", "s3://bucket/x"),
        ("gs://bucket/x", "gs://bucket/x"),
        ("hdfs://nn:8020/data/x", "hdfs://nn:8020/data/x"),
        ("abfss://box@acc.dfs.core.windows.net/x", "abfss://box@acc.dfs.core.windows.net/x"),
        ("dbfs:/mnt/x", "dbfs/mnt/x"),
        ("s3a://KEY:SECRET@bucket/x", "s3://bucket/x"),
        ("s3a://KEY@bucket/x", "s3://bucket/x"),
        ("hdfs://jane@nn:8020/data/x", "hdfs://nn:8020/data/x"),
        ("hdfs://jane:pass@nn:8020/data/x", "hdfs://nn:8020/data/x"),
        ("wasbs://box:key@acc.blob.core.windows.net/x", "abfss://acc.dfs.core.windows.net/x"),
        ("wasbs://b@acc.blob.core.windows.net/x", "abfss://b@acc.dfs.core.windows.net/x"),
        ("abfs://b@acc.dfs.core.windows.net/x", "abfss://b@acc.dfs.core.windows.net/x"),
        ("dbfs:/mnt/x", "dbfs/mnt/x"),
        ("/dbfs/mnt/x", "dbfs/mnt/x"),
        ("relative/folder", "file/relative/folder"),
    ],
)
def test_a_path_is_named_as_openlineage_names_it(path: str, dataset: str) -> None:
    assert str(path_dataset(path)) == dataset


@for_each(
    "paths, folders",
    [
        (["file:/t/dt=2026-11-21"], ["file:/t"]),
        (["file:/t/dt=2026-11-21/hour=5", "file:/t/dt=2026-11-22/hour=1"], ["file:/t"]),
        (["file:/t/part-00000-abc.snappy.parquet"], ["file:/t"]),
        (["file:/t/_delta_log/000.json"], ["file:/t"]),
        (["file:/t/_temporary/0/x"], ["file:/t"]),
        (["file:/t/.hive-staging_hive_2026/-ext-10000"], ["file:/t"]),
        (["file:/t/.spark-staging-12/dt=1"], ["file:/t"]),
        (["file:/t/_checkpoints/q/offsets/1"], ["file:/t"]),
        (["file:/t/checkpoint/commits/0"], ["file:/t"]),
        (["file:/t/checkpoint/orders"], ["file:/t/checkpoint/orders"]),
        (["file:/t/.hoodie/1.commit"], ["file:/t"]),
        (["s3a://b/in/*.csv"], ["s3a://b/in"]),
        (["s3a://b/in/2026-*/{a,b}.csv"], ["s3a://b/in"]),
        (["s3a://b/in/run-20261121T050000"], ["s3a://b/in"]),
        (["s3a://b/in/run_2026-11-21/a.csv", "s3a://b/in/run_2026-11-22/a.csv"], ["s3a://b/in"]),
        (["file:/t/"], ["file:/t"]),
        (["s3a://b/exports/2026/11/21"], ["s3a://b/exports"]),
        (["s3a://b/exports/2026"], ["s3a://b/exports/2026"]),
        (["s3a://b/exports/2026/11"], ["s3a://b/exports"]),
        (["s3a://b/exports/2025", "s3a://b/exports/2026"], ["s3a://b/exports"]),
        (["s3a://b/x/2026/a.csv", "s3a://b/x/2025/b.csv"], ["s3a://b/x"]),
        (["s3a://b/2025", "s3a://b/2026"], ["s3a://b/2025", "s3a://b/2026"]),
        (["file:/tpcds/sf/2000/orders"], ["file:/tpcds/sf/2000/orders"]),
        (["file:/tpcds/etled/2000"], ["file:/tpcds/etled/2000"]),
        (["file:/in/why?/orders"], ["file:/in/why?/orders"]),
        (["wasbs://b@a.net/in/x?sv=2026&sig=SECRET%2Fx/y"], ["wasbs://b@a.net/in/x"]),
        (["s3a://b/exports/2026-11-21"], ["s3a://b/exports"]),
        (["s3a://b/exports/20261121"], ["s3a://b/exports"]),
        (["s3a://b/orders_2026"], ["s3a://b/orders_2026"]),
        (["file:/landing/a.csv", "file:/landing/b.csv"], ["file:/landing"]),
        (["file:/landing/2026/11/21/a.csv", "file:/landing/2026/11/22/b.csv"], ["file:/landing"]),
        (["file:/landing/customers.json"], ["file:/landing/customers.json"]),
        (["file:/landing/orders/orders_2026-11-21.csv"], ["file:/landing/orders"]),
        (["file:/landing/orders/orders-7.csv"], ["file:/landing/orders"]),
        (["file:/landing/orders/orders.csv"], ["file:/landing/orders/orders.csv"]),
        (["file:/landing/orders/orders_old.csv"], ["file:/landing/orders/orders_old.csv"]),
        (["file:/landing/orders/2026-11-21.csv.gz"], ["file:/landing/orders"]),
        (["file:/a/x.csv", "file:/b/y.csv"], ["file:/a/x.csv", "file:/b/y.csv"]),
        (["file:/a", "file:/b"], ["file:/a", "file:/b"]),
        (["file:/2026/11/21"], ["file:/2026/11/21"]),
        ([], []),
    ],
)
def test_pieces_fold_into_the_dataset_they_belong_to(paths: list[str], folders: list[str]) -> None:
    assert dataset_folders(paths) == folders
