"""Names of tables as code writes them -> datasets, by the ends of their names.

A path in code is that of a file of a run; its dataset is the folder that logs have for it, see
`lineage.paths`. A part that only a run knows is often a date.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.code import UNKNOWN_PART, TableName, is_path_name
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.paths import dataset_folders, dataset_path, path_dataset

_COUNTED = re.compile(r"~\d+$")  # `#t~2` is `#t` of a run
_A_DATE = "2000-01-01"
_ROOT = re.compile(r"/|\w+:")


class DatasetFinder:
    """Datasets, to be found by the ends of their names."""

    def __init__(self, datasets: Iterable[DatasetId]) -> None:
        self._by_last: dict[str, dict[DatasetId, None]] = defaultdict(dict)
        for dataset in sorted({*datasets}):
            if dataset != MEMORY and dataset.parts:
                self._by_last[_folded(dataset)[-1]][dataset] = None

    def find(self, table: TableName) -> Sequence[DatasetId]:
        """The datasets that a table of the code may be: one, where its name is clear."""
        if is_path_name(table):
            return next(filter(None, map(self._find_path, folder_paths(table[0]))), [])
        parts = table_key(table)
        if not parts:
            return []
        matches = [
            dataset
            for dataset in self._by_last.get(parts[-1], ())
            if not dataset.is_path and _folded(dataset)[-len(parts) :] == parts
        ]
        if len(matches) > 1 and len(parts) == 1:
            # A table without a schema is one of the login's own, which mostly is dbo.
            matches = [m for m in matches if _folded(m)[-2:-1] == ("dbo",)] or matches
        return matches

    def _find_path(self, path: str) -> list[DatasetId]:
        pattern = path_pattern(path)
        last = path.rpartition("/")[2].rpartition(UNKNOWN_PART)[2]
        matches = [
            dataset
            for dataset in self._by_last.get(last.casefold(), ())
            if dataset.is_path and pattern.fullmatch(dataset_path(dataset))
        ]
        return [m for m in matches if dataset_path(m) == path] or matches


def path_pattern(path: str) -> re.Pattern[str]:
    """The paths of datasets that a path in code may be: all of its end, of an address that one."""
    start = ".*" if path.startswith("/") else "(?:.*/)?"
    if "://" in path.partition(UNKNOWN_PART)[0]:
        start = ""
    return re.compile(start + ".*".join(map(re.escape, path.split(UNKNOWN_PART))), re.IGNORECASE)


def folder_paths(path: str) -> Iterator[str]:
    """The paths that logs may have for one, first that where no unknown part is a date."""
    names = [name for name in path.split("/") if name not in (".", "..")]
    start = next((at for at, name in enumerate(names) if name and UNKNOWN_PART not in name), 0)
    dated = [*names[:start], *(name.replace(UNKNOWN_PART, _A_DATE) for name in names[start:])]
    for text in dict.fromkeys(("/".join(names), "/".join(dated))):
        for folder in dataset_folders([text]):
            yield dataset_path(path_dataset(folder)) if _ROOT.match(folder) else folder


def _folded(dataset: DatasetId) -> tuple[str, ...]:
    parts = tuple(part.casefold() for part in dataset.parts)
    return (*parts[:-1], _COUNTED.sub("", parts[-1]))


def table_key(table: TableName) -> tuple[str, ...]:
    """The parts of a name, folded."""
    return tuple(part.casefold() for part in table if part)
