"""The docs page of dbt 2: the user's own, with one script of ours in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dbt_graft.injector.index_page import IndexPage, read_page
from dbt_graft.lineage.errors import GraftError
from tests.injector.page_of_dbt_2 import CDN, write_duckdb, write_page

INDEX = {"dbt.nodes.parquet": b"PAR1"}


@pytest.fixture
def page(tmp_path: Path) -> IndexPage:
    write_page(tmp_path)
    page = read_page(tmp_path)
    assert page
    return page


def html(page: IndexPage, redirects: dict[str, str] | None = None, **options: str) -> str:
    content = page.files(INDEX, redirects or {}, **options)["index.html"]
    assert isinstance(content, bytes)
    return content.decode()


def test_all_of_the_page_stays_in_its_place(page: IndexPage) -> None:
    text = html(page)
    assert text.startswith(page.html[: page.end])
    assert text.endswith(page.html[page.end :])


def test_our_script_runs_between_the_settings_and_dbts_program(page: IndexPage) -> None:
    text = html(page)
    places = [text.index(part) for part in ("__DBT_DOCS__ =", "((graft) =>", 'type="module"')]
    assert places == sorted(places)


def test_its_assets_and_the_index_lie_beside_it(page: IndexPage) -> None:
    files = page.files(INDEX, {})
    assert files["assets/app.js"] == page.target / "assets/app.js"
    assert files["index/dbt.nodes.parquet"] == b"PAR1"
    assert "assets/plan.svg" in files


def test_an_audience_gets_its_program_and_no_pictures(page: IndexPage) -> None:
    assert "assets/plan.svg" not in page.files(INDEX, {}, only_code=True)


def test_the_folder_of_the_data_is_the_pages_own(tmp_path: Path) -> None:
    write_page(tmp_path, data_dir="./data/tables")
    page = read_page(tmp_path)
    assert page
    assert "data/tables/dbt.nodes.parquet" in page.files(INDEX, {})


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "\u2028"])
def test_no_name_gets_out_of_the_script(page: IndexPage, text: str) -> None:
    shown = html(page, {text: text})
    assert shown.count("<script") == page.html.count("<script") + 1
    assert text not in shown


def test_duckdb_is_asked_where_the_page_says(page: IndexPage) -> None:
    assert page.duckdb == CDN
    assert page.duckdb_host == "cdn.jsdelivr.net"
    assert "importmap" not in html(page)


def test_duckdb_lies_in_the_site_where_a_folder_has_it(page: IndexPage, tmp_path: Path) -> None:
    write_duckdb(folder := tmp_path / "duckdb")
    files = page.files(INDEX, {}, duckdb=folder)
    assert files["duckdb/dist/duckdb-eh.wasm"] == folder / "duckdb-eh.wasm"
    names = re.findall(r'type="importmap">(.*?)</script>', str(files["index.html"]))
    [target] = json.loads(names[0])["imports"].values()
    assert target.removeprefix("./") in files


def test_a_file_of_duckdb_that_is_missing_is_named(page: IndexPage, tmp_path: Path) -> None:
    write_duckdb(folder := tmp_path / "duckdb")
    (folder / "duckdb-mvp.wasm").unlink()
    with pytest.raises(GraftError, match=r"duckdb: there is no duckdb-mvp\.wasm"):
        page.files(INDEX, {}, duckdb=folder)


@pytest.mark.parametrize("text", [None, "<html>of another tool</html>", '"MANIFEST.JSON INLINE"'])
def test_other_pages_are_none_of_dbt_2(tmp_path: Path, text: str | None) -> None:
    if text:
        (tmp_path / "index.html").write_text(text)
    assert read_page(tmp_path) is None


@pytest.mark.parametrize(
    "settings",
    ["{", "[]", '{"data_dir": "../index/"}', '{"data_dir": "/index/"}', '{"data_dir": "s3://x/"}'],
)
def test_a_page_that_reads_its_data_from_elsewhere_is_refused(
    tmp_path: Path, settings: str
) -> None:
    (tmp_path / "index.html").write_text(f"<script>window.__DBT_DOCS__ = {settings};</script>")
    with pytest.raises(GraftError, match="does not say where its data are"):
        read_page(tmp_path)
