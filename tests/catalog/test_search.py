"""The search of a built site, as its files say."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from dbt_graft.catalog import search
from dbt_graft.catalog.build import build
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.full_text import NoPagefindError
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import owners, tags
from dbt_graft.catalog.name_index import NameKind
from dbt_graft.catalog.search import name_entries, search_texts
from dbt_graft.catalog.settings import SiteExtras, SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Description, DocsNode, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset
from tests.cases import for_each

NODES = (
    DocsNode("macro.shop.cents_to_euros", "cents_to_euros", "macro", "Two *decimals*."),
    DocsNode("test.shop.unique_orders.1a2b", "unique_orders", "test", is_generic_test=True),
    DocsNode("unit_test.shop.a b", "a b", "unit_test"),
)


def _about(site: Path) -> dict[str, object]:
    content = (site / "search/about.js").read_text(encoding="utf-8")
    found: dict[str, object] = orjson.loads(
        content.removeprefix("graft.texts.about(").removesuffix(")\n")
    )
    return found


def test_the_browser_knows_what_can_be_chosen(site: Path) -> None:
    about = _about(site)
    assert about["texts"] == 1
    platforms, owners = about["platforms"], about["owners"]
    assert isinstance(platforms, list)
    assert isinstance(owners, list)
    assert [name for name, _ in platforms] == ["Files", "SQL Server", "Spark"]
    assert {"data-platform", "finance", "erp-team"} <= {name for name, _ in owners}


def test_names_and_texts_are_published_and_nothing_of_the_theme(site: Path) -> None:
    assert (site / "search/names/index.js").is_file()
    assert (site / "search/text/0/pagefind.js").is_file()
    assert not list(site.rglob("*search_index*"))
    assert not list(site.rglob("*lunr*"))
    assert not (site / "assets/javascripts/workers").exists()
    home = (site / "index.html").read_text(encoding="utf-8")
    assert "md-search" not in home
    assert "data-graft-search" in home


def test_without_pagefind_names_are_found_and_the_build_gives_the_reason(
    tmp_path: Path, sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> bool:
        raise NoPagefindError("no program for this platform")

    monkeypatch.setattr(search, "write_full_text", fails)
    out = tmp_path / "site"
    built = build(
        DescribedLineage(sample.lineage, sample.descriptions, sample.consumers), SiteSettings(), out
    )
    assert built.no_full_text == "no program for this platform"
    assert _about(out)["texts"] == 0
    assert '"raw.orders"' in (out / "search/names/n-.js").read_text(encoding="utf-8")


def test_what_only_dbt_docs_has_is_found(tmp_path: Path, sample) -> None:
    node = DocsNode("macro.shop.cents", "cents", "macro")
    out = tmp_path / "site"
    described = DescribedLineage(sample.lineage, sample.descriptions)
    built = build(described, SiteSettings(), out, SiteExtras(DbtDocs.DBT_1, [node]))
    assert built.no_full_text == ""
    names = (out / "search/names/n-.js").read_text(encoding="utf-8")
    assert '"dbt/index.html#!/macro/macro.shop.cents"' in names


@pytest.fixture(scope="module")
def index(sample) -> Index:
    return Index(
        DescribedLineage(sample.lineage, sample.descriptions, sample.consumers),
        extras=SiteExtras(dbt_docs=DbtDocs.DBT_1),
    )


def test_every_dataset_task_tag_and_owner_has_one_name(index: Index) -> None:
    names = list(name_entries(index))
    kinds = [entry.kind for entry in names]
    assert kinds.count(NameKind.DATASET) == len(index.datasets)
    assert kinds.count(NameKind.TASK) == len(index.task_names())
    assert kinds.count(NameKind.TAG) == len(tags(index))
    assert kinds.count(NameKind.OWNER) == len(owners(index))
    assert len({(entry.kind, entry.name, entry.path) for entry in names}) == len(names)


def test_every_path_leads_to_a_page_of_the_site(index: Index, site: Path) -> None:
    for entry in name_entries(index):
        path, _, anchor = entry.path.partition("#")
        html = (site / path / "index.html").read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in html, entry


@for_each(
    "kind, name, path, note",
    [
        (NameKind.DATASET, "raw.orders", "datasets/spark/raw/orders/", "promoted source"),
        (NameKind.DATASET, "landing/orders", "datasets/file/landing/orders/", "Files"),
        (NameKind.DATASET, "Crm.dbo.PriceList", "datasets/mssql-sql01-1433/crm/dbo/pricelist/", ""),
        (
            NameKind.OTHER,
            "file/warehouse/raw.db/orders",
            "datasets/spark/raw/orders/",
            "other name of raw.orders",
        ),
        (NameKind.TASK, "load_suppliers", "tasks/load_suppliers/", "task"),
        (NameKind.TASK, "revenue_dashboard", "tasks/revenue_dashboard/", "dashboard"),
        (NameKind.OWNER, "finance", "owners/finance/", "1 page"),
        (NameKind.DBT, "cents_to_euros", "dbt/index.html#!/macro/macro.shop.cents_to_euros", ""),
        (NameKind.DBT, "a b", "dbt/index.html#!/unit_test/unit_test.shop.a%20b", "dbt unit test"),
        (NameKind.TEST, "unique_orders", "dbt/index.html#!/test/test.shop.unique_orders.1a2b", ""),
    ],
)
def test_a_name_leads_to_its_page(
    index: Index, kind: NameKind, name: str, path: str, note: str
) -> None:
    (found,) = (e for e in name_entries(index, NODES) if (e.kind, e.name) == (kind, name))
    assert found.path == path
    assert not note or found.note == note


def test_a_column_of_several_datasets_is_found_once(index: Index) -> None:
    names = {"spark": "Customer_Id", "mssql://crm": "customer_id", "file": "own"}
    datasets = {
        id_: Dataset(id_, columns=(Column(name),))
        for id_, name in ((DatasetId(space, "a.b"), name) for space, name in names.items())
    }
    descriptions = {
        id_: Description(id_, f"model.shop.{n}", "b", Role.MODEL, owner=f"team {n}")
        for n, id_ in enumerate(datasets)
    }
    found = name_entries(Index(DescribedLineage(Lineage(datasets), descriptions)))
    shared, own = (entry for entry in found if entry.kind is NameKind.COLUMN)
    assert shared.path == "columns/cu/#column-customer_id"
    assert shared.note == "in 2 datasets"
    assert shared.platforms == ("SQL Server", "Spark")
    assert shared.owners == ("team 0", "team 1")
    assert (own.name, own.note) == ("own", "in a.b")


def test_every_column_has_a_name(index: Index) -> None:
    columns = [e.name.casefold() for e in name_entries(index) if e.kind is NameKind.COLUMN]
    assert sorted(columns) == sorted({k for d in index.datasets for k in index.columns(d)})


def test_a_column_of_one_dataset_leads_to_its_row(index: Index) -> None:
    singles = [
        entry
        for entry in name_entries(index)
        if entry.kind is NameKind.COLUMN and not entry.path.startswith("columns/")
    ]
    assert singles
    for entry in singles:
        assert entry.path.startswith("datasets/")
        assert "#column-" in entry.path
        assert entry.note.startswith("in ")


def test_texts_are_plain(index: Index) -> None:
    texts = {text.entry.name: text for text in search_texts(index, NODES)}
    assert texts["raw.orders"].text == (
        "Orders as the shop hands them over, one row an order . See the mart for what analysts "
        "use. loaded every night amount is in the currency of the order"
    )
    assert texts["land_shop_files"].text == "Lands the shop's nightly export."
    assert texts["cents_to_euros"].text == "Two decimals ."
    assert "unique_orders" not in texts
    assert texts["raw.orders"].entry.platforms == ("Spark",)
    assert texts["raw.orders"].entry.owners == ("data-platform",)


def test_a_description_that_columns_share_is_one_text() -> None:
    texts = ({"Id": "The key.", "own": "Only *here*."}, {"id": "The key."}, {"ID": "Another."})
    ids = [DatasetId("spark", f"a.t{n}") for n in range(3)]
    descriptions = {
        id_: Description(id_, f"model.shop.t{n}", f"t{n}", Role.MODEL, columns=columns)
        for n, (id_, columns) in enumerate(zip(ids, texts, strict=True))
    }
    found = {
        text.entry.name: text
        for text in search_texts(Index(DescribedLineage(Lineage(), descriptions)))
    }
    assert {name: text.text for name, text in found.items()} == {
        "a.t0": "own: Only here .",
        "Id": "The key. Another.",
    }
    assert found["Id"].entry.path == "columns/id/#column-id"
