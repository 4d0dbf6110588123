"""Words that free text may not have: names of hidden columns and datasets.

A name that is hidden here and visible elsewhere (`country`) is a word like any other, except in
text about the dataset that hides it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from dbt_graft.lineage.dataset import DatasetId

LEFT_OUT = "left out for this audience"
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
# Keys by which records find each other.
_KEYS = frozenset(
    ("name", "task", "run_id", "parent_run_id", "invocation_id", "node_id", "shape_id", "origin")
)
Mentions = Callable[[str], bool]


def _spaced(text: str, pattern: re.Pattern[str]) -> str:
    return f" {' '.join(pattern.findall(text.casefold()))} "


@dataclass(frozen=True, slots=True)
class HiddenWords:
    """Names that text may not have.

    Attributes:
        everywhere: Those of text about anything.
        near: Dataset -> those of text about it.
    """

    everywhere: frozenset[str] = frozenset()
    near: Mapping[DatasetId, frozenset[str]] = field(default_factory=dict)

    def mentions(self, datasets: Iterable[DatasetId] = ()) -> Mentions:
        """A question to text about some datasets: whether it names what is hidden."""
        words = self.everywhere.union(*(self.near.get(one, ()) for one in datasets))
        single = {word for word in words if _WORD.fullmatch(word)}
        several = [_spaced(word, _WORD) for word in words - single]
        several = [one for one in several if one.strip()]

        def mention(text: str) -> bool:
            if not (single or several):
                return False
            found = _WORD.findall(text.casefold())
            if not single.isdisjoint(found):
                return True
            spaced = f" {' '.join(found)} " if several else ""
            return any(one in spaced for one in several)

        return mention

    def parts(self, datasets: Iterable[DatasetId] = ()) -> Mentions:
        """As `mentions`, of names that are put together: `not_null_customers_email`."""
        words = self.everywhere.union(*(self.near.get(one, ()) for one in datasets))
        found = [one for word in words if (one := _spaced(word, _PART)).strip()]
        return lambda text: any(one in _spaced(text, _PART) for one in found)


def hidden_words(
    hidden: Mapping[DatasetId, Collection[str]],
    datasets: Collection[DatasetId],
    visible: Collection[str],
) -> HiddenWords:
    """The words for hidden columns and datasets.

    Args:
        hidden: Dataset -> its hidden columns, in lower case; of hidden datasets all.
        datasets: The hidden datasets.
        visible: All names that are visible somewhere, in lower case.
    """
    near = {dataset: frozenset(names) for dataset, names in hidden.items()}
    words = {word for names in near.values() for word in names}
    words |= {dataset.parts[-1].casefold() for dataset in datasets}
    words |= {dataset.name.casefold() for dataset in datasets}
    return HiddenWords(frozenset(words.difference(visible)), near)


def without(value: Any, mentions: Mentions) -> Any:
    """A record, or several, in which text that names what is hidden is empty."""
    if isinstance(value, Enum | DatasetId):
        return value
    if isinstance(value, str):
        return "" if mentions(value) else value
    if isinstance(value, tuple):
        return tuple(without(one, mentions) for one in value)
    if isinstance(value, Mapping):
        return {key: without(one, mentions) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for one in fields(value):
            before = getattr(value, one.name)
            if one.init and one.name not in _KEYS and not isinstance(before, int | float):
                after = without(before, mentions)
                if after is not before and after != before:
                    changed[one.name] = after
        return replace(value, **changed) if changed else value
    return value
