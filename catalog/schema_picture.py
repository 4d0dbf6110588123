"""Layers of a large lineage: its schemas as boxes, with an arrow where data goes between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from dbt_graft.catalog.folder_pages import breadcrumbs
from dbt_graft.catalog.formatting import count, platform
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label import LabelParts
from dbt_graft.catalog.neighbourhood import Arrow, Box, BoxKey, BoxKind, BoxShape, Neighbourhood
from dbt_graft.catalog.page import Breadcrumb
from dbt_graft.catalog.picture import fits, picture
from dbt_graft.lineage.dataset import DatasetId

MAX_SCHEMAS = 40


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
            boxes[trail[-1].path] = _box(dataset, trail, counts[trail[-1].path])
    pairs = ((trails[a][-1].path, trails[b][-1].path) for a, b in index.graph.edges)
    arrows = dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])
    two_way = {pair for pair in arrows if pair[::-1] in arrows and pair[::-1] < pair}
    return Neighbourhood(
        None,
        tuple(boxes.values()),
        tuple(
            Arrow(_key(source), _key(target), both=(target, source) in two_way)
            for source, target in arrows
            if (source, target) not in two_way
        ),
    )


def _box(dataset: DatasetId, trail: Sequence[Breadcrumb], datasets: int) -> Box:
    name, path = trail[-1].name, trail[-1].path
    number, product = count(datasets, "dataset"), platform(dataset)
    full_name = " / ".join(crumb.name for crumb in trail)
    above = trail[-2].name if len(trail) > 2 else ""
    return Box(
        key=_key(path),
        name=name,
        note=f"{product} · {number}",
        shape=BoxShape.FOLDER,
        path=f"{path}index.html",
        label=LabelParts(name, tuple(filter(None, (number, product, above))), full_name),
        full_name=full_name,
    )


def _key(path: str) -> BoxKey:
    return BoxKey(BoxKind.FOLDER, path)
