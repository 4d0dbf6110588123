"""The site: its files, addresses and links, and how it is put in place."""

from __future__ import annotations

import json
import logging
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pytest

import dbt_graft
import dbt_graft.catalog.theme as catalog_theme
from dbt_graft.catalog.build import build, design_folder
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset
from dbt_graft.lineage.urls import dataset_path
from tests.cases import for_each
from tests.catalog.html_reader import HtmlReader


def test_the_dbt_docs_page_and_extra_files_are_published(site: Path) -> None:
    assert (site / "dbt/index.html").read_text() == "<!doctype html><title>dbt docs</title>"
    assert (site / "task_metadata.json").read_bytes() == b"{}"


def test_the_menu_holds_the_pages_that_exist(page) -> None:
    html = page("")
    tabs = html[html.index('class="md-tabs__list"') : html.index("</ul>", html.index("md-tabs"))]
    assert re.findall(r">([^<>]+)</a>", tabs) == [
        *("Home", "Datasets", "Columns", "Tasks", "Explore", "Needs attention", "What changed"),
        *("Parsing gaps", "Platforms", "Owners", "Tags", "dbt docs"),
    ]


def test_without_a_docs_page_nothing_links_to_it(tmp_path: Path, sample) -> None:
    build(
        DescribedLineage(sample.lineage, sample.descriptions, sample.consumers),
        SiteSettings(),
        tmp_path / "site",
    )
    for file in (tmp_path / "site").rglob("*.html"):
        assert "dbt/index.html" not in file.read_text(encoding="utf-8"), file


def test_the_number_of_pages_is_that_of_the_files(tmp_path: Path, sample) -> None:
    built = build(
        DescribedLineage(sample.lineage, sample.descriptions), SiteSettings(), tmp_path / "site"
    )
    assert built.pages == len(list((tmp_path / "site").rglob("index.html")))
    assert built.index == tmp_path / "site" / "index.html"


def test_equal_lineage_makes_equal_pages(tmp_path: Path, sample) -> None:
    made = []
    for name in ("one", "two"):
        out = tmp_path / name
        build(
            DescribedLineage(sample.lineage, sample.descriptions, sample.consumers),
            SiteSettings(),
            out,
        )
        files = [path for path in out.rglob("*") if path.is_file()]
        made.append({file.relative_to(out): file.read_bytes() for file in files})
    assert made[0] == made[1] != {}


def test_a_folder_with_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(GraftError, match="the folder for the site is not empty"):
        build(DescribedLineage(Lineage()), SiteSettings(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_failed_build_leaves_no_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(config: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(catalog_theme, "mkdocs_build", fails)
    settings = SiteSettings("A theme that no build has kept")
    with pytest.raises(OSError, match="disk full"):
        build(DescribedLineage(Lineage()), settings, tmp_path / "site")
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_building_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger("mkdocs").level
    build(DescribedLineage(Lineage()), SiteSettings(), tmp_path / "site")
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("mkdocs").level == level


def test_the_site_name_is_escaped(tmp_path: Path) -> None:
    built = build(
        DescribedLineage(Lineage()), SiteSettings("<script>alert(1)</script>"), tmp_path / "site"
    )
    assert "<script>alert(1)" not in built.index.read_text(encoding="utf-8")


@for_each(
    "url",
    [
        "not a url",
        "javascript:alert(1)",
        "ftp://example.com/",
        "//example.com/",
        "https://",
        "https://ada:secret@example.com/",
    ],
)
def test_a_url_that_is_no_address_of_a_site_names_its_key(url: str, tmp_path: Path) -> None:
    with pytest.raises(
        GraftError, match=r"^graft.yml: `site.url`: .* is not the address of a site"
    ):
        build(DescribedLineage(Lineage()), SiteSettings(url=url), tmp_path / "site")
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    "path",
    [
        '"><script>alert(1)</script>',
        "' onload='alert(1)",
        "x y\n<b>",
        "</script><script>alert(1)</script>",
        "`{{ 7*7 }}`",
    ],
)
def test_the_url_is_escaped_everywhere(path: str, tmp_path: Path) -> None:
    build(
        DescribedLineage(Lineage()),
        SiteSettings(url=f"https://example.com/{path}/"),
        tmp_path / "site",
    )
    plain = tmp_path / "plain"
    build(DescribedLineage(Lineage()), SiteSettings(url="https://example.com/x/"), plain)
    for file in (tmp_path / "site").rglob("*.html"):
        read = HtmlReader(file.read_text(encoding="utf-8"))
        expected = HtmlReader((plain / file.relative_to(tmp_path / "site")).read_text())
        assert [tag for tag, _ in read.tags] == [tag for tag, _ in expected.tags], file
        assert [set(some) for _, some in read.tags] == [set(some) for _, some in expected.tags]
        # That of missing addresses has the root as a text, in which no tag begins.
        assert "alert" not in read.scripts or file.name == "404.html", file
    sitemap = (tmp_path / "site/sitemap.xml").read_text(encoding="utf-8")
    assert {one.tag.rpartition("}")[2] for one in ET.fromstring(sitemap)} == {"url"}  # noqa: S314


@pytest.mark.parametrize(
    ("url", "root"), [("https://example.com/shop/here", "/shop/here/"), ("", "")]
)
def test_the_page_for_missing_addresses_starts_at_the_root(
    url: str, root: str, tmp_path: Path
) -> None:
    build(DescribedLineage(Lineage()), SiteSettings("A & <b>", url=url), tmp_path / "site")
    html = (tmp_path / "site/404.html").read_text(encoding="utf-8")
    assert f'root = "{root}"' in html
    page, _ = json.JSONDecoder().raw_decode(html[html.index('outerHTML + "') + 12 :])
    tags = HtmlReader(page).tags
    links = [value for _, some in tags for key in ("href", "src") if (value := some.get(key))]
    files = {link for link in links if not re.match("#|https:", link)}
    assert {"index.html", "explore/index.html"} <= files
    assert [link for link in files if not (tmp_path / "site" / link).is_file()] == []
    assert "<b>" not in page
    folders = {page.parent.name for page in (tmp_path / "site").glob("*/index.html")}
    assert all(re.search(rf"[|:]{name}[|)]", html) for name in folders)


def test_the_sitemap_has_the_date_of_the_last_collect(tmp_path: Path) -> None:
    at = datetime(2026, 11, 21, 2, 15, tzinfo=UTC)
    settings = SiteSettings(url="https://example.com/", collected_at=at)
    build(DescribedLineage(Lineage()), settings, tmp_path / "site")
    sitemap = (tmp_path / "site/sitemap.xml").read_text(encoding="utf-8")
    assert set(re.findall("<lastmod>(.*?)</lastmod>", sitemap)) == {"2026-11-21"}


def test_folders_named_like_files_of_the_site_are_published(tmp_path: Path) -> None:
    names = ["index.html", "index.md", "con", "aux.txt", "nul", "com1", "x.", "x ", "404.html"]
    datasets = [
        *(DatasetId(name, "raw/orders") for name in names),
        *(DatasetId("file", f"landing/{name}/orders") for name in names),
        *(DatasetId("file", f"landing/{name}") for name in names),
    ]
    lineage = Lineage({dataset: Dataset(dataset) for dataset in datasets})
    build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
    for dataset in datasets:
        assert (tmp_path / "site" / dataset_path(dataset) / "index.html").is_file()


def test_the_design_folder_of_an_installed_package_is_inside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    monkeypatch.setattr(dbt_graft, "__file__", str(tmp_path / "__init__.py"))
    assert design_folder() == tmp_path / "site"


def test_the_design_folder_of_the_source_tree_is_at_its_top(root: Path) -> None:
    assert design_folder().samefile(root / "site")


@for_each(
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
