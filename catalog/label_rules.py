"""Rules for tags and owners in lists: what machines make in masses does not flood them.

Tags of one prefix, as `task:load_orders`, stand together; those used most come first; and patterns
in `graft.yml` hide some. A hidden tag has its page still, and the datasets that have it show it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import tag_path

# As many tags with one prefix are listed apart from the others.
_ALIKE = 4


@dataclass(frozen=True, slots=True)
class Label:
    """A tag or an owner, with the datasets, tasks and consumers that have it."""

    name: str
    path: str
    datasets: Sequence[DatasetId]
    tasks: Sequence[str]

    @property
    def uses(self) -> int:
        """The number of datasets, tasks and consumers that have it."""
        return len(self.datasets) + len(self.tasks)


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """The labels with one prefix, those used most first; `anchor` is theirs in the list of all."""

    prefix: str
    anchor: str
    labels: Sequence[Label]


@dataclass(frozen=True, slots=True)
class ListedLabels:
    """The labels that lists show: those by themselves, and the groups; most used first."""

    single: Sequence[Label]
    groups: Sequence[LabelGroup]

    def __len__(self) -> int:
        return len(self.single) + sum(len(group.labels) for group in self.groups)


def listed_labels(labels: Iterable[Label], hidden: Sequence[str] = ()) -> ListedLabels:
    """The labels as lists show them.

    Args:
        hidden: Patterns of names that are left out, with `*` for any text.
    """
    shown = [
        label for label in labels if not any(fnmatchcase(label.name, pattern) for pattern in hidden)
    ]
    shown.sort(key=lambda label: (-label.uses, label.name))
    by_prefix: dict[str, list[Label]] = defaultdict(list)
    for label in shown:
        prefix, colon, _ = label.name.partition(":")
        by_prefix[prefix if colon else ""].append(label)
    groups = [
        LabelGroup(prefix, f"prefix-{tag_path(prefix).split('/')[1]}", alike)
        for prefix, alike in sorted(by_prefix.items())
        if prefix and len(alike) >= _ALIKE
    ]
    grouped = {label.name for group in groups for label in group.labels}
    return ListedLabels([label for label in shown if label.name not in grouped], groups)
