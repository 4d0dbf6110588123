"""How the site is put in place, and where it finds its look."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

import dbt_graft
import dbt_graft.catalog.build as catalog_build
from dbt_graft.catalog.build import Settings, build, design_folder
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage


def test_the_dbt_docs_page_and_extra_files_lie_where_they_were_promised(site: Path) -> None:
    assert (site / "dbt/index.html").read_text() == "<!doctype html><title>dbt docs</title>"
    assert (site / "task_metadata.json").read_bytes() == b"{}"


def test_the_navigation_is_small_and_leads_to_dbt_docs(page) -> None:
    html = page("")
    tabs = html[html.index('class="md-tabs__list"') : html.index("</ul>", html.index("md-tabs"))]
    assert tabs.count("<li") == 6
    assert 'href="dbt/index.html"' in tabs


def test_without_a_docs_page_nothing_leads_there(tmp_path: Path, sample) -> None:
    build(sample.lineage, sample.descriptions, sample.consumers, Settings(), tmp_path / "site")
    for file in (tmp_path / "site").rglob("*.html"):
        assert "dbt/index.html" not in file.read_text(encoding="utf-8"), file


def test_the_number_of_pages_is_that_of_the_files(tmp_path: Path, sample) -> None:
    built = build(sample.lineage, sample.descriptions, [], Settings(), tmp_path / "site")
    assert built.pages == len(list((tmp_path / "site").rglob("index.html")))
    assert built.index == tmp_path / "site" / "index.html"


def test_equal_input_makes_equal_pages(tmp_path: Path, sample) -> None:
    made = []
    for name in ("one", "two"):
        out = tmp_path / name
        build(sample.lineage, sample.descriptions, sample.consumers, Settings(), out)
        files = [path for path in out.rglob("*") if path.is_file()]
        made.append({file.relative_to(out): file.read_bytes() for file in files})
    assert made[0] == made[1] != {}


def test_a_new_site_replaces_the_old_one_whole(tmp_path: Path) -> None:
    out = tmp_path / "site"
    (out / "datasets" / "gone").mkdir(parents=True)
    (out / "datasets" / "gone" / "index.html").write_text("old")
    build(Lineage(), {}, [], Settings(), out)
    assert (out / "index.html").is_file()
    assert not (out / "datasets" / "gone").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_the_old_site_stays_when_the_new_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("old")

    def fails(config: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(catalog_build, "mkdocs_build", fails)
    with pytest.raises(GraftError, match="disk full"):
        build(Lineage(), {}, [], Settings(), out)
    assert (out / "index.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GraftError, match=r"file.site: the site cannot be written"):
        build(Lineage(), {}, [], Settings(), tmp_path / "file" / "site")


def test_building_says_nothing_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    level = logging.getLogger("mkdocs").level
    build(Lineage(), {}, [], Settings(), tmp_path / "site")
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("mkdocs").level == level


def test_the_name_of_the_site_is_text(tmp_path: Path) -> None:
    built = build(Lineage(), {}, [], Settings("<script>alert(1)</script>"), tmp_path / "site")
    assert "<script>alert(1)" not in built.index.read_text(encoding="utf-8")


def test_a_fault_in_a_template_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(design_folder(), tmp_path / "design")
    (tmp_path / "design" / "templates" / "home.md.j2").write_text("fine\n{{ nothing.here }}\n")
    monkeypatch.setattr(catalog_build, "design_folder", lambda: tmp_path / "design")
    with pytest.raises(GraftError, match=r"home\.md\.j2:2: .*'nothing' is undefined"):
        build(Lineage(), {}, [], Settings(), tmp_path / "site")


def test_the_look_is_found_inside_the_package_when_it_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    monkeypatch.setattr(dbt_graft, "__file__", str(tmp_path / "__init__.py"))
    assert design_folder() == tmp_path / "site"


def test_the_look_is_found_in_the_source_tree(root: Path) -> None:
    assert design_folder() == root / "site"
