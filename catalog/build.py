"""The site: pages are written as Markdown and built with MkDocs."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException

import dbt_graft
from dbt_graft.catalog.column_pages import column_pages
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.folder_pages import folder_pages
from dbt_graft.catalog.gaps_page import gaps_page
from dbt_graft.catalog.health import health_summary
from dbt_graft.catalog.home_page import home_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import label_pages
from dbt_graft.catalog.markup import external, printable, text
from dbt_graft.catalog.page import Page, environment, render
from dbt_graft.catalog.redirects import write_redirects
from dbt_graft.catalog.task_pages import task_list_page, task_page
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage

# Subfolders of the designer's folder that are copied into the site.
_PUBLISHED = ("styles", "scripts", "images")


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """Title and address of the site.

    Attributes:
        name: The site's title.
        url: Where it will be published, http or https; empty if that is not known.
        collected_at: When logs were last collected; without it the home page shows the newest run.
            It is the date of the sitemap too.
        moved: Former namespace -> the one that its datasets have now: old addresses lead there.
    """

    name: str = "Data lineage"
    url: str = ""
    collected_at: datetime | None = None
    moved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PublishedSite:
    """The page to open first, and the number of catalog pages."""

    index: Path
    pages: int


def build(
    lineage: Lineage,
    descriptions: Mapping[DatasetId, Description],
    consumers: Sequence[Consumer],
    settings: SiteSettings,
    out: Path,
    docs_page: bytes | None = None,
    extra_files: Mapping[str, bytes] | None = None,
) -> PublishedSite:
    """Build the catalog in a new or empty folder.

    Args:
        docs_page: dbt's documentation as one HTML page, for `dbt/index.html`.
        extra_files: More files, by their path in the site.

    Raises:
        GraftError: The folder has files or cannot be written, the site's templates are faulty, or
            its URL is none.
    """
    design, url = design_folder(), _checked(settings.url)
    index = Index(lineage, descriptions, consumers, has_dbt_docs=docs_page is not None)
    out = out.resolve()
    try:
        out.mkdir(parents=True, exist_ok=True)
        # MkDocs empties its output folder.
        if any(out.iterdir()):
            raise GraftError("the folder for the site is not empty", place=str(out))
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder:
            sources = Path(folder)
            jinja = environment(design / "templates")
            pages = _write(_pages(index, settings), jinja, sources)
            for name in _PUBLISHED:
                shutil.copytree(design / name, sources / name)
            _mkdocs(design / "mkdocs.yml", sources, out, settings, url, docs=docs_page is not None)
        not_found = jinja.get_template("404.html.j2")
        root = urlsplit(url).path.rstrip("/") + "/" if url else ""
        (out / "404.html").write_text(
            not_found.render(root=root, site_name=settings.name), encoding="utf-8"
        )
        write_redirects(index.datasets, settings.moved, out)
        extra = dict(extra_files or {})
        if docs_page is not None:
            extra["dbt/index.html"] = docs_page
        for path, content in extra.items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_bytes(content)
    except OSError as error:
        raise GraftError(f"the site cannot be written: {error}", place=str(out)) from error
    return PublishedSite(out / "index.html", pages)


def design_folder() -> Path:
    """The designer's folder: `site/` of the source tree, or its copy inside the package."""
    packaged = Path(dbt_graft.__file__).parent / "site"
    return packaged if packaged.is_dir() else packaged.parent.parent / "site"


def _pages(index: Index, settings: SiteSettings) -> Iterator[Page]:
    health = health_summary(index)
    yield home_page(index, health, settings.name, settings.collected_at)
    yield task_list_page(index)
    yield gaps_page(index, health)
    yield from label_pages(index)
    yield from folder_pages(index)
    yield from column_pages(index)
    for dataset in index.datasets:
        yield dataset_page(index, dataset)
    order = index.lineage.task_graph()
    for name in index.task_names():
        yield task_page(index, name, order)


def _write(pages: Iterable[Page], jinja: Environment, folder: Path) -> int:
    """Write pages as Markdown; return their number."""
    paths = set()
    for page in pages:
        target = folder / page.path / "index.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(page, jinja), encoding="utf-8")
        paths.add(target)
    return len(paths)


def _mkdocs(
    config_file: Path, sources: Path, site: Path, settings: SiteSettings, url: str, *, docs: bool
) -> None:
    options: dict[str, Any] = {
        # The theme does not escape it.
        "site_name": str(text(settings.name)),
        "site_url": url,
        "docs_dir": str(sources),
        "site_dir": str(site),
    }
    with _silent(), _dated(settings.collected_at):
        try:
            config = load_config(str(config_file), **options)
            if docs:
                config.nav.append({"dbt docs": "dbt/index.html"})
            config.plugins.on_startup(command="build", dirty=False)
            try:
                mkdocs_build(config)
            finally:
                config.plugins.on_shutdown()
        except MkDocsException as error:
            raise GraftError(
                f"MkDocs cannot build the site: {error}", place=str(config_file)
            ) from error


def _checked(url: str) -> str:
    """The URL with everything escaped that HTML could read as syntax: the theme does not."""
    parts = urlsplit(external(url))
    if url and (parts.scheme not in ("http", "https") or parts.username is not None):
        raise GraftError(
            f"{printable(url)!r} is not the address of a site",
            place="graft.yml: `site.url`",
            remedy="write http(s)://<host>/<path>/, without user and password",
        )
    return quote(parts.geturl(), safe=":/?#[]@!$&+,;=%~")


@contextmanager
def _dated(at: datetime | None) -> Iterator[None]:
    """Have MkDocs write a date of ours into the sitemap: today's would change it every day."""
    variable = "SOURCE_DATE_EPOCH"  # https://reproducible-builds.org/specs/source-date-epoch/
    if variable in os.environ:
        yield
        return
    os.environ[variable] = str(int(at.timestamp())) if at else "0"
    try:
        yield
    finally:
        del os.environ[variable]


@contextmanager
def _silent() -> Iterator[None]:
    """Silence MkDocs' progress and its advice on navigation."""
    log = logging.getLogger("mkdocs")
    level, propagate = log.level, log.propagate
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
        log.propagate = propagate
