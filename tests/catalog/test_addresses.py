"""Former addresses lead to the present ones, and those of what is gone say so."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dbt_graft.catalog.addresses import former_paths, gone_pages, write_redirects
from dbt_graft.catalog.build import build
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.previous import EarlierBuilds
from dbt_graft.catalog.settings import SiteExtras, SiteSettings
from dbt_graft.lineage.addresses import Address
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import DatasetNames
from dbt_graft.lineage.records import Dataset
from dbt_graft.lineage.urls import dataset_path

ORDERS = DatasetId("duckdb:///data/shop.duckdb", "shop.raw.Orders")
SALES = DatasetId("spark", "raw.sales")
STAGE = DatasetId("spark", "raw.stage")
AT = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)


def _lineage(*datasets: DatasetId) -> Lineage:
    return Lineage({dataset: Dataset(dataset) for dataset in datasets})


def _target(site: Path, address: str) -> Path:
    page = site / address / "index.html"
    match = re.search(r'content="0; url=([^"]+)"', page.read_text())
    assert match
    return (page.parent / match[1]).resolve()


def test_a_dataset_and_its_folders_lead_to_their_new_namespace() -> None:
    lineage = _lineage(ORDERS, DatasetId("kafka", "raw.orders"))
    now = dataset_path(ORDERS)
    parts = now.split("/")
    assert former_paths(lineage, {"spark": ORDERS.namespace}) == {
        "datasets/spark/": "/".join([*parts[:2], ""]),
        "datasets/spark/shop/": "/".join([*parts[:3], ""]),
        "datasets/spark/shop/raw/": "/".join([*parts[:4], ""]),
        "datasets/spark/shop/raw/orders/": now,
    }


def test_a_dataset_that_was_renamed_is_found_by_its_former_names() -> None:
    lineage = Lineage({SALES: Dataset(SALES)}, names=DatasetNames(former={SALES: (STAGE, SALES)}))
    assert former_paths(lineage, {}) == {dataset_path(STAGE): dataset_path(SALES)}


def test_a_namespace_that_did_not_change_has_no_former_paths() -> None:
    assert former_paths(_lineage(SALES), {"spark": "spark"}) == {}


def test_an_address_that_moved_leads_on(tmp_path: Path) -> None:
    moved = Address("datasets/a/", "a", AT, True, AT, "datasets/b/c/")
    write_redirects([moved, Address("datasets/b/c/", "c")], tmp_path)
    target = tmp_path.resolve() / "datasets/b/c/index.html"
    assert _target(tmp_path, "datasets/a") == target
    assert len(list(tmp_path.rglob("*.html"))) == 1


@pytest.mark.parametrize(
    ("path", "kind", "folder"),
    [
        ("datasets/spark/raw/orders/", "dataset", "datasets/"),
        ("tasks/load/", "task", "tasks/"),
        ("tags/daily/", "tag", "tags/"),
        ("owners/ada/", "owner", "owners/"),
        ("gaps/", "page", ""),
    ],
)
def test_what_is_gone_keeps_a_page_that_says_so(path: str, kind: str, folder: str) -> None:
    [page] = gone_pages([Address(path, "a title", AT, True, AT)])
    assert (page.path, page.kind, page.folder, page.gone_at) == (path, kind, folder, AT)


def test_nothing_that_once_was_a_page_is_missing_later(tmp_path: Path) -> None:
    first = build(DescribedLineage(_lineage(ORDERS, STAGE)), SiteSettings(), tmp_path / "first")
    renamed = Lineage({SALES: Dataset(SALES)}, names=DatasetNames(former={SALES: (STAGE,)}))
    settings = SiteSettings(url="https://example.com/", collected_at=AT)
    second = tmp_path / "second"
    built = build(
        DescribedLineage(renamed),
        settings,
        second,
        earlier=EarlierBuilds(addresses=first.addresses),
    )
    pages = {file.relative_to(tmp_path / "first") for file in (tmp_path / "first").rglob("*.html")}
    assert pages <= {file.relative_to(second) for file in second.rglob("*.html")}
    gone = (second / dataset_path(ORDERS) / "index.html").read_text()
    assert "gone since" in gone
    assert "2026-11-20 08:30 UTC" in gone
    assert _target(second, dataset_path(STAGE)) == second / dataset_path(SALES) / "index.html"
    assert dataset_path(ORDERS) not in (second / "sitemap.xml").read_text()
    assert built.pages < len(built.addresses)


def test_a_smaller_page_of_dbt_docs_that_is_gone_leads_to_that_of_all_models(
    tmp_path: Path,
) -> None:
    def published(name: str, files: list[str], before: tuple[Address, ...]) -> tuple[Address, ...]:
        return build(
            DescribedLineage(_lineage(SALES)),
            SiteSettings(),
            tmp_path / name,
            extras=SiteExtras(
                dbt_docs=DbtDocs.DBT_1,
                files=dict.fromkeys(["dbt/index.html", *files], b"<!doctype html>"),
            ),
            earlier=EarlierBuilds(addresses=before),
        ).addresses

    first = published("one", ["dbt/finance/index.html", "dbt/sales/index.html"], ())
    assert {"dbt/", "dbt/finance/", "dbt/sales/"} <= {one.path for one in first}
    published("two", ["dbt/sales/index.html"], first)
    assert _target(tmp_path / "two", "dbt/finance/") == tmp_path / "two/dbt/index.html"
    sales = (tmp_path / "two/dbt/sales/index.html").read_bytes()
    assert sales == b"<!doctype html>"
