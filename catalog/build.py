"""The site: the theme's files, the pages of the catalog, and dbt docs beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit

import dbt_graft
from dbt_graft.catalog.column_pages import column_pages
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.folder_pages import folder_pages
from dbt_graft.catalog.gaps_page import gaps_page
from dbt_graft.catalog.health import health_summary
from dbt_graft.catalog.home_page import home_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import label_pages
from dbt_graft.catalog.markup import external, printable
from dbt_graft.catalog.page import Page, environment
from dbt_graft.catalog.redirects import former_paths, gone_pages, write_redirects
from dbt_graft.catalog.search import write_search_index
from dbt_graft.catalog.sitemap import write_sitemap
from dbt_graft.catalog.task_pages import task_list_page, task_page
from dbt_graft.catalog.theme import write_theme
from dbt_graft.catalog.upstream_faults import upstream_faults
from dbt_graft.catalog.writing import PageWriter
from dbt_graft.lineage.addresses import Address, updated_addresses
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage


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
    """The page to open first, the number of catalog pages, and all addresses, gone ones too."""

    index: Path
    pages: int
    addresses: tuple[Address, ...] = ()


def build(
    lineage: Lineage,
    descriptions: Mapping[DatasetId, Description],
    consumers: Sequence[Consumer],
    settings: SiteSettings,
    out: Path,
    docs_page: bytes | None = None,
    extra_files: Mapping[str, bytes] | None = None,
    addresses: Iterable[Address] = (),
) -> PublishedSite:
    """Build the catalog in a new or empty folder.

    Args:
        docs_page: dbt's documentation as one HTML page, for `dbt/index.html`.
        extra_files: More files, by their path in the site.
        addresses: Those that earlier builds published.

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
        shells = write_theme(design, out, settings.name, url, has_dbt_docs=docs_page is not None)
        jinja = environment(design / "templates")
        pages = PageWriter(_pages(index, settings), out, shells, jinja).write()
        write_search_index(out, (entry for page in pages for entry in page.search))
        if url:
            write_sitemap(out, url, [page.path for page in pages], settings.collected_at)
        found = updated_addresses(
            addresses,
            {page.path: page.title for page in pages},
            former_paths(lineage, settings.moved),
            settings.collected_at,
        )
        gone = [partial(_same, page) for page in gone_pages(found)]
        PageWriter(gone, out, shells, jinja).write()
        write_redirects(found, out)
        not_found = jinja.get_template("404.html.j2")
        root = urlsplit(url).path.rstrip("/") + "/" if url else ""
        (out / "404.html").write_text(
            not_found.render(root=root, site_name=settings.name), encoding="utf-8"
        )
        extra = dict(extra_files or {})
        if docs_page is not None:
            extra["dbt/index.html"] = docs_page
        for path, content in extra.items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_bytes(content)
    except OSError as error:
        raise GraftError(f"the site cannot be written: {error}", place=str(out)) from error
    return PublishedSite(out / "index.html", len(pages), found)


def design_folder() -> Path:
    """The designer's folder: `site/` of the source tree, or its copy inside the package."""
    packaged = Path(dbt_graft.__file__).parent / "site"
    return packaged if packaged.is_dir() else packaged.parent.parent / "site"


def _pages(index: Index, settings: SiteSettings) -> list[Callable[[], Page]]:
    """The pages of the catalog, each as a function that makes it."""
    _prepare(index)
    health, order = health_summary(index), index.lineage.task_graph()
    lists = [
        home_page(index, health, settings.name, settings.collected_at),
        task_list_page(index),
        gaps_page(index, health),
        *label_pages(index),
        *folder_pages(index),
        *column_pages(index),
    ]
    return [
        *(partial(_same, page) for page in lists),
        *(partial(dataset_page, index, dataset) for dataset in index.datasets),
        *(partial(task_page, index, name, order) for name in index.task_names()),
    ]


def _prepare(index: Index) -> None:
    """Work out what many pages need, before processes share the pages: each would do it again."""
    upstream_faults(index)
    _ = index.dataset_steps, index.rejects_of


def _same(page: Page) -> Page:
    return page


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
