"""The site: the theme's files, the pages of the catalog, and dbt docs beside them."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import field, replace
from functools import partial
from pathlib import Path

import dbt_graft
from dbt_graft.analysis.history.changes import NO_BUILDS, BuildHistory, update_history
from dbt_graft.catalog.addresses import (
    docs_addresses,
    former_docs,
    former_paths,
    gone_pages,
    write_redirects,
    write_sitemap,
)
from dbt_graft.catalog.attention import attention_lists, attention_page, gaps_page
from dbt_graft.catalog.badges import upstream_faults
from dbt_graft.catalog.changes_page import (
    changes_json,
    changes_page,
    present_pages,
    published_names,
    renamed_datasets,
)
from dbt_graft.catalog.column_pages import column_pages
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.explorer.opening import Opening, explore_page
from dbt_graft.catalog.explorer.write import opening_view, write_explorer
from dbt_graft.catalog.folder_pages import folder_pages, platform_pages
from dbt_graft.catalog.home_page import home_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import label_pages
from dbt_graft.catalog.links import step_links
from dbt_graft.catalog.missing_page import missing_page
from dbt_graft.catalog.page import Page, environment
from dbt_graft.catalog.page_json import write_page_json
from dbt_graft.catalog.page_keys import Digest, PageKeys, digest, maker_digest
from dbt_graft.catalog.previous import EarlierBuilds, PlannedPage, write_pages
from dbt_graft.catalog.privacy_page import privacy_page
from dbt_graft.catalog.rows import Rows
from dbt_graft.catalog.search import write_search
from dbt_graft.catalog.settings import SiteExtras, SiteSettings, checked_url
from dbt_graft.catalog.shells import ThemeSettings
from dbt_graft.catalog.task_pages import dag_pages, task_list_page, task_page
from dbt_graft.catalog.theme_cache import theme_archive, write_cached_theme
from dbt_graft.catalog.writing import Beside, PageWriter, WrittenPage, processors
from dbt_graft.lineage.addresses import Address, update_addresses
from dbt_graft.lineage.describe import DocsNode
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.urls import dataset_path, task_path


@frozen
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
    record: Mapping[str, WrittenPage] = field(default_factory=dict)
    history: BuildHistory = NO_BUILDS
    no_full_text: str = ""


def build(
    described: DescribedLineage,
    settings: SiteSettings,
    out: Path,
    extras: SiteExtras = SiteExtras(),
    earlier: EarlierBuilds = EarlierBuilds(),
) -> PublishedSite:
    """Build the catalog in a new or empty folder.

    The files are the same with the site of the last build as without one.

    Raises:
        GraftError: The folder has files, the site's templates are faulty, or its URL is none.
        OSError: A file cannot be written.
    """
    design, url, history = design_folder(), checked_url(settings.url), earlier.history
    index = Index(described, settings, extras)
    if settings.built_at:
        renamed = renamed_datasets(index, settings.moved)
        history = update_history(history, published_names(index), renamed, settings.built_at)
    known_pages = {*(address.path for address in earlier.addresses), *present_pages(index)}
    out = _empty_folder(out)
    theme = ThemeSettings(settings.name, url, extras.dbt_docs is not None, bool(index.privacy))
    maker = maker_digest(design)
    of_site = digest((maker.hex(), theme))
    shells = write_cached_theme(design, out, theme, theme_archive(theme), of_site)
    shells = replace(shells, notice=settings.notice)
    jinja = environment(design / "templates", maker)
    view = opening_view(index)
    # In a second build few pages are made. In a first one they are work for all processors.
    beside = Beside(
        lambda: _write_indexes(index, view, extras.docs_nodes, out, earlier.site.folder),
        forked=bool(earlier.site.pages) and processors() > 1,
    )
    writer = PageWriter((), out, shells, jinja, beside.busy, partial(_prepare, index))
    with closing(beside):
        keys = _record_keys(index, digest((of_site.hex(), settings.notice)))
        lists = list_pages(index, settings, view, history, known_pages)
        pages, changed = write_pages([*lists, *record_pages(index, keys)], writer, earlier.site)
        # The contexts of all lists.
        del lists, keys
        problem = beside.result()
    if settings.json:
        write_page_json(index, out)
    if url:
        write_sitemap(out, url, [page.path for page in pages], settings.collected_at)
    files = {
        "404.html": missing_page(shells, jinja, url),
        "changes.json": changes_json(history),
        **extras.files,
    }
    present = {page.path: page.title for page in pages} | docs_addresses(files)
    former = former_paths(described.lineage, settings.moved)
    former |= former_docs(earlier.addresses, present)
    addresses = update_addresses(earlier.addresses, present, former, settings.collected_at)
    gone = [page.make for page in _plan_pages(gone_pages(addresses))]
    PageWriter(gone, out, shells, jinja).write()
    write_redirects(addresses, out)
    _write_files(out, files)
    record = {page.path: page for page in pages if page.key}
    home = out / "index.html"
    return PublishedSite(home, len(pages), changed, addresses, record, history, problem)


def _empty_folder(folder: Path) -> Path:
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # MkDocs empties its output folder.
    if any(folder.iterdir()):
        raise GraftError("the folder for the site is not empty", place=str(folder))
    return folder


def _write_files(site: Path, files: Mapping[str, bytes | Path]) -> None:
    """Write files, or their content, by their path in the site."""
    for path, content in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, site / path)
        else:
            (site / path).write_bytes(content)


def _write_indexes(
    index: Index, view: Opening, nodes: Sequence[DocsNode], site: Path, previous: Path
) -> str:
    """Write what the browser looks things up in; return why search finds names only, if so."""
    # Most of the time of search is Pagefind's, which is a process of its own.
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(write_search, site, index, nodes, previous)
        write_explorer(index, view, site)
        return search.result()


def design_folder() -> Path:
    """The designer's folder inside the package: in the source tree a link to `site/`."""
    return Path(dbt_graft.__file__).parent / "site"


def list_pages(
    index: Index,
    settings: SiteSettings,
    view: Opening,
    history: BuildHistory,
    known_pages: Collection[str],
) -> list[PlannedPage]:
    """The home page and all lists; they have no key, for most of them change with any page.

    Args:
        view: What the explorer shows first.
        known_pages: The paths that have a page, also of what is gone.
    """
    findings, rows, hidden = attention_lists(index), Rows(index), settings.hidden_labels
    return _plan_pages(
        [
            home_page(
                index, findings, settings.name, settings.collected_at, history, known_pages, hidden
            ),
            attention_page(index, findings),
            changes_page(index, history, known_pages),
            task_list_page(index, rows),
            *dag_pages(index),
            gaps_page(index),
            *([privacy] if (privacy := privacy_page(index)) else []),
            explore_page(index, view),
            *label_pages(index, rows, hidden),
            *platform_pages(index, rows),
            *folder_pages(index, rows),
            *column_pages(index),
        ]
    )


def _plan_pages(pages: Iterable[Page]) -> list[PlannedPage]:
    """Pages whose contexts are there, without keys."""
    return [PlannedPage(page.path, partial(_return_page, page)) for page in pages]


def record_pages(index: Index, keys: Sequence[Digest] | None = None) -> list[PlannedPage]:
    """The pages of datasets, tasks and consumers.

    Args:
        keys: Those of `record_keys`; without them, of pages that depend on records alone.
    """
    order = index.lineage.task_graph()
    key = iter(_record_keys(index) if keys is None else keys)
    return [
        *(
            PlannedPage(dataset_path(dataset), partial(dataset_page, index, dataset), next(key))
            for dataset in index.datasets
        ),
        *(
            PlannedPage(task_path(name), partial(task_page, index, name, order), next(key))
            for name in index.task_names()
        ),
    ]


def _record_keys(index: Index, maker: Digest = b"") -> list[Digest]:
    """The keys of `record_pages`, in their order; for them all digests of all records are needed.

    Args:
        maker: What all pages depend on, see `maker_digest`.
    """
    keys = PageKeys(index, index.lineage.task_graph(), maker)
    return [
        *(keys.of_dataset(dataset) for dataset in index.datasets),
        *(keys.of_task(name) for name in index.task_names()),
    ]


def _prepare(index: Index) -> None:
    """Work out what many pages need."""
    upstream_faults(index)
    step_links(index)
    _ = index.dataset_steps, index.rejects_of, index.open_tasks, index.column_reach
    if index.shows_impact:
        _ = index.impact_reach


def _return_page(page: Page) -> Page:
    return page
