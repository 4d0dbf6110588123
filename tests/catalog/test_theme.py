"""The shell: the contract with the theme, and the places that pages fill."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.catalog.build import build, design_folder
from dbt_graft.catalog.page import Page
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.catalog.shells import HEADING, OTHER, TITLE, Shells, ThemeSettings, shell
from dbt_graft.catalog.theme import write_theme
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from tests.catalog.html_reader import HtmlReader

BODY = '<h1 id="top">Orders</h1>\n<h2 id="columns">Columns &amp; more</h2>\n<p>none</p>\n'


@pytest.fixture(scope="module")
def theme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the theme's files."""
    return tmp_path_factory.mktemp("theme")


@pytest.fixture(scope="module")
def shells(theme: Path) -> Shells:
    settings = ThemeSettings("Shop & data", "https://example.com/docs/")
    return write_theme(design_folder(), theme, settings)


def _page(path: str, *sidebars: str) -> Page:
    kind = type("ShellPage", (Page,), {"template": "dataset", "sidebars": sidebars})
    return kind(path=path, title="raw.<orders>")


def test_the_theme_has_all_places(shells: Shells) -> None:
    assert sorted(shells.of_entries) == [
        *("", "attention/", "changes/", "columns/", "datasets/", "explore/", "gaps/", "owners/"),
        *("platforms/", "privacy/", "tags/", "tasks/"),
    ]
    names = {*shells.other.parts[1::2]}
    assert names == {
        *("address", "base", "content", "first", "navigation", "root", "sections"),
        *("title", "toc"),
    }


def test_nothing_of_the_blank_page_is_left(shells: Shells) -> None:
    for path in ("", "tasks/", "datasets/spark/raw/orders/"):
        html = shells.fill(_page(path), BODY)
        assert not [word for word in (TITLE, HEADING, "shell/", "\0") if word in html]


@pytest.mark.parametrize("path", ["gaps/", "datasets/spark/raw/orders/", "a/b/c/d/e/f/g/h/i/j/"])
def test_links_start_at_the_page(path: str, shells: Shells) -> None:
    html = shells.fill(_page(path), BODY)
    root = "../" * path.count("/")
    assert f'href="{root}index.html"' in html
    assert f'"base": "{root[:-1]}"' in html
    assert f'<link rel="canonical" href="https://example.com/docs/{path}">' in html


def test_titles_are_escaped_and_sections_listed(shells: Shells) -> None:
    html = shells.fill(_page("gaps/"), BODY)
    assert "<title>raw.&#60;orders&#62; - Shop &amp; data</title>" in html.replace("#38;", "amp;")
    assert '<a href="#columns" class="md-nav__link">' in html
    assert '<a href="#columns" class="md-skip">' in html
    assert '<h2 id="columns">Columns &amp; more</h2>' in html


def test_a_page_without_sections_is_skipped_to_from_its_top(shells: Shells) -> None:
    html = shells.fill(_page("gaps/"), '<h1 id="top">Gaps</h1>')
    assert '<a href="#top" class="md-skip">' in html
    assert "md-nav__item" not in html[html.index('data-md-component="toc"') :]


def test_no_table_of_contents_stands_beside_a_page_without_sections(shells: Shells) -> None:
    tags = HtmlReader(shells.fill(_page("gaps/", "toc"), '<h1 id="top">Gaps</h1>')).tags
    bars = [some for tag, some in tags if "md-sidebar" in some.get("class", "").split()]
    assert all("hidden" in bar for bar in bars)


@pytest.mark.parametrize(
    ("sidebars", "hidden"), [((), 2), (("toc",), 1), (("navigation", "toc"), 0)]
)
def test_sidebars_are_hidden_unless_a_page_has_them(
    sidebars: tuple[str, ...], hidden: int, shells: Shells
) -> None:
    tags = HtmlReader(shells.fill(_page("gaps/", *sidebars), BODY)).tags
    bars = [some for tag, some in tags if "md-sidebar" in some.get("class", "").split()]
    assert sum("hidden" in bar for bar in bars) == hidden


def test_another_theme_is_a_clear_error() -> None:
    with pytest.raises(GraftError) as caught:
        shell("<html><article>graft-content</article></html>", str)
    assert str(caught.value) == (
        "Material for MkDocs: the theme's page has no place for its content\n"
        "  install the version in constraints.txt"
    )


def test_no_blank_page_is_published(tmp_path: Path) -> None:
    build(DescribedLineage(Lineage()), SiteSettings(), tmp_path / "site")
    assert not (tmp_path / "site" / OTHER.partition("/")[0]).exists()


def test_the_menu_of_a_phone_opens_the_table_of_contents_and_leads_back(
    shells: Shells, theme: Path
) -> None:
    home = "".join(shells.of_entries[""].parts)
    scripts = (
        file.read_text() for file in theme.glob("assets/javascripts/*.js") if file.name in home
    )
    [menu] = [
        script
        for script in scripts
        if "md-nav--primary" in script and "insertAdjacentHTML" in script
    ]
    assert menu.count('for=\\"__toc\\"') == 2
