"""The pages that lead to others: home, the indexes, folders of datasets, tags, owners, gaps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from dbt_graft.catalog import words
from dbt_graft.catalog.care import Care
from dbt_graft.catalog.dataset_page import names_on_way
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import everything
from dbt_graft.catalog.page import LONG, Page
from dbt_graft.catalog.picture import picture
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import owner_path, tag_path

# A picture of this many boxes can still be read by scrolling.
MAP_LIMIT = 300


def overview_pages(index: Index, needs: Care, name: str) -> Iterator[Page]:
    """Every page that is neither a dataset's nor a task's."""
    tags, owners = index.tags(), index.owners()
    drawable = len(index.datasets) + len(index.task_names()) <= MAP_LIMIT
    platforms = Counter(words.platform(dataset) for dataset in index.datasets)
    namespaces: dict[str, set[str]] = defaultdict(set)
    for dataset in index.datasets:
        namespaces[words.platform(dataset)].add(names_on_way(dataset)[1][1])
    yield Page(
        "",
        "home",
        name,
        {
            "needs": needs,
            "platforms": [(p, n, sorted(namespaces[p])) for p, n in platforms.most_common()],
            "owners": owners,
            "tags": tags,
            "edges": len(index.graph.edges),
            "latest": _latest(index),
            "map": _map(index, "") if drawable else "",
        },
    )
    yield Page("tasks/", "tasks", "Tasks", {"names": index.task_names()})
    yield Page("gaps/", "gaps", "What could not be read", {"needs": needs})
    for path, title, labels, where in (
        ("tags/", "Tags", tags, tag_path),
        ("owners/", "Owners", owners, owner_path),
    ):
        yield Page(path, "labels", title, {"labels": labels, "where": where})
        for label, (datasets, tasks) in labels.items():
            yield Page(
                where(label),
                "label",
                label,
                {"kind": title, "above": path, "datasets": datasets, "tasks": tasks},
                searched=True,
            )
    yield from _folders(index)


def _map(index: Index, root: str) -> str:
    return picture(everything(index), root)


def _latest(index: Index) -> datetime | None:
    """When the newest run began or ended."""
    runs = [run for task in index.lineage.tasks.values() for run in task.runs]
    return max((t for run in runs for t in (run.started_at, run.ended_at) if t), default=None)


def _folders(index: Index) -> Iterator[Page]:
    """A page for each folder above a dataset's page, unless a dataset itself lives there."""
    inside: dict[str, list[DatasetId]] = {"datasets/": []}
    direct: dict[str, list[DatasetId]] = defaultdict(list)
    folders: dict[str, set[str]] = defaultdict(set)
    names = {"datasets/": "Datasets"}
    pages = set()
    for dataset in index.datasets:
        way = names_on_way(dataset)
        pages.add(way[-1][1])
        direct[way[-2][1]].append(dataset)
        for (name, path), (_, below) in pairwise(way):
            names.setdefault(path, name)
            inside.setdefault(path, []).append(dataset)
            if below != way[-1][1]:
                folders[path].add(below)
    for path in sorted(inside.keys() - pages):
        steps = path.rstrip("/").split("/")
        above = ["/".join(steps[: at + 1]) + "/" for at in range(len(steps) - 1)]
        yield Page(
            path,
            "folder",
            names[path],
            {
                "above": [(names[step], step) for step in above],
                "folders": [
                    (below, names[below], len(inside[below])) for below in sorted(folders[path])
                ],
                "datasets": inside[path] if len(inside[path]) <= LONG else direct[path],
            },
        )
