"""Patterns of column names: which of many name a column."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import translate

from dbt_graft.lineage.dataset import DatasetId

_WILD = re.compile(r"[*?\[\]]")


class ColumnRules:
    """Patterns of `<dataset>.<column>`, with and without the namespace, compared without case.

    Most of them end in the name of a column: they are looked up by it.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._by_end: dict[str, list[tuple[int, re.Pattern[str]]]] = defaultdict(list)
        for number, pattern in enumerate(patterns):
            folded = pattern.casefold()
            _, dot, end = folded.rpartition(".")
            key = end if dot and not _WILD.search(end) else ""
            self._by_end[key].append((number, re.compile(translate(folded))))

    def matching(self, dataset: DatasetId, column: str) -> set[int]:
        """The numbers of the patterns that name a column."""
        name = f"{dataset.name}.{column}".casefold()
        ends = {"", name.rpartition(".")[2]}
        rules = [rule for end in ends for rule in self._by_end.get(end, ())]
        if not rules:
            return set()
        names = (name, f"{dataset.namespace}/{name}".casefold())
        return {number for number, pattern in rules if any(map(pattern.fullmatch, names))}
