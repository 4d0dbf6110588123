"""Datasets and columns by the names that people write: identities, or the end of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from dbt_graft.lineage.column_graph import ColumnGraph
from dbt_graft.lineage.column_path import ColumnId
from dbt_graft.lineage.dataset import DatasetId


def datasets_named(name: str, datasets: Iterable[DatasetId]) -> list[DatasetId]:
    """The datasets of this identity in any case; else those whose identity ends with the name."""
    wanted = name.casefold()
    ends = (f".{wanted}", f"/{wanted}")
    found = []
    for dataset in datasets:
        text = str(dataset).casefold()
        if text == wanted:
            return [dataset]
        if text.endswith(ends):
            found.append(dataset)
    return found


def columns_named(name: str, datasets: Sequence[DatasetId], graph: ColumnGraph) -> list[ColumnId]:
    """The columns that a name may be: `raw.orders.amount`, `orders.amount`, a field `a.b` too."""
    found = []
    at = name.rfind(".")
    while at > 0:
        for dataset in datasets_named(name[:at], datasets):
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
