"""Templates and the pages that fill them."""

from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path

import pytest
from jinja2 import meta

import dbt_graft.catalog.build as catalog_build
from dbt_graft.catalog.addresses import GonePage
from dbt_graft.catalog.attention import AttentionPage, GapsPage
from dbt_graft.catalog.build import build, design_folder
from dbt_graft.catalog.changes_page import ChangesPage
from dbt_graft.catalog.column_pages import ColumnListPage, ColumnsPage
from dbt_graft.catalog.dataset_page import DatasetPage
from dbt_graft.catalog.explorer.opening import ExplorePage
from dbt_graft.catalog.folder_pages import FolderPage, PlatformListPage, PlatformPage
from dbt_graft.catalog.home_page import HomePage
from dbt_graft.catalog.label_pages import LabelListPage, LabelPage
from dbt_graft.catalog.missing_page import MissingPage
from dbt_graft.catalog.page import Page, environment
from dbt_graft.catalog.privacy_page import PrivacyPage
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.catalog.task_pages import DagListPage, DagPage, TaskListPage, TaskPage
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from tests.cases import for_each

TEMPLATES = design_folder() / "templates"
SHARED = ("parts", "runs", "lists", "findings", "change_list")
PAGES: dict[str, type[Page]] = {
    page.template: page
    for page in (
        *(HomePage, DatasetPage, FolderPage, TaskPage, TaskListPage, MissingPage),
        *(LabelPage, LabelListPage, GapsPage, GonePage, ColumnsPage, ColumnListPage),
        *(AttentionPage, ChangesPage, PlatformPage, PlatformListPage, ExplorePage, PrivacyPage),
        *(DagPage, DagListPage),
    )
}


def _names(template: str) -> set[str]:
    """The names that a template takes from its context."""
    jinja = environment(TEMPLATES)
    source = (TEMPLATES / f"{template}.html.j2").read_text(encoding="utf-8")
    return meta.find_undeclared_variables(jinja.parse(source)) - set(jinja.globals)


def test_each_template_has_a_page_class() -> None:
    files = {file.name.removesuffix(".html.j2") for file in TEMPLATES.glob("*.html.j2")}
    assert files == {*PAGES, *SHARED}


@for_each("template", sorted(PAGES))
def test_a_template_uses_no_names_but_the_fields_of_its_page(template: str) -> None:
    assert _names(template) <= {field.name for field in fields(PAGES[template])} | {"root"}


@for_each("template", sorted(PAGES))
def test_a_template_uses_every_field_of_its_page(template: str) -> None:
    names = {field.name for field in fields(PAGES[template])} - {f.name for f in fields(Page)}
    assert names <= _names(template)


@pytest.mark.parametrize("template", SHARED)
def test_shared_macros_take_all_they_need_as_arguments(template: str) -> None:
    assert _names(template) == set()


def test_an_error_in_a_template_names_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(design_folder(), tmp_path / "design")
    (tmp_path / "design" / "templates" / "home.html.j2").write_text("fine\n{{ nothing.here }}\n")
    monkeypatch.setattr(catalog_build, "design_folder", lambda: tmp_path / "design")
    with pytest.raises(GraftError, match=r"home\.html\.j2:2: .*'nothing' is undefined"):
        build(DescribedLineage(Lineage()), SiteSettings(), tmp_path / "site")
