"""The search of a built site, as its files say."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from dbt_graft.catalog import search
from dbt_graft.catalog.build import build
from dbt_graft.catalog.full_text import NoPagefindError
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.describe import DocsNode


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
    built = build(sample.lineage, sample.descriptions, sample.consumers, SiteSettings(), out)
    assert built.no_full_text == "no program for this platform"
    assert _about(out)["texts"] == 0
    assert '"raw.orders"' in (out / "search/names/n-.js").read_text(encoding="utf-8")


def test_what_only_dbt_docs_has_is_found(tmp_path: Path, sample) -> None:
    node = DocsNode("macro.shop.cents", "cents", "macro")
    out = tmp_path / "site"
    built = build(
        sample.lineage, sample.descriptions, (), SiteSettings(), out, b"docs", docs_nodes=[node]
    )
    assert built.no_full_text == ""
    names = (out / "search/names/n-.js").read_text(encoding="utf-8")
    assert '"dbt/index.html#!/macro/macro.shop.cents"' in names
