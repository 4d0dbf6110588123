"""The site: the theme's files, the pages of the catalog, and dbt docs beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit

import dbt_graft
from dbt_graft.catalog.attention import attention_page
from dbt_graft.catalog.changes_page import (
    changes_json,
    changes_page,
    present_pages,
    published_names,
    renamed_datasets,
)
from dbt_graft.catalog.column_pages import column_pages
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.explorer.opening import Opening
from dbt_graft.catalog.explorer.page import explore_page
from dbt_graft.catalog.explorer.write import opening_view, write_explorer
from dbt_graft.catalog.folder_pages import folder_pages
from dbt_graft.catalog.gaps_page import gaps_page
from dbt_graft.catalog.health import health_summary
from dbt_graft.catalog.home_page import home_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import label_pages
from dbt_graft.catalog.markup import external, printable
from dbt_graft.catalog.page import Page, environment
from dbt_graft.catalog.page_keys import Digest, PageKeys, maker_digest
from dbt_graft.catalog.planned import PlannedPage, write_pages
from dbt_graft.catalog.platform_pages import platform_pages
from dbt_graft.catalog.previous import PreviousSite, RecordedPage
from dbt_graft.catalog.redirects import former_paths, gone_pages, write_redirects
from dbt_graft.catalog.rows import Rows
from dbt_graft.catalog.search import write_search
from dbt_graft.catalog.sitemap import write_sitemap
from dbt_graft.catalog.task_pages import task_list_page, task_page
from dbt_graft.catalog.theme import write_theme
from dbt_graft.catalog.upstream_faults import upstream_faults
from dbt_graft.catalog.writing import PageWriter
from dbt_graft.lineage.addresses import Address, updated_addresses
from dbt_graft.lineage.changes import NO_BUILDS, BuildHistory, updated_history
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, DocsNode
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.urls import dataset_path, task_path


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """Title and address of the site.

    Attributes:
        name: The site's title.
        url: Where it will be published, http or https; empty if that is not known.
        collected_at: When logs were last collected; without it the home page shows the newest run.
            It is the date of the sitemap too.
        built_at: The time of this build: the date of what it changes. Without it, no changes are
            looked for.
        hidden_labels: Patterns of tags and owners that lists leave out, with `*` for any text.
        moved: Former namespace -> the one that its datasets have now: old addresses lead there.
    """

    name: str = "Data lineage"
    url: str = ""
    collected_at: datetime | None = None
    moved: Mapping[str, str] = field(default_factory=dict)
    built_at: datetime | None = None
    hidden_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedSite:
    """A site in its folder.

    Attributes:
        index: The page to open first.
        pages: The number of catalog pages.
        changed: How many of them are new, or other than in the previous site.
        addresses: Those of all pages, gone ones too.
        record: The pages that the next build may take over, by path.
        history: The builds up to this one, with what it publishes.
        no_full_text: Why search finds names only; empty if it finds texts too.
    """

    index: Path
    pages: int
    changed: int
    addresses: tuple[Address, ...] = ()
    record: Mapping[str, RecordedPage] = field(default_factory=dict)
    history: BuildHistory = NO_BUILDS
    no_full_text: str = ""


def build(
    lineage: Lineage,
    descriptions: Mapping[DatasetId, Description],
    consumers: Sequence[Consumer],
    settings: SiteSettings,
    out: Path,
    docs_page: bytes | None = None,
    extra_files: Mapping[str, bytes] | None = None,
    addresses: Iterable[Address] = (),
    history: BuildHistory = NO_BUILDS,
    docs_nodes: Sequence[DocsNode] = (),
    previous: PreviousSite | None = None,
) -> PublishedSite:
    """Build the catalog in a new or empty folder.

    The files are the same with a previous site as without one.

    Args:
        docs_page: dbt's documentation as one HTML page, for `dbt/index.html`.
        extra_files: More files, by their path in the site.
        addresses: Those that earlier builds published.
        history: The builds before this one.
        docs_nodes: What only dbt docs has a page of; search finds it too.
        previous: The site of the last build: pages that did not change are taken from it.

    Raises:
        GraftError: The folder has files or cannot be written, the site's templates are faulty, or
            its URL is none.
    """
    design, url, addresses = design_folder(), _checked(settings.url), tuple(addresses)
    index = Index(lineage, descriptions, consumers, has_dbt_docs=docs_page is not None)
    if settings.built_at:
        renamed = renamed_datasets(index, settings.moved)
        history = updated_history(history, published_names(index), renamed, settings.built_at)
    known = {*(address.path for address in addresses), *present_pages(index)}
    out = out.resolve()
    try:
        out.mkdir(parents=True, exist_ok=True)
        # MkDocs empties its output folder.
        if any(out.iterdir()):
            raise GraftError("the folder for the site is not empty", place=str(out))
        shells = write_theme(design, out, settings.name, url, has_dbt_docs=docs_page is not None)
        jinja = environment(design / "templates")
        maker = maker_digest(design, shells, settings.name, url)
        previous = previous or PreviousSite()
        view = opening_view(index)
        planned = _pages(index, settings, view, history, known, maker)
        done = write_pages(planned, PageWriter((), out, shells, jinja), previous)
        pages = done.pages
        write_explorer(index, view, out)
        problem = write_search(out, index, docs_nodes, previous.folder)
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
        extra = {"changes.json": changes_json(history), **(extra_files or {})}
        if docs_page is not None:
            extra["dbt/index.html"] = docs_page
        for path, content in extra.items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_bytes(content)
    except OSError as error:
        raise GraftError(f"the site cannot be written: {error}", place=str(out)) from error
    return PublishedSite(
        out / "index.html", len(pages), done.changed, found, done.record, history, problem
    )


def design_folder() -> Path:
    """The designer's folder: `site/` of the source tree, or its copy inside the package."""
    packaged = Path(dbt_graft.__file__).parent / "site"
    return packaged if packaged.is_dir() else packaged.parent.parent / "site"


def _pages(
    index: Index,
    settings: SiteSettings,
    view: Opening,
    history: BuildHistory,
    known: Collection[str],
    maker: Digest = b"",
) -> list[PlannedPage]:
    """The pages of the catalog; lists have no key, for most of them change with any page.

    Args:
        known: The paths that have a page, also of what is gone.
    """
    _prepare(index)
    health, order, rows = health_summary(index), index.lineage.task_graph(), Rows(index)
    name, collected_at, hidden = settings.name, settings.collected_at, settings.hidden_labels
    keys = PageKeys(index, order, maker)
    lists = [
        home_page(index, health, name, collected_at, history, known, hidden),
        attention_page(index, health),
        changes_page(index, history, known),
        task_list_page(index, rows),
        gaps_page(index, health),
        explore_page(index, view),
        *label_pages(index, rows, hidden),
        *platform_pages(index, rows),
        *folder_pages(index, rows),
        *column_pages(index),
    ]
    return [
        *(PlannedPage(page.path, partial(_same, page)) for page in lists),
        *(
            PlannedPage(dataset_path(one), partial(dataset_page, index, one), keys.of_dataset(one))
            for one in index.datasets
        ),
        *(
            PlannedPage(task_path(name), partial(task_page, index, name, order), keys.of_task(name))
            for name in index.task_names()
        ),
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
