"""Columns that several datasets have: one entry for each name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dbt_graft.catalog.column_pages import ColumnListPage, ColumnsPage, column_pages
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset
from tests.catalog.html_reader import HtmlReader, text


def _index(tables: dict[str, list[str]]) -> Index:
    ids = {name: DatasetId("spark", name) for name in tables}
    return Index(
        DescribedLineage(
            Lineage(
                {
                    ids[name]: Dataset(ids[name], columns=tuple(map(Column, tables[name])))
                    for name in ids
                }
            )
        )
    )


def test_a_column_of_several_datasets_is_listed_once() -> None:
    index = _index({"a.x": ["Amount", "only"], "a.y": ["amount", "am_pm"], "a.z": ["AM_PM"]})
    [page, everything] = column_pages(index)
    assert isinstance(page, ColumnsPage)
    assert page.path == "columns/am/"
    assert [(c.name, c.anchor, c.datasets) for c in page.columns] == [
        ("am_pm", "column-am_pm", 2),
        ("Amount", "column-amount", 2),
    ]
    assert [name for _, name, _ in page.columns[1].columns] == ["Amount", "amount"]
    assert isinstance(everything, ColumnListPage)
    assert [(folder.path, folder.columns) for folder in everything.folders] == [("columns/am/", 2)]


def test_a_column_of_10000_datasets_makes_no_large_page() -> None:
    [page, _] = column_pages(_index({f"a.t{n:05}": ["id"] for n in range(10_000)}))
    assert isinstance(page, ColumnsPage)
    [column] = page.columns
    assert (len(column.columns), column.omitted, column.datasets) == (100, 9_900, 10_000)


def test_a_page_of_many_columns_lists_few_datasets_of_each() -> None:
    names = [f"id_{n}" for n in range(1000)]
    [page, _] = column_pages(_index({f"a.t{n}": names for n in range(20)}))
    assert isinstance(page, ColumnsPage)
    assert {len(column.columns) for column in page.columns} == {5}
    assert {column.datasets for column in page.columns} == {20}


def test_every_link_to_a_column_leads_to_its_row(site: Path) -> None:
    anchors: dict[Path, set[str]] = {}
    checked = 0
    for file in site.rglob("index.html"):
        for _, attributes in HtmlReader(file.read_text(encoding="utf-8")).tags:
            path, _, anchor = attributes.get("href", "").partition("#column-")
            if not anchor:
                continue
            page = (file.parent / path).resolve() if path else file
            if page not in anchors:
                tags = HtmlReader(page.read_text(encoding="utf-8")).tags
                anchors[page] = {some["id"] for _, some in tags if "id" in some}
            assert f"column-{anchor}" in anchors[page], f"{file}: {attributes['href']}"
            checked += 1
    assert checked > 20


def test_the_page_of_all_columns_leads_to_theirs(page: Callable[[str], str]) -> None:
    assert "supplier_id" in text(page("columns/"))
    assert 'href="../columns/su/index.html"' in page("columns/")
