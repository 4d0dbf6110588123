"""Places of datasets: the folders above them, and the platforms that hold them.

Folders are `datasets/`, its namespaces, databases and schemas; each has a page, and so has each
platform.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

from dbt_graft.catalog.formatting import platform, platform_scheme
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import MAX_ROWS, Breadcrumb, Page
from dbt_graft.catalog.rows import DatasetRow, Rows
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.urls import dataset_path, platform_path

# More folders than this are shown by their namespace.
_MAX_FOLDERS = 60


@frozen
class Subfolder:
    """A folder inside another, with the number of datasets in it and below."""

    name: str
    path: str
    datasets: int


@frozen(kw_only=True)
class FolderPage(Page):
    """The context of `folder.html.j2`.

    Attributes:
        datasets: Those in the folder and below; only those in it where that would be too many.
    """

    template: ClassVar[str] = "folder"

    breadcrumbs: Sequence[Breadcrumb]
    folders: Sequence[Subfolder]
    datasets: Sequence[DatasetRow]


def breadcrumbs(dataset: DatasetId) -> list[Breadcrumb]:
    """Each folder of a dataset's address with its real name, then the dataset itself."""
    steps = dataset_path(dataset).rstrip("/").split("/")
    names = ("Datasets", dataset.namespace, *(dataset.parts or (dataset.name,)))
    namespace, name = dataset.key
    if "/" in name and not dataset.is_path:
        # The namespace is a file, such as DuckDB's: the address goes on in its folders.
        names = ("Datasets", namespace, *filter(None, name.split("/")))
    return [Breadcrumb(name, "/".join(steps[: at + 1]) + "/") for at, name in enumerate(names)]


def folder_name(dataset: DatasetId, depth: int) -> str:
    """A short name of a folder above a dataset: its last two parts, without the namespace.

    Args:
        depth: The number of the folder's parts, of which the first is the namespace.
    """
    names = [crumb.name for crumb in breadcrumbs(dataset)][1 : depth + 1]
    if len(names) < 2:
        return names[0] if names else "Datasets"
    return ("/" if "/" in dataset.key[1] else ".").join(names[1:][-2:])


def folder_pages(index: Index, rows: Rows) -> Iterator[FolderPage]:
    """A page for each folder above a dataset's page, unless a dataset itself has that address."""
    inside: dict[str, list[DatasetId]] = {"datasets/": []}
    direct: dict[str, list[DatasetId]] = defaultdict(list)
    folders: dict[str, set[str]] = defaultdict(set)
    names = {"datasets/": "Datasets"}
    dataset_paths = set()
    for dataset in index.datasets:
        crumbs = breadcrumbs(dataset)
        dataset_paths.add(crumbs[-1].path)
        direct[crumbs[-2].path].append(dataset)
        for above, below in pairwise(crumbs):
            names.setdefault(above.path, above.name)
            inside.setdefault(above.path, []).append(dataset)
            if below is not crumbs[-1]:
                folders[above.path].add(below.path)
    for path in sorted(inside.keys() - dataset_paths):
        steps = path.rstrip("/").split("/")
        parents = ["/".join(steps[: at + 1]) + "/" for at in range(len(steps) - 1)]
        yield FolderPage(
            path=path,
            title=names[path],
            breadcrumbs=[Breadcrumb(names[parent], parent) for parent in parents],
            folders=[
                Subfolder(names[below], below, len(inside[below]))
                for below in sorted(folders[path])
            ],
            datasets=rows.datasets(inside[path] if len(inside[path]) <= MAX_ROWS else direct[path]),
        )


@frozen
class PlatformDatasets:
    """A product, with its datasets and the namespaces that they are in."""

    name: str
    path: str
    datasets: Sequence[DatasetId]
    namespaces: Sequence[str]


@frozen(kw_only=True)
class PlatformListPage(Page):
    """The context of `platforms.html.j2`."""

    template: ClassVar[str] = "platforms"

    platforms: Sequence[PlatformDatasets]


@frozen(kw_only=True)
class PlatformPage(Page):
    """The context of `platform.html.j2`; `folders` are its schemas, or its namespaces."""

    template: ClassVar[str] = "platform"

    parent: Breadcrumb
    platform: PlatformDatasets
    folders: Sequence[Subfolder]
    datasets: Sequence[DatasetRow]


def platforms(index: Index) -> list[PlatformDatasets]:
    """All platforms, those with most datasets first."""
    datasets_by_path = group_by_key(
        (platform_path(platform_scheme(dataset)), dataset) for dataset in index.datasets
    )
    groups = [
        PlatformDatasets(
            platform(datasets[0]),
            path,
            datasets,
            list(dict.fromkeys(dataset.namespace for dataset in datasets)),
        )
        for path, datasets in datasets_by_path.items()
    ]
    return sorted(groups, key=lambda group: (-len(group.datasets), group.name))


def platform_pages(index: Index, rows: Rows) -> Iterator[Page]:
    """The list of platforms, and the page of each one."""
    groups = platforms(index)
    parent = Breadcrumb("Platforms", "platforms/")
    yield PlatformListPage(path=parent.path, title=parent.name, platforms=groups)
    for group in groups:
        yield PlatformPage(
            path=group.path,
            title=group.name,
            parent=parent,
            platform=group,
            folders=_folders(group),
            datasets=rows.datasets(group.datasets),
        )


def _folders(group: PlatformDatasets) -> list[Subfolder]:
    """The folders right above its datasets, or those of its namespaces where they are too many."""
    folders: Counter[tuple[str, str]] = Counter()
    namespaces: Counter[tuple[str, str]] = Counter()
    for dataset in group.datasets:
        _, namespace, *above = breadcrumbs(dataset)[:-1]
        shown = [namespace, *above] if len(group.namespaces) > 1 or not above else above
        folders[" / ".join(crumb.name for crumb in shown), shown[-1].path] += 1
        namespaces[namespace.name, namespace.path] += 1
    chosen = folders if len(folders) <= _MAX_FOLDERS else namespaces
    return [Subfolder(name, path, count) for (name, path), count in sorted(chosen.items())]
