"""The explorer's opening view, and its page: without script the list of entry points.

The view has all boxes of a small graph, else its schemas in layers. A schema is the folder that its
datasets' pages are in. Where there are too many, the smallest are merged into the folder above.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog.explorer.boxes import dataset_id
from dbt_graft.catalog.folder_pages import folder_name
from dbt_graft.catalog.formatting import platform
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label import LabelParts, wanted_width
from dbt_graft.catalog.layout import Sizes, layout
from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.page import Page
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

# Boxes of a graph that is shown as it is, else folders in the opening view, and links between them.
SMALL, _MOST_FOLDERS, _MOST_LINKS = 60, (100, 50, 25), 600
# Pixels: of a higher picture a screen shows one layer, and not what it leads to.
_HIGHEST = 1400
_LONGEST = 200
# No page limits the explorer's width; boxes are as wide as their labels up to a point.
SIZES = Sizes(widest=420, room=1e9, across=56)
# Pixels beside a label, as in the pictures.
_BESIDE = 48
_MOST = 24


@frozen
class Folder:
    """A folder of the opening view, in its place.

    Attributes:
        id: The address of its page without `datasets/`, ending in a slash; empty for the top.
        datasets: Those in it that are in no other folder of the view.
    """

    id: str
    name: str
    platform: str
    datasets: int
    x: float = 0
    y: float = 0
    width: float = 0

    @property
    def note(self) -> str:
        """The small line of its box."""
        return f"{self.platform} · {count(self.datasets, 'dataset')}".removeprefix(" · ")


@frozen
class Opening:
    """The opening view: ids of boxes, or folders with the number of flows between them."""

    boxes: Sequence[str]
    folders: Sequence[Folder]
    links: Mapping[tuple[str, str], int]

    def data(self) -> dict[str, object]:
        """The view as JSON; links by the numbers of their folders."""
        number = {folder.id: at for at, folder in enumerate(self.folders)}
        return {
            "boxes": self.boxes,
            "folders": [
                [
                    folder.id,
                    folder.name,
                    folder.note,
                    folder.datasets,
                    folder.x,
                    folder.y,
                    folder.width,
                ]
                for folder in self.folders
            ],
            "links": [[number[a], number[b], flows] for (a, b), flows in self.links.items()],
        }


def opening(index: Index, boxes: Iterable[str]) -> Opening:
    """The opening view of a graph.

    Args:
        boxes: The ids of all boxes.
    """
    box_ids = list(boxes)
    shown = box_ids if len(box_ids) <= SMALL else ()
    view = Opening(shown, (), {})
    for most in _MOST_FOLDERS:
        members = _folders([dataset_id(dataset) for dataset in index.datasets], most)
        view = Opening(shown, *_draw(index, members))
        if max((folder.y for folder in view.folders), default=0) <= _HIGHEST:
            break
    return view


def _draw(
    index: Index, members: Mapping[str, str]
) -> tuple[list[Folder], dict[tuple[str, str], int]]:
    """The folders of datasets in their places, and the links between them."""
    flows: Counter[tuple[str, str]] = Counter()
    for dataset in index.datasets:
        target = members[dataset_id(dataset)]
        for source in {flow.source for flow in index.flows_to.get(dataset, ())}:
            if (ends := (members[dataset_id(source)], target))[0] != target:
                flows[ends] += 1
    strongest = sorted(flows.items(), key=lambda item: (-item[1], item[0]))[:_MOST_LINKS]
    links = dict(sorted(strongest))
    return _place_folders(_name_folders(index, members), links), links


def _folders(ids: Sequence[str], most: int) -> dict[str, str]:
    """For each dataset the folder that it is shown in."""
    inside = group_by_key((_parent_folder(id_), id_) for id_ in ids)
    smallest = [(len(members), -folder.count("/"), folder) for folder, members in inside.items()]
    heapq.heapify(smallest)
    while len(inside) > most:
        size, _, folder = heapq.heappop(smallest)
        if size != len(inside.get(folder, ())) or not folder:
            continue  # it has grown, and is further on; the top has nothing above
        above = _parent_folder(folder.rstrip("/"))
        inside.setdefault(above, []).extend(inside.pop(folder))
        heapq.heappush(smallest, (len(inside[above]), -above.count("/"), above))
    return {id_: folder for folder, members in inside.items() for id_ in members}


def _parent_folder(id_: str) -> str:
    folder, slash, _ = id_.rpartition("/")
    return folder + slash


def _name_folders(index: Index, members: Mapping[str, str]) -> list[Folder]:
    sizes = Counter(members.values())
    named: dict[str, Folder] = {}
    for dataset in index.datasets:
        id_ = members[dataset_id(dataset)]
        if id_ not in named:
            product = platform(dataset) if id_ else ""
            name = printable(folder_name(dataset, id_.count("/")))[:_LONGEST]
            named[id_] = Folder(id_, name, product, sizes[id_])
    return [named[id_] for id_ in sorted(named)]


def _place_folders(folders: Sequence[Folder], links: Iterable[tuple[str, str]]) -> list[Folder]:
    labels = {folder.id: LabelParts(folder.name, (folder.note,), folder.id) for folder in folders}
    wanted = {id_: wanted_width(label) + _BESIDE for id_, label in labels.items()}
    placement = layout([folder.id for folder in folders], links, SIZES, wanted)
    return [
        Folder(
            *(folder.id, folder.name, folder.platform, folder.datasets),
            *(
                placement.corners[folder.id].x,
                placement.corners[folder.id].y,
                placement.widths[folder.id],
            ),
        )
        for folder in folders
    ]


@frozen(kw_only=True)
class ExplorePage(Page):
    """The context of `explore.html.j2`.

    Attributes:
        sources: The datasets that most others are made from, that nothing is known to make.
        hubs: The datasets with the most neighbours.
        ends: Consumers.
    """

    template: ClassVar[str] = "explore"

    index: Index
    opening: Opening
    sources: Sequence[DatasetId]
    hubs: Sequence[DatasetId]
    ends: Sequence[str]


def explore_page(index: Index, opening: Opening) -> ExplorePage:
    """The page of the explorer."""

    def count_targets(dataset: DatasetId) -> int:
        return len({flow.target for flow in index.flows_from.get(dataset, ())})

    def count_neighbours(dataset: DatasetId) -> int:
        return count_targets(dataset) + len(
            {flow.source for flow in index.flows_to.get(dataset, ())}
        )

    sources = [
        dataset
        for dataset in index.datasets
        if count_targets(dataset) and dataset not in index.flows_to
    ]
    inner = [
        dataset
        for dataset in index.datasets
        if index.flows_to.get(dataset) and count_targets(dataset)
    ]
    return ExplorePage(
        path="explore/",
        title="Explore",
        index=index,
        opening=opening,
        sources=sorted(sources, key=lambda dataset: (-count_targets(dataset), dataset))[:_MOST],
        hubs=sorted(inner, key=lambda dataset: (-count_neighbours(dataset), dataset))[:_MOST],
        ends=sorted(index.consumers)[:_MOST],
    )
