"""One name for a dataset that engines know under several: the rules for it, and the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from dbt_graft.lineage.dataset import DatasetId, LoggedName, parse_dataset_id
from dbt_graft.lineage.frozen import frozen

# Dataset -> the dataset under its new name.
Rename: TypeAlias = Callable[[DatasetId], DatasetId]

_STAR = re.compile(r"/\*\*/|\*\*?")
_WILDCARDS = {"*": "(.*?)", "**": ".*?", "/**/": "/(?:.*?/)?"}
_SLOT = re.compile(r"\*|\{(\d+)\}")


@frozen
class NameRule:
    """Rename datasets that match `source` to `target`, both written `namespace/name`.

    `*` in the source matches any run of characters, `**` too, but it does not count: the n-th
    `*` of the target stands for the match of the n-th `*` of the source, `{n}` for that of
    number n. `/**/` matches any number of folders, also none.
    Case is ignored, and `file//x` is `file/x`.
    """

    source: str
    target: str

    def __post_init__(self) -> None:
        parse_dataset_id(self.source)
        parse_dataset_id(self.target)
        counted = sum(star == "*" for star in _STAR.findall(self.source))
        for wanted in self._slots():
            if not 1 <= wanted <= counted:
                raise ValueError(
                    f"{self.target!r} refers to wildcard {wanted}, {self.source!r} has {counted}"
                )

    def _slots(self) -> list[int]:
        stars = 0
        slots = []
        for slot in _SLOT.finditer(self.target):
            stars += slot.group(1) is None
            slots.append(int(slot.group(1) or stars))
        return slots

    def pattern(self) -> re.Pattern[str]:
        """The source as a regular expression with one group for each `*`."""
        source = str(parse_dataset_id(self.source))
        literal = [re.escape(text) for text in _STAR.split(source)]
        wildcards = [_WILDCARDS[star] for star in _STAR.findall(source)]
        body = literal[0] + "".join(w + t for w, t in zip(wildcards, literal[1:], strict=True))
        return re.compile(body, re.IGNORECASE | re.DOTALL)

    def fill(self, match: re.Match[str]) -> DatasetId | None:
        """Return the target with the wildcards of a match filled in; None where no name is left.

        `landing/*` has none of what matched `file/landing*` with nothing behind it.
        """
        slots = iter(self._slots())
        try:
            return parse_dataset_id(_SLOT.sub(lambda _: match.group(next(slots)), self.target))
        except ValueError:
            return None


class NameRules:
    """Rules in order; the first that matches decides, and a dataset is renamed once."""

    def __init__(self, rules: Iterable[NameRule] = ()) -> None:
        self._rules = [(rule, rule.pattern()) for rule in rules]
        self._cache: dict[DatasetId, DatasetId] = {}

    def __call__(self, dataset: DatasetId) -> DatasetId:
        """The dataset under its new name; of those that no rule matches, the first of equal ones.

        So a dataset has the same spelling everywhere.
        """
        if (name := self._cache.get(dataset)) is None:
            name = self._cache[dataset] = self._apply(dataset)
        return name

    def rule_for(self, dataset: DatasetId) -> NameRule | None:
        """The rule that decides about a dataset, if there is one."""
        return next((rule for rule, _ in self._renamed(dataset)), None)

    def _apply(self, dataset: DatasetId) -> DatasetId:
        return next((name for _, name in self._renamed(dataset)), dataset)

    def _renamed(self, dataset: DatasetId) -> Iterator[tuple[NameRule, DatasetId]]:
        """The rules that match a dataset, each with the name that it has by it."""
        text = str(dataset)
        for rule, pattern in self._rules:
            if (match := pattern.fullmatch(text)) and (name := rule.fill(match)):
                yield rule, name


class NameReason(StrEnum):
    """The reason why a name in logs is a name of another dataset."""

    DATE_SHARD = "date shard"
    RUN_TABLE = "table of one run"
    VIEW = "view that passes all rows on"


@frozen
class DatasetNames:
    """Names of datasets beside their own, sorted.

    Attributes:
        former: For each dataset that was renamed the names that it had before.
        aliases: For each dataset other names that logs have for it, which a rule replaces.
        reasons: Why such a name is no dataset; those that a rule of graft.yml replaces are left
            out.
    """

    former: Mapping[DatasetId, tuple[DatasetId, ...]] = field(default_factory=dict)
    aliases: Mapping[DatasetId, tuple[LoggedName, ...]] = field(default_factory=dict)
    reasons: Mapping[LoggedName, NameReason] = field(default_factory=dict)
