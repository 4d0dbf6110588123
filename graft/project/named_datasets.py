"""Datasets and columns by the names that people write: identities, or the end of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId

# Temporary tables and table variables of SQL Server, which are numbered in the store.
_TEMPORARY = ("#", "@")
_CLOSE = 3


def shown_name(dataset: DatasetId) -> str:
    """A dataset's name for people; a temporary table's is that of its statements."""
    return dataset.short if dataset.name.startswith(_TEMPORARY) else str(dataset)


def datasets_named(name: str, names: Mapping[DatasetId, DatasetId]) -> list[DatasetId]:
    """The datasets of this identity in any case; else those whose identity ends with the name.

    Args:
        names: Names of datasets -> the dataset that has it, itself or under another name.
    """
    wanted = name.casefold()
    ends = (f".{wanted}", f"/{wanted}")
    matches: dict[DatasetId, None] = {}
    for spelling, dataset in names.items():
        if str(spelling).casefold() == wanted:
            return [dataset]
        shown = shown_name(spelling).casefold()
        if shown == wanted or shown.endswith(ends):
            matches[dataset] = None
    return list(matches)


def columns_named(
    name: str, names: Mapping[DatasetId, DatasetId], graph: ColumnGraph
) -> list[ColumnId]:
    """The columns that a name may be: `raw.orders.amount`, `orders.amount`, a field `a.b` too."""
    columns = []
    at = name.rfind(".")
    while at > 0:
        for dataset in datasets_named(name[:at], names):
            column = graph.find(dataset, name[at + 1 :])
            if column:
                columns.append(column)
        at = name.rfind(".", 0, at)
    return columns


def close_to(name: str, datasets: Iterable[DatasetId]) -> list[str]:
    """Names of datasets that are spelled nearly so in any case, or else contain it."""
    spelled: dict[str, str] = {}
    for dataset in datasets:
        shown = shown_name(dataset)
        for text in (dataset.short, dataset.parts[-1]) if dataset.parts else ():
            spelled[text.casefold()] = shown
    wanted = name.casefold()
    close = [spelled[text] for text in difflib.get_close_matches(wanted, spelled, 5)]
    close = close or sorted(text for text in spelled.values() if wanted in text.casefold())
    return list(dict.fromkeys(close))[:_CLOSE]
