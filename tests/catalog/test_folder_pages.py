"""The folders above datasets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.catalog.build import build
from dbt_graft.catalog.folder_pages import (
    FolderPage,
    PlatformPage,
    breadcrumbs,
    folder_pages,
    platform_pages,
    platforms,
)
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import MAX_ROWS, Breadcrumb
from dbt_graft.catalog.previous import EarlierBuilds
from dbt_graft.catalog.rows import Rows
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset
from dbt_graft.lineage.urls import dataset_path
from tests.cases import for_each
from tests.catalog.html_reader import section, text

PageHtml = Callable[[str], str]


def _index(*names: str) -> Index:
    return Index(
        DescribedLineage(
            Lineage({d: Dataset(d) for d in (DatasetId("spark", name) for name in names)})
        )
    )


def test_breadcrumbs_show_real_names_and_lead_to_folders() -> None:
    assert breadcrumbs(DatasetId("mssql://crm:1433", "Shop.dbo.Orders")) == [
        Breadcrumb("Datasets", "datasets/"),
        Breadcrumb("mssql://crm:1433", "datasets/mssql-crm-1433/"),
        Breadcrumb("Shop", "datasets/mssql-crm-1433/shop/"),
        Breadcrumb("dbo", "datasets/mssql-crm-1433/shop/dbo/"),
        Breadcrumb("Orders", "datasets/mssql-crm-1433/shop/dbo/orders/"),
    ]


@for_each(
    "namespace, name, names",
    [
        ("duckdb:///opt/shop.duckdb", "shop.main.t", "duckdb:// opt shop.duckdb shop.main.t"),
        ("sqlite:///x.db", "main.t", "sqlite:// x.db main.t"),
        ("s3://b", "in/a.b", "s3://b in a.b"),
        ("file", "/in/orders", "file in orders"),
        ("spark", "raw.a", "spark raw a"),
    ],
)
def test_each_step_of_an_address_has_its_own_name(namespace: str, name: str, names: str) -> None:
    dataset = DatasetId(namespace, name)
    crumbs = breadcrumbs(dataset)
    assert [crumb.name for crumb in crumbs] == ["Datasets", *names.split()]
    assert crumbs[-1].path == dataset_path(dataset)


def _pages(*names: str) -> dict[str, FolderPage]:
    index = _index(*names)
    return {page.path: page for page in folder_pages(index, Rows(index))}


def test_a_folder_counts_the_datasets_below_its_subfolders() -> None:
    pages = _pages("raw.a", "raw.b", "ml.c")
    assert sorted(pages) == [
        *("datasets/", "datasets/spark/", "datasets/spark/ml/", "datasets/spark/raw/")
    ]
    spark = pages["datasets/spark/"]
    assert [(folder.name, folder.datasets) for folder in spark.folders] == [("ml", 1), ("raw", 2)]
    assert [crumb.path for crumb in spark.breadcrumbs] == ["datasets/"]


def test_a_dataset_at_the_address_of_a_folder_replaces_its_page() -> None:
    assert set(_pages("raw", "raw.a")) == {"datasets/", "datasets/spark/"}


def test_a_large_folder_lists_only_the_datasets_directly_in_it() -> None:
    pages = _pages("top", *(f"raw.t{at}" for at in range(MAX_ROWS)))
    assert [row.id for row in pages["datasets/spark/"].datasets] == [DatasetId("spark", "top")]
    assert len(pages["datasets/spark/raw/"].datasets) == MAX_ROWS


def index(*ids: tuple[str, str]) -> Index:
    """Datasets by namespace and name."""
    datasets = [DatasetId(*one) for one in ids]
    return Index(
        DescribedLineage(Lineage({dataset: Dataset(dataset) for dataset in sorted(datasets)}))
    )


@for_each(
    "namespace, name, path",
    [
        ("mssql://crm:1433", "SQL Server", "platforms/mssql/"),
        ("s3a://lake", "Amazon S3", "platforms/s3/"),
        ("s3://lake", "Amazon S3", "platforms/s3/"),
        ("Spark", "Spark", "platforms/spark/"),
        ("erp://prod", "erp", "platforms/erp/"),
        ("aux", "aux", "platforms/aux-321f6814/"),
    ],
)
def test_the_address_is_the_scheme(namespace: str, name: str, path: str) -> None:
    [dataset] = platforms(index((namespace, "a.b")))
    assert (dataset.name, dataset.path) == (name, path)


def test_one_product_has_one_page_for_all_its_namespaces() -> None:
    found = index(("s3://a", "x"), ("s3a://b", "y"), ("mssql://crm", "Shop.dbo.t"))
    assert [
        (dataset.name, len(dataset.datasets), len(dataset.namespaces))
        for dataset in platforms(found)
    ] == [
        ("Amazon S3", 2, 2),
        ("SQL Server", 1, 1),
    ]


@pytest.mark.parametrize(
    ("ids", "folders"),
    [
        ([("spark", "raw.a"), ("spark", "raw.b"), ("spark", "mart.c")], [("mart", 1), ("raw", 2)]),
        (
            [("mssql://a", "Shop.dbo.x"), ("mssql://b", "Shop.dbo.x")],
            [("mssql://a / Shop / dbo", 1), ("mssql://b / Shop / dbo", 1)],
        ),
        ([("spark", f"schema_{n}.t") for n in range(61)], [("spark", 61)]),
        ([("kafka://broker", "orders")], [("kafka://broker", 1)]),
    ],
)
def test_it_shows_its_schemas_unless_they_are_too_many(
    ids: list[tuple[str, str]], folders: list[tuple[str, int]]
) -> None:
    found = index(*ids)
    [page] = (one for one in platform_pages(found, Rows(found)) if isinstance(one, PlatformPage))
    assert [(folder.name, folder.datasets) for folder in page.folders] == folders


def test_the_page_lists_datasets_with_their_health(page: PageHtml) -> None:
    shown = section(page("platforms/spark/"), "Datasets")
    assert "raw.orderspromoted source" in shown
    assert "last write failed" in shown


def test_the_home_page_leads_to_it(page: PageHtml) -> None:
    assert 'href="platforms/mssql/index.html"' in page("")
    assert "SQL Server" in text(page("platforms/"))


def test_a_platform_that_is_gone_has_a_page_that_says_so(tmp_path: Path) -> None:
    kafka = DatasetId("kafka://broker", "orders")
    lineage = Lineage({kafka: Dataset(kafka)})
    first = build(DescribedLineage(lineage), SiteSettings(), tmp_path / "first")
    build(
        DescribedLineage(Lineage()),
        SiteSettings(),
        tmp_path / "second",
        earlier=EarlierBuilds(addresses=first.addresses),
    )
    html = (tmp_path / "second/platforms/kafka/index.html").read_text("utf-8")
    assert "This platform was published here once" in text(html)
