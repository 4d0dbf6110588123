"""The site: its files, addresses and links, and how it is put in place."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

import dbt_graft
import dbt_graft.catalog.build as catalog_build
from dbt_graft.catalog.build import SiteSettings, build, design_folder
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from tests.catalog.html_reader import HtmlReader


def test_the_dbt_docs_page_and_extra_files_are_published(site: Path) -> None:
    assert (site / "dbt/index.html").read_text() == "<!doctype html><title>dbt docs</title>"
    assert (site / "task_metadata.json").read_bytes() == b"{}"


def test_the_navigation_has_six_entries_one_of_them_dbt_docs(page) -> None:
    html = page("")
    tabs = html[html.index('class="md-tabs__list"') : html.index("</ul>", html.index("md-tabs"))]
    assert tabs.count("<li") == 6
    assert 'href="dbt/index.html"' in tabs


def test_without_a_docs_page_nothing_links_to_it(tmp_path: Path, sample) -> None:
    build(sample.lineage, sample.descriptions, sample.consumers, SiteSettings(), tmp_path / "site")
    for file in (tmp_path / "site").rglob("*.html"):
        assert "dbt/index.html" not in file.read_text(encoding="utf-8"), file


def test_the_number_of_pages_is_that_of_the_files(tmp_path: Path, sample) -> None:
    built = build(sample.lineage, sample.descriptions, [], SiteSettings(), tmp_path / "site")
    assert built.pages == len(list((tmp_path / "site").rglob("index.html")))
    assert built.index == tmp_path / "site" / "index.html"


def test_equal_lineage_makes_equal_pages(tmp_path: Path, sample) -> None:
    made = []
    for name in ("one", "two"):
        out = tmp_path / name
        build(sample.lineage, sample.descriptions, sample.consumers, SiteSettings(), out)
        files = [path for path in out.rglob("*") if path.is_file()]
        made.append({file.relative_to(out): file.read_bytes() for file in files})
    assert made[0] == made[1] != {}


def test_a_folder_with_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(GraftError, match="the folder for the site is not empty"):
        build(Lineage(), {}, [], SiteSettings(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_failed_build_leaves_no_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(config: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(catalog_build, "mkdocs_build", fails)
    with pytest.raises(GraftError, match="disk full"):
        build(Lineage(), {}, [], SiteSettings(), tmp_path / "site")
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_an_error_names_the_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GraftError, match=r"file.site: the site cannot be written"):
        build(Lineage(), {}, [], SiteSettings(), tmp_path / "file" / "site")


def test_building_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger("mkdocs").level
    build(Lineage(), {}, [], SiteSettings(), tmp_path / "site")
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("mkdocs").level == level


def test_the_site_name_is_escaped(tmp_path: Path) -> None:
    built = build(Lineage(), {}, [], SiteSettings("<script>alert(1)</script>"), tmp_path / "site")
    assert "<script>alert(1)" not in built.index.read_text(encoding="utf-8")


def test_the_design_folder_of_an_installed_package_is_inside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    monkeypatch.setattr(dbt_graft, "__file__", str(tmp_path / "__init__.py"))
    assert design_folder() == tmp_path / "site"


def test_the_design_folder_of_the_source_tree_is_at_its_top(root: Path) -> None:
    assert design_folder() == root / "site"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "datasets/",
        "datasets/spark/",
        "datasets/spark/raw/",
        "datasets/spark/raw/orders/",
        "datasets/mssql-sql01-1433/crm/dbo/vw_active_suppliers/",
        "datasets/file/landing/orders/",
        "tasks/",
        "tasks/load_suppliers/",
        "tasks/revenue_dashboard/",
        "tags/",
        "tags/nightly/",
        "owners/",
        "owners/data-platform/",
        "gaps/",
    ],
)
def test_a_page_is_at_its_permanent_address(site: Path, path: str) -> None:
    assert (site / path / "index.html").is_file()


def test_every_link_between_pages_leads_to_a_file(site: Path) -> None:
    checked = 0
    for file in site.rglob("index.html"):
        if file.parent.name == "dbt":
            continue
        for tag, attributes in HtmlReader(file.read_text(encoding="utf-8")).tags:
            target = attributes.get("href", attributes.get("src", "")) if tag != "base" else ""
            if not target or ":" in target or target.startswith("#"):
                continue
            path = target.split("#")[0].split("?")[0]
            assert (file.parent / path).resolve().exists(), f"{file.relative_to(site)}: {target}"
            checked += 1
    assert checked > 1000


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    loads = {"script": "src", "link": "href", "img": "src", "iframe": "src", "image": "href"}
    checked = 0
    for file in site.rglob("*.html"):
        for tag, attributes in HtmlReader(file.read_text(encoding="utf-8")).tags:
            if tag in loads and attributes.get("rel") != "canonical":
                checked += 1
                assert "//" not in attributes.get(loads[tag], ""), file
    assert checked > 100
    for file in (site / "styles").rglob("*.css"):
        assert not re.search(r"url\((?![\"']?data:)|@import", file.read_text(encoding="utf-8"))


def test_search_finds_datasets_tasks_and_columns_but_no_lists(site: Path) -> None:
    found = (site / "search/search_index.json").read_text(encoding="utf-8")
    assert '"datasets/spark/raw/orders/index.html"' in found
    assert '"tasks/load_suppliers/index.html"' in found
    assert "customer_id" in found
    assert '"datasets/spark/index.html"' not in found
    assert (site / "search/search_index.js").is_file()
