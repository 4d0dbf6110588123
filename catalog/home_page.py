"""The home page: figures, the lineage graph, what needs attention and what changed, and lists."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from markupsafe import Markup

from dbt_graft.analysis.history.changes import NO_BUILDS, BuildHistory
from dbt_graft.catalog.attention import (
    AttentionList,
    HealthRatio,
    attention_lists,
    health_ratios,
)
from dbt_graft.catalog.changes_page import ShownBuild, shown_build
from dbt_graft.catalog.health import HealthSummary
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import owners, tags
from dbt_graft.catalog.label_rules import ListedLabels, listed_labels
from dbt_graft.catalog.neighbourhood import full_graph
from dbt_graft.catalog.page import Page
from dbt_graft.catalog.picture import fits, picture
from dbt_graft.catalog.platform_pages import PlatformDatasets, platforms
from dbt_graft.catalog.schema_picture import schema_picture

# A graph of this many boxes can still be read by scrolling down.
MAX_BOXES = 300
# Findings and changes of one kind on this page; the others are on pages of their own.
_LISTED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage(Page):
    """The context of `home.html.j2`.

    Attributes:
        task_count: Tasks and consumers.
        column_count: Columns of all datasets.
        edge_count: Edges between datasets.
        collected_at: When logs were last collected; None where that is not known.
        last_run_at: When the newest run started or ended.
        graph: SVG of the full lineage, or of its schemas where it would be too large.
        graph_of_schemas: Which of the two.
        attention: Each list with the first of its findings.
        changed: The last build that changed something; None if there was none.
        pages: The paths that have a page, also of what is gone.
        platforms: Those with most datasets first.
    """

    template: ClassVar[str] = "home"

    index: Index
    task_count: int
    column_count: int
    edge_count: int
    collected_at: datetime | None
    last_run_at: datetime | None
    graph: Markup
    graph_of_schemas: bool
    attention: Sequence[AttentionList]
    ratios: Sequence[HealthRatio]
    changed: ShownBuild | None
    pages: Collection[str]
    platforms: Sequence[PlatformDatasets]
    owners: ListedLabels
    tags: ListedLabels


def home_page(
    index: Index,
    health: HealthSummary,
    title: str,
    collected_at: datetime | None,
    history: BuildHistory = NO_BUILDS,
    pages: Collection[str] = (),
    hidden_labels: Sequence[str] = (),
) -> HomePage:
    """The home page.

    Args:
        pages: The paths that have a page, also of what is gone.
        hidden_labels: Patterns of tags and owners that are not shown.
    """
    graph, of_schemas = _graph(index)
    newest = history.builds[0] if history.builds else None
    return HomePage(
        path="",
        title=title,
        index=index,
        task_count=len(index.task_names()),
        column_count=sum(len(index.columns(dataset)) for dataset in index.datasets),
        edge_count=len(index.graph.edges),
        collected_at=collected_at,
        last_run_at=_last_run_at(index),
        graph=graph,
        graph_of_schemas=of_schemas,
        attention=attention_lists(index, health, _LISTED),
        ratios=list(health_ratios(index)),
        changed=shown_build(newest, _LISTED) if newest and newest.before else None,
        pages=pages,
        platforms=platforms(index),
        owners=listed_labels(owners(index), hidden_labels),
        tags=listed_labels(tags(index), hidden_labels),
    )


def _graph(index: Index) -> tuple[Markup, bool]:
    """The full lineage as SVG where the page has room for it, else its schemas; and if it is so."""
    if len(index.datasets) + len(index.task_names()) <= MAX_BOXES:
        graph = full_graph(index)
        if fits(graph):
            return picture(graph, ""), False
    return schema_picture(index), True


def _last_run_at(index: Index) -> datetime | None:
    runs = [run for task in index.lineage.tasks.values() for run in task.runs]
    return max((t for run in runs for t in (run.started_at, run.ended_at) if t), default=None)
