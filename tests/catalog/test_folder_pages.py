"""The folders above datasets."""

from __future__ import annotations

from dbt_graft.catalog.folder_pages import FolderPage, breadcrumbs, folder_pages
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import MAX_ROWS, Breadcrumb
from dbt_graft.catalog.rows import Rows
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset


def _index(*names: str) -> Index:
    return Index(Lineage({d: Dataset(d) for d in (DatasetId("spark", name) for name in names)}))


def test_breadcrumbs_show_real_names_and_lead_to_folders() -> None:
    assert breadcrumbs(DatasetId("mssql://crm:1433", "Shop.dbo.Orders")) == [
        Breadcrumb("Datasets", "datasets/"),
        Breadcrumb("mssql://crm:1433", "datasets/mssql-crm-1433/"),
        Breadcrumb("Shop", "datasets/mssql-crm-1433/shop/"),
        Breadcrumb("dbo", "datasets/mssql-crm-1433/shop/dbo/"),
        Breadcrumb("Orders", "datasets/mssql-crm-1433/shop/dbo/orders/"),
    ]


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
