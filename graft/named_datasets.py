"""Datasets and columns by the names that people write: identities, or the end of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from dbt_graft.lineage.column_graph import ColumnGraph
from dbt_graft.lineage.column_path import ColumnId
from dbt_graft.lineage.dataset import DatasetId


def datasets_named(name: str, names: Mapping[DatasetId, DatasetId]) -> list[DatasetId]:
    """The datasets of this identity in any case; else those whose identity ends with the name.

    Args:
        names: Names of datasets -> the dataset that has it, itself or under another name.
    """
    wanted = name.casefold()
    ends = (f".{wanted}", f"/{wanted}")
    found: dict[DatasetId, None] = {}
    for one, dataset in names.items():
        text = str(one).casefold()
        if text == wanted:
            return [dataset]
        if text.endswith(ends):
            found[dataset] = None
    return list(found)


def columns_named(
    name: str, names: Mapping[DatasetId, DatasetId], graph: ColumnGraph
) -> list[ColumnId]:
    """The columns that a name may be: `raw.orders.amount`, `orders.amount`, a field `a.b` too."""
    found = []
    at = name.rfind(".")
    while at > 0:
        for dataset in datasets_named(name[:at], names):
            column = graph.find(dataset, name[at + 1 :])
            if column:
                found.append(column)
        at = name.rfind(".", 0, at)
    return found


def close_to(name: str, datasets: Iterable[DatasetId]) -> list[str]:
    """Identities of datasets that are spelled nearly so."""
    spelled: dict[str, str] = {}
    for dataset in datasets:
        spelled |= {dataset.short: str(dataset), dataset.parts[-1]: str(dataset)}
    close = difflib.get_close_matches(name, spelled, 5)
    return list(dict.fromkeys(spelled[text] for text in close))[:3]
