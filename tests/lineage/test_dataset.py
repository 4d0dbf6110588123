"""Dataset identity: which names are one place, and which addresses they get."""

import pickle
import subprocess
import sys

import pytest

from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.urls import dataset_path, tag_path, task_path
from tests.cases import for_each


@for_each(
    "a, b, same",
    [
        ("mssql://crm:1433/Shop.dbo.Orders", "mssql://crm:1433/shop.DBO.orders", True),
        ("mssql://CRM:1433/Shop.dbo.Orders", "mssql://crm:1433/Shop.dbo.Orders", True),
        ("spark/raw.Orders", "spark/raw.orders", True),
        ("file//landing/Orders", "file//landing/orders", False),
        ("s3://Lake/orders", "s3://lake/orders", True),
        ("s3://lake/Orders", "s3://lake/orders", False),
        ("viewfs://cluster/Orders", "viewfs://cluster/orders", False),
        ("adl://lake/Orders", "adl://lake/orders", False),
        ("spark/raw.orders", "hive://h:9083/raw.orders", False),
    ],
)
def test_names_compare_with_case_only_where_the_platform_does(a: str, b: str, same: bool) -> None:
    first, second = parse_dataset_id(a), parse_dataset_id(b)
    assert (first == second) is same
    assert (hash(first) == hash(second)) is same


def test_the_original_spelling_stays() -> None:
    assert str(DatasetId("mssql://CRM", "Shop.dbo.Orders")) == "mssql://CRM/Shop.dbo.Orders"


@pytest.mark.parametrize(
    ("text", "namespace", "name"),
    [
        ("mssql://crm:1433/Shop.dbo.Orders", "mssql://crm:1433", "Shop.dbo.Orders"),
        ("spark/raw.orders", "spark", "raw.orders"),
        ("file//landing/orders", "file", "/landing/orders"),
        ("s3://lake/a/b", "s3://lake", "a/b"),
    ],
)
def test_the_namespace_ends_at_the_first_slash(text: str, namespace: str, name: str) -> None:
    dataset = parse_dataset_id(text)
    assert (dataset.namespace, dataset.name) == (namespace, name)


@pytest.mark.parametrize(
    ("namespace", "name", "text"),
    [
        ("iceberg://prod/enforcement", "silver.case_event", "ICEBERG://prod/Enforcement/silver.Case_Event"),
        ("azurecosmos://shop.documents.azure.com/dbs/shop", "colls/orders", "azurecosmos://shop.documents.azure.com/dbs/shop/colls/orders"),
        ("team/lake", "orders", "team/lake/orders"),
        ("hdfs://nn/base", "/landing/x", "hdfs://nn/base/landing/x"),
    ],
)  # fmt: skip
def test_a_namespace_with_a_path_is_that_of_the_text(namespace: str, name: str, text: str) -> None:
    dataset = DatasetId(namespace, name)
    assert dataset == parse_dataset_id(text)
    assert dataset_path(dataset) == dataset_path(parse_dataset_id(text))


@pytest.mark.parametrize("text", ["orders", "spark/", "/orders", "mssql://crm", ""])
def test_a_name_without_both_parts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write <namespace>/<name>"):
        parse_dataset_id(text)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("file/landing/x", "file//landing/x"),
        ("hdfs://nn:8020/landing/x", "hdfs://nn:8020//landing/x"),
        ("dbfs/mnt/x", "dbfs//mnt/x"),
    ],
)
def test_a_path_has_one_spelling(a: str, b: str) -> None:
    assert parse_dataset_id(a) == parse_dataset_id(b)
    assert str(parse_dataset_id(a)) == str(parse_dataset_id(b)) == a
    assert parse_dataset_id(a).name[0] == "/"


def test_keys_of_object_stores_may_begin_with_a_slash() -> None:
    assert parse_dataset_id("s3://lake/x") != parse_dataset_id("s3://lake//x")


@pytest.mark.parametrize(
    ("text", "is_path"),
    [
        ("file//landing/orders", True),
        ("s3://lake/a/b", True),
        ("gs://lake/orders.csv", True),
        ("spark/raw.orders", False),
        ("mssql://crm:1433/Shop.dbo.Orders", False),
        ("kafka/orders", False),
    ],
)
def test_a_name_with_a_slash_or_in_a_bucket_is_a_path(text: str, is_path: bool) -> None:
    assert parse_dataset_id(text).is_path is is_path


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("mssql://crm:1433/Shop.dbo.Orders", "dbo.Orders"),
        ("spark/raw.orders", "raw.orders"),
        ("file//landing/2026/orders", "2026/orders"),
        ("landing/orders", "orders"),
    ],
)
def test_short_names_are_the_last_two_parts(text: str, short: str) -> None:
    assert parse_dataset_id(text).short == short


@for_each(
    "text, path",
    [
        ("spark/raw.orders", "datasets/spark/raw/orders/"),
        ("spark/raw.Orders", "datasets/spark/raw/orders/"),
        ("mssql://crm:1433/Shop.dbo.Orders", "datasets/mssql-crm-1433/shop/dbo/orders/"),
        ("mssql://crm-db.shop.local:1433/a.b.c", "datasets/mssql-crm-db.shop.local-1433/a/b/c/"),
        ("s3://data-lake2/orders", "datasets/s3-data-lake2/orders/"),
        ("file//landing/orders", "datasets/file/landing/orders/"),
    ],
)
def test_a_plain_name_is_its_address(text: str, path: str) -> None:
    assert dataset_path(parse_dataset_id(text)) == path


@for_each(
    "a, b",
    [
        ("file//landing/Orders", "file//landing/orders"),
        ("spark/raw.a b", "spark/raw.a-b"),
        ("spark/raw.a/b", "spark/raw.a.b"),
        ("mssql://crm-1433/a.b", "mssql://crm:1433/a.b"),
        ("spark/raw." + "x" * 300, "spark/raw." + "x" * 301),
        ("file//landing/../x", "file//landing/x"),
        ("mssql-crm/a.b", "mssql://crm/a.b"),
        ("mssql://crm/a.b", "mssql.crm/a.b"),
        ("mssql://crm-14/a.b", "mssql://crm:14/a.b"),
    ],
)
def test_two_names_never_share_an_address(a: str, b: str) -> None:
    assert dataset_path(parse_dataset_id(a)) != dataset_path(parse_dataset_id(b))


@for_each(
    "name", ["..", "a/../../etc", "<script>", "a?b#c", "é", "index.html", "\x00", "a\\b", " "]
)
def test_no_name_leaves_its_folder_or_needs_escaping(name: str) -> None:
    for path in (dataset_path(DatasetId("spark", name)), task_path(name), tag_path(name)):
        segments = path.rstrip("/").split("/")
        assert all(segment.strip(".") for segment in segments)
        assert set(path) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-/")


def test_a_set_of_datasets_is_one_in_another_process() -> None:
    # Python hashes text otherwise in each process.
    code = (
        "import pickle, sys; from dbt_graft.lineage.dataset import DatasetId;"
        "print(DatasetId('spark', 'raw.orders') in pickle.load(sys.stdin.buffer))"
    )
    content = pickle.dumps({DatasetId("spark", "raw.orders")})

    answer = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True)

    assert answer.stdout.split() == [b"True"]
