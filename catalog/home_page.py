"""The home page: figures, the lineage graph, what needs attention, and lists to start from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from markupsafe import Markup

from dbt_graft.catalog import formatting
from dbt_graft.catalog.folder_pages import breadcrumbs
from dbt_graft.catalog.health import HealthSummary
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import Label, owners, tags
from dbt_graft.catalog.neighbourhood import full_graph
from dbt_graft.catalog.page import Page
from dbt_graft.catalog.picture import picture

# A graph of this many boxes can still be read by scrolling.
MAX_BOXES = 300


@dataclass(frozen=True, slots=True)
class PlatformDatasets:
    """A platform, the number of its datasets, and the folder that holds them."""

    name: str
    path: str
    datasets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage(Page):
    """The context of `home.html.j2`.

    Attributes:
        task_count: Tasks and consumers.
        column_count: Columns of all datasets.
        edge_count: Edges between datasets.
        collected_at: When logs were last collected; None where that is not known.
        last_run_at: When the newest run started or ended.
        graph: SVG of the full lineage; empty where it would be too large.
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
    health: HealthSummary
    platforms: Sequence[PlatformDatasets]
    owners: Sequence[Label]
    tags: Sequence[Label]


def home_page(
    index: Index, health: HealthSummary, title: str, collected_at: datetime | None
) -> HomePage:
    """The home page."""
    task_count = len(index.task_names())
    drawable = len(index.datasets) + task_count <= MAX_BOXES
    return HomePage(
        path="",
        title=title,
        index=index,
        task_count=task_count,
        column_count=sum(len(index.columns(dataset)) for dataset in index.datasets),
        edge_count=len(index.graph.edges),
        collected_at=collected_at,
        last_run_at=_last_run_at(index),
        graph=picture(full_graph(index), "") if drawable else Markup(),
        health=health,
        platforms=_platforms(index),
        owners=owners(index),
        tags=tags(index),
    )


def _last_run_at(index: Index) -> datetime | None:
    runs = [run for task in index.lineage.tasks.values() for run in task.runs]
    return max((t for run in runs for t in (run.started_at, run.ended_at) if t), default=None)


def _platforms(index: Index) -> list[PlatformDatasets]:
    """The platforms; one with several namespaces leads to the list of all."""
    folders: dict[str, list[str]] = defaultdict(list)
    for dataset in index.datasets:
        folders[formatting.platform(dataset)].append(breadcrumbs(dataset)[1].path)
    found = [
        PlatformDatasets(name, paths[0] if len(set(paths)) == 1 else "datasets/", len(paths))
        for name, paths in folders.items()
    ]
    return sorted(found, key=lambda platform: -platform.datasets)
