"""The folders above datasets: `datasets/`, its namespaces, databases and schemas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import MAX_ROWS, Breadcrumb, Page
from dbt_graft.catalog.rows import DatasetRow, Rows
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import dataset_path


@dataclass(frozen=True, slots=True)
class Subfolder:
    """A folder inside another, with the number of datasets in it and below."""

    name: str
    path: str
    datasets: int


@dataclass(frozen=True, slots=True, kw_only=True)
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
    return [Breadcrumb(name, "/".join(steps[: at + 1]) + "/") for at, name in enumerate(names)]


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
