"""Former addresses lead to the present ones."""

from __future__ import annotations

import re
from pathlib import Path

from dbt_graft.catalog.redirects import write_redirects
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import dataset_path

ORDERS = DatasetId("duckdb:///data/shop.duckdb", "shop.raw.Orders")
MOVED = {"spark": ORDERS.namespace}


def _target(site: Path, address: str) -> Path:
    page = site / address / "index.html"
    found = re.search(r'content="0; url=([^"]+)"', page.read_text())
    assert found
    return (page.parent / found[1]).resolve()


def test_a_dataset_and_its_folders_lead_to_their_new_addresses(tmp_path: Path) -> None:
    write_redirects([ORDERS, DatasetId("kafka", "raw.orders")], MOVED, tmp_path)

    now = (tmp_path / dataset_path(ORDERS)).resolve()
    assert _target(tmp_path, "datasets/spark/shop/raw/orders") == now / "index.html"
    assert _target(tmp_path, "datasets/spark/shop/raw") == now.parent / "index.html"
    assert _target(tmp_path, "datasets/spark") == now.parents[2] / "index.html"
    assert not (tmp_path / "datasets/index.html").exists()
    assert len(list(tmp_path.rglob("*.html"))) == 4


def test_a_page_that_the_site_has_stays(tmp_path: Path) -> None:
    page = tmp_path / "datasets/spark/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("Spark")
    write_redirects([ORDERS], MOVED, tmp_path)
    assert page.read_text() == "Spark"


def test_a_namespace_that_did_not_change_needs_no_redirects(tmp_path: Path) -> None:
    write_redirects([DatasetId("spark", "raw.orders")], {"spark": "spark"}, tmp_path)
    assert not list(tmp_path.iterdir())
