"""Names of tables as code writes them -> datasets, by the ends of their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.code import TableName
from dbt_graft.lineage.dataset import DatasetId

_COUNTED = re.compile(r"~\d+$")  # `#t~2` is `#t` of a run
_UNKNOWN_START = re.compile(r"^.*graft_unknown_part/?")


class DatasetFinder:
    """Datasets, to be found by the ends of their names."""

    def __init__(self, datasets: Iterable[DatasetId]) -> None:
        self._by_last: dict[str, dict[DatasetId, None]] = defaultdict(dict)
        for dataset in sorted({*datasets}):
            if dataset != MEMORY and dataset.parts:
                self._by_last[_folded(dataset)[-1]][dataset] = None

    def find(self, table: TableName) -> Sequence[DatasetId]:
        """The datasets that a table of the code may be: one, where its name is clear."""
        parts = table_key(table)
        if not parts:
            return []
        matches = [
            dataset
            for dataset in self._by_last.get(parts[-1], ())
            if dataset.is_path == _is_path(table) and _folded(dataset)[-len(parts) :] == parts
        ]
        if len(matches) > 1 and len(parts) == 1:
            # A table without a schema is one of the login's own, which mostly is dbo.
            matches = [m for m in matches if _folded(m)[-2:-1] == ("dbo",)] or matches
        return matches


def _folded(dataset: DatasetId) -> tuple[str, ...]:
    parts = tuple(part.casefold() for part in dataset.parts)
    return (*parts[:-1], _COUNTED.sub("", parts[-1]))


def _is_path(table: TableName) -> bool:
    return len(table) == 1 and "/" in table[0]


def table_key(table: TableName) -> tuple[str, ...]:
    """The parts of a name that decide, folded; of a path those behind what a run puts before it."""
    if _is_path(table):
        path = _UNKNOWN_START.sub("", table[0]).partition("://")
        names = (path[2] or path[0]).split("/")
        return tuple(part.casefold() for part in names if part not in ("", ".", "..", "*"))
    return tuple(part.casefold() for part in table if part)
