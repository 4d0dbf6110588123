"""The hosts of one file system of Hadoop are one namespace."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.sources.datasets import DatasetResolver, namenodes
from tests.cases import for_each

ADDRESS = "dfs.namenode.rpc-address"
EMR = {"fs.defaultFS": "hdfs://ip-10-0-2-184.ec2.internal:8020"}
SINGLE = {"fs.defaultFS": "hdfs://shop-m", ADDRESS: "shop-m:8020"}
BACKED_UP = {
    "fs.defaultFS": "hdfs://shop",
    f"{ADDRESS}.shop.nn1": "a:8020",
    f"{ADDRESS}.shop.nn2": "b:8020",
    f"{ADDRESS}.other.nn1": "c:9000",
}


@for_each(
    "settings, path, dataset",
    [
        (EMR, "hdfs:/x", "hdfs://ip-10-0-2-184.ec2.internal:8020/x"),
        (EMR, "hdfs:///x", "hdfs://ip-10-0-2-184.ec2.internal:8020/x"),
        (EMR, "hdfs://ip-10-0-2-184.ec2.internal/x", "hdfs://ip-10-0-2-184.ec2.internal:8020/x"),
        (SINGLE, "hdfs://shop-m:8020/x", "hdfs://shop-m/x"),
        (BACKED_UP, "hdfs://a:8020/x", "hdfs://shop/x"),
        (BACKED_UP, "hdfs://b/x", "hdfs://shop/x"),
        (BACKED_UP, "hdfs://c:9000/x", "hdfs://other/x"),
        (BACKED_UP, "hdfs://c/x", "hdfs://c/x"),
        (BACKED_UP, "hdfs://shop/x", "hdfs://shop/x"),
        (BACKED_UP, "s3a://a/x", "s3://a/x"),
        ({"fs.defaultFS": "file:///"}, "hdfs:/x", "hdfs/x"),
        ({"fs.defaultFS": "dbfs:///", ADDRESS: "a:8020"}, "hdfs://a:8020/x", "hdfs://a:8020/x"),
        ({}, "hdfs://a:8020/x", "hdfs://a:8020/x"),
    ],
)
def test_a_path_has_the_name_of_its_file_system_not_of_a_host(
    settings: dict[str, str], path: str, dataset: str
) -> None:
    resolver = DatasetResolver("spark", namenodes=namenodes(settings))
    assert [str(found) for found, _ in resolver.resolve((), [path])] == [dataset]


@pytest.mark.parametrize(
    ("paths", "owners"),
    [
        (["/etled/2000"], ["file/etled/2000"]),
        (["/etled/2000", "/etled/2001"], ["file/etled", "file/etled"]),
        (["/etled/2000", "/etled/2000/11"], ["file/etled", "file/etled"]),
        (["/etled/2000/a.csv", "/etled/2001"], ["file/etled", "file/etled"]),
        (["/etled/2000", "/other/2001"], ["file/etled/2000", "file/other/2001"]),
    ],
)
def test_a_year_is_a_part_where_another_statement_shows_it(
    paths: list[str], owners: list[str]
) -> None:
    resolver = DatasetResolver("spark")
    found = [resolver.resolve((), [path])[0][0] for path in paths]
    assert [str(resolver.owner(dataset)) for dataset in found] == owners
