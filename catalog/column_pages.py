"""The columns that several datasets have, by name: one search result for all of them.

Names that begin alike share a page, since a page for each name would be more pages than datasets.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import ClassVar

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.urls import column_anchor, columns_path

# Datasets listed for a column, at most and at least, and on a page.
_MAX_LISTED, _LEAST, _MAX_PAGE = 100, 5, 3000
# Names listed on the page of all.
_MAX_NAMES = 200


@frozen
class SharedColumn:
    """A column that several datasets have; `omitted` more of them are not listed.

    Attributes:
        path: The page that lists it.
        columns: The datasets, sorted, each with the column as it is spelled there and its type.
    """

    name: str
    path: str
    anchor: str
    columns: Sequence[tuple[DatasetId, str, str]]
    omitted: int

    @property
    def datasets(self) -> int:
        """The number of datasets that have it."""
        return len(self.columns) + self.omitted


@frozen(kw_only=True)
class ColumnsPage(Page):
    """The context of `columns.html.j2`: the shared columns whose names begin alike, sorted."""

    template: ClassVar[str] = "columns"

    index: Index
    columns: Sequence[SharedColumn]


@frozen
class ColumnFolder:
    """A page of shared columns, on the page of all of them."""

    name: str
    path: str
    columns: int


@frozen(kw_only=True)
class ColumnListPage(Page):
    """The context of `column_list.html.j2`; `columns` are those of the most datasets."""

    template: ClassVar[str] = "column_list"

    folders: Sequence[ColumnFolder]
    columns: Sequence[SharedColumn]


def column_pages(index: Index) -> Iterator[Page]:
    """The page of all shared columns, and those that list them by the beginning of their name."""
    columns_by_key: dict[str, list[tuple[DatasetId, str, str]]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for dataset in index.datasets:
        columns = index.columns(dataset)
        counts.update(columns.keys())
        for key, column in columns.items():
            if counts[key] <= _MAX_LISTED:
                columns_by_key[key].append((dataset, column.name, column.type))
    pages = group_by_key(
        (columns_path(key), key) for key in sorted(columns_by_key) if counts[key] > 1
    )
    shared: list[SharedColumn] = []
    for path, keys in sorted(pages.items()):
        most = max(_LEAST, min(_MAX_LISTED, _MAX_PAGE // len(keys)))
        alike = [_shared_column(key, path, columns_by_key[key][:most], counts[key]) for key in keys]
        shared += alike
        yield ColumnsPage(
            path=path, title=f"Columns: {_beginning(path)}…", index=index, columns=alike
        )
    yield ColumnListPage(
        path="columns/",
        title="Columns",
        folders=[
            ColumnFolder(f"{_beginning(path)}…", path, len(keys))
            for path, keys in sorted(pages.items())
        ],
        columns=sorted(shared, key=lambda column: (-column.datasets, column.name))[:_MAX_NAMES],
    )


def _shared_column(
    key: str, path: str, listed: Sequence[tuple[DatasetId, str, str]], datasets: int
) -> SharedColumn:
    _, name, _ = listed[0]
    return SharedColumn(name, path, column_anchor(key), listed, datasets - len(listed))


def _beginning(path: str) -> str:
    return path.split("/")[1]
