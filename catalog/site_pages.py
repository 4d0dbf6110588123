"""The pages of the catalog, before they are made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from dbt_graft.analysis.history.changes import BuildHistory
from dbt_graft.catalog.attention import attention_lists, attention_page, gaps_page
from dbt_graft.catalog.badges import upstream_faults
from dbt_graft.catalog.changes_page import changes_page
from dbt_graft.catalog.column_pages import column_pages
from dbt_graft.catalog.dag_pages import dag_pages
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.explorer.opening import Opening, explore_page
from dbt_graft.catalog.folder_pages import folder_pages, platform_pages
from dbt_graft.catalog.home_page import home_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import label_pages
from dbt_graft.catalog.links import step_links
from dbt_graft.catalog.page import Page
from dbt_graft.catalog.page_keys import Digest, PageKeys
from dbt_graft.catalog.previous import PlannedPage
from dbt_graft.catalog.privacy_page import privacy_page
from dbt_graft.catalog.rows import Rows
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.catalog.task_pages import task_list_page, task_page
from dbt_graft.lineage.urls import dataset_path, task_path


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
    return plan_pages(
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


def plan_pages(pages: Iterable[Page]) -> list[PlannedPage]:
    """Pages whose contexts are there, without keys."""
    return [PlannedPage(page.path, partial(_return_page, page)) for page in pages]


def record_pages(index: Index, keys: Sequence[Digest] | None = None) -> list[PlannedPage]:
    """The pages of datasets, tasks and consumers.

    Args:
        keys: Those of `record_keys`; without them, of pages that depend on records alone.
    """
    order = index.lineage.task_graph()
    key = iter(record_keys(index) if keys is None else keys)
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


def record_keys(index: Index, maker: Digest = b"") -> list[Digest]:
    """The keys of `record_pages`, in their order; for them all digests of all records are needed.

    Args:
        maker: What all pages depend on, see `maker_digest`.
    """
    keys = PageKeys(index, index.lineage.task_graph(), maker)
    return [
        *(keys.of_dataset(dataset) for dataset in index.datasets),
        *(keys.of_task(name) for name in index.task_names()),
    ]


def prepare(index: Index) -> None:
    """Work out what many pages need."""
    upstream_faults(index)
    step_links(index)
    _ = index.dataset_steps, index.rejects_of, index.column_reach
    if index.shows_impact:
        _ = index.impact_reach


def _return_page(page: Page) -> Page:
    return page
