"""Changes from build to build: the names that this one publishes, and the page of the last ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

import orjson

from dbt_graft.analysis.history.change_json import build_json
from dbt_graft.analysis.history.changes import (
    Build,
    BuildHistory,
    Change,
    ChangeKind,
    PublishedDataset,
    PublishedNames,
    select_changes,
)
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.urls import dataset_path, task_path

# Changes of one kind that are listed: of the newest build, and of each one before it.
_SHOWN, _SHOWN_BEFORE = 500, 50


@frozen
class ChangeList:
    """The changes of one kind in a build; `total` counts those too that are not shown."""

    kind: ChangeKind
    title: str
    changes: Sequence[Change]
    total: int


@frozen
class ShownBuild:
    """A build with its changes by kind; `anchor` is its place on the page of changes."""

    build: Build
    anchor: str
    lists: Sequence[ChangeList]


@frozen(kw_only=True)
class ChangesPage(Page):
    """The context of `changes.html.j2`.

    Attributes:
        builds: Those that changed something, newest first.
        pages: The paths that have a page, also of what is gone.
    """

    template: ClassVar[str] = "changes"
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    builds: Sequence[ShownBuild]
    pages: Collection[str]


def changes_page(index: Index, history: BuildHistory, pages: Collection[str]) -> ChangesPage:
    """The page of the last builds and what each changed."""
    builds = [build for build in history.builds if build.before]
    return ChangesPage(
        path="changes/",
        title="What changed",
        index=index,
        builds=[
            shown_build(build, _SHOWN_BEFORE if at else _SHOWN) for at, build in enumerate(builds)
        ],
        pages=pages,
    )


def shown_build(build: Build, limit: int) -> ShownBuild:
    """A build with as many changes of each kind as a page shows."""
    lists = []
    for kind, total in build.counts.items():
        changes = select_changes(build.changes, kind)[:limit]
        lists.append(ChangeList(kind, kind.heading, changes, total))
    return ShownBuild(build, f"build-{build.number}", lists)


def changes_json(history: BuildHistory) -> bytes:
    """The last builds and their changes, for scripts; see `build_json`."""
    return orjson.dumps({"builds": [build_json(build) for build in history.builds]})


def published_names(index: Index) -> PublishedNames:
    """All names and edges of a site, which the next build is compared with."""
    return PublishedNames(
        datasets=tuple(
            PublishedDataset(
                dataset, index.role(dataset) or "", tuple(index.columns(dataset).values())
            )
            for dataset in index.datasets
        ),
        tasks=tuple(index.task_names()),
        edges=(
            *index.graph.edges,
            *(
                (dataset, name)
                for name, consumer in sorted(index.consumers.items())
                for dataset in consumer.reads
            ),
        ),
    )


def renamed_datasets(index: Index, moved: Mapping[str, str]) -> dict[DatasetId, DatasetId]:
    """Former name -> the present one.

    Args:
        moved: Former namespace -> the one that its datasets have now.
    """
    renames = {
        DatasetId(former, dataset.name): dataset
        for former, now in moved.items()
        for dataset in index.datasets
        if dataset.namespace == now
    }
    for dataset, names in index.lineage.names.former.items():
        renames |= dict.fromkeys(names, dataset)
    return renames


def present_pages(index: Index) -> Iterator[str]:
    """The paths of all datasets and tasks."""
    yield from map(dataset_path, index.datasets)
    yield from map(task_path, index.task_names())
