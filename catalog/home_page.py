"""The home page: figures, the lineage graph, what needs attention and what changed, and lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import ClassVar

from markupsafe import Markup

from dbt_graft.analysis.history.changes import NO_BUILDS, BuildHistory
from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog.attention import AttentionList, HealthRatio, first_items, health_ratios
from dbt_graft.catalog.changes_page import ShownBuild, shown_build
from dbt_graft.catalog.folder_pages import PlatformDatasets, breadcrumbs, folder_name, platforms
from dbt_graft.catalog.formatting import platform
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label import LabelParts
from dbt_graft.catalog.label_pages import ListedLabels, listed_labels, owners, tags
from dbt_graft.catalog.neighbourhood import Arrow, Box, BoxShape, Neighbourhood, full_graph
from dbt_graft.catalog.page import Breadcrumb, Page
from dbt_graft.catalog.picture import fits, picture
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

# A graph of this many boxes, some three screens high, can still be read by scrolling down.
_MOST_BOXES, _HEIGHT = 300, 2_700
# Findings and changes of one kind on this page; the others are on pages of their own.
_LISTED = 30
MAX_SCHEMAS = 40


@frozen(kw_only=True)
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
    findings: Sequence[AttentionList],
    title: str,
    collected_at: datetime | None,
    history: BuildHistory = NO_BUILDS,
    pages: Collection[str] = (),
    hidden_labels: Sequence[str] = (),
) -> HomePage:
    """The home page.

    Args:
        findings: All that needs attention.
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
        attention=first_items(findings, _LISTED),
        ratios=health_ratios(index),
        changed=shown_build(newest, _LISTED) if newest and newest.before else None,
        pages=pages,
        platforms=platforms(index),
        owners=listed_labels(owners(index), hidden_labels),
        tags=listed_labels(tags(index), hidden_labels),
    )


def _graph(index: Index) -> tuple[Markup, bool]:
    """The full lineage as SVG where the page has room for it, else its schemas; and if it is so.

    A long list of boxes is better than none, where all are in one schema.
    """
    is_small = len(index.datasets) + len(index.task_names()) <= _MOST_BOXES
    graph = full_graph(index) if is_small else None
    if graph and fits(graph, _HEIGHT):
        return picture(graph, ""), False
    if (schemas := schema_picture(index)) or graph is None or not fits(graph):
        return schemas, True
    return picture(graph, ""), False


def _last_run_at(index: Index) -> datetime | None:
    runs = [run for task in index.lineage.tasks.values() for run in task.runs]
    return newest_of(at for run in runs for at in (run.started_at, run.ended_at))


def schema_picture(index: Index) -> Markup:
    """Schemas as SVG; databases or namespaces where those are too many for the page's width.

    Empty where all datasets are in one of them.
    """
    drawn = [graph for graph in _floors(index) if graph.arrows]
    fitting = (graph for graph in drawn if len(graph.boxes) <= MAX_SCHEMAS and fits(graph))
    chosen = next(fitting, None)
    return picture(chosen, "") if chosen else Markup()


def _floors(index: Index) -> Iterator[Neighbourhood]:
    """The lineage by the folders right above datasets, then by those above them, up to the top."""
    trails = {dataset: breadcrumbs(dataset)[1:-1] for dataset in index.datasets}
    deepest = max(map(len, trails.values()), default=0)
    for depth in range(deepest, 0, -1):
        yield _layers(index, {dataset: trail[:depth] for dataset, trail in trails.items()})


def _layers(index: Index, trails: dict[DatasetId, list[Breadcrumb]]) -> Neighbourhood:
    counts = Counter(trail[-1].path for trail in trails.values())
    boxes = {}
    for dataset, trail in trails.items():
        if trail[-1].path not in boxes:
            boxes[trail[-1].path] = _schema_box(dataset, trail, counts[trail[-1].path])
    pairs = ((trails[a][-1].path, trails[b][-1].path) for a, b in index.graph.edges)
    arrows = dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])
    two_way = {pair for pair in arrows if pair[::-1] in arrows and pair[::-1] < pair}
    return Neighbourhood(
        None,
        tuple(boxes.values()),
        tuple(
            Arrow(source, target, both=(target, source) in two_way)
            for source, target in arrows
            if (source, target) not in two_way
        ),
    )


def _schema_box(dataset: DatasetId, trail: Sequence[Breadcrumb], datasets: int) -> Box:
    path, name = trail[-1].path, folder_name(dataset, len(trail))
    number, product = count(datasets, "dataset"), platform(dataset)
    full_name = " / ".join(crumb.name for crumb in trail)
    above = trail[-2].name if len(trail) > 2 else ""
    return Box(
        key=path,
        name=name,
        note=f"{product} · {number}",
        shape=BoxShape.FOLDER,
        path=f"{path}index.html",
        label=LabelParts(name, tuple(filter(None, (number, product, above))), full_name),
        full_name=full_name,
    )
