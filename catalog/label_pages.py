"""Tags and owners: a list of each, and a page for each one.

What machines make in masses does not flood the lists: tags of one prefix, as `task:load_orders`,
stand together; those used most come first; and patterns in `graft.yml` hide some. A hidden tag has
its page still, and the datasets that have it show it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import ClassVar

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Breadcrumb, Page
from dbt_graft.catalog.rows import DatasetRow, Rows, TaskRow
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.urls import owner_path, tag_path

# As many tags with one prefix are listed apart from the others.
_ALIKE = 4


@frozen
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


@frozen
class LabelGroup:
    """The labels with one prefix, those used most first; `anchor` is theirs in the list of all."""

    prefix: str
    anchor: str
    labels: Sequence[Label]


@frozen
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


@frozen(kw_only=True)
class LabelListPage(Page):
    """The context of `labels.html.j2`."""

    template: ClassVar[str] = "labels"

    labels: ListedLabels


@frozen(kw_only=True)
class LabelPage(Page):
    """The context of `label.html.j2`; `parent` is the list that the label is on."""

    template: ClassVar[str] = "label"

    parent: Breadcrumb
    datasets: Sequence[DatasetRow]
    tasks: Sequence[TaskRow]


def tags(index: Index) -> list[Label]:
    """All tags, sorted by name."""
    described = sorted(index.descriptions.items())
    return _labels(
        tag_path,
        ((tag, dataset) for dataset, description in described for tag in description.tags),
        ((tag, name) for name in index.task_names() for tag in index.task_tags(name)),
    )


def owners(index: Index) -> list[Label]:
    """All owners, sorted by name."""
    described = sorted(index.descriptions.items())
    return _labels(
        owner_path,
        ((description.owner, dataset) for dataset, description in described),
        ((index.task_owner(name), name) for name in index.task_names()),
    )


def _labels(
    path: Callable[[str], str],
    of_datasets: Iterable[tuple[str, DatasetId]],
    of_tasks: Iterable[tuple[str, str]],
) -> list[Label]:
    datasets, tasks = group_by_key(of_datasets), group_by_key(of_tasks)
    names = sorted({*datasets, *tasks} - {""})
    return [Label(name, path(name), datasets.get(name, ()), tasks.get(name, ())) for name in names]


def label_pages(index: Index, rows: Rows, hidden: Sequence[str] = ()) -> Iterator[Page]:
    """The lists of tags and owners, and the page of each tag and owner.

    Args:
        hidden: Patterns of labels that the lists leave out.
    """
    for title, path, labels in (
        ("Tags", "tags/", tags(index)),
        ("Owners", "owners/", owners(index)),
    ):
        yield LabelListPage(path=path, title=title, labels=listed_labels(labels, hidden))
        parent = Breadcrumb(title, path)
        for label in labels:
            yield LabelPage(
                path=label.path,
                title=label.name,
                parent=parent,
                datasets=rows.datasets(label.datasets),
                tasks=rows.tasks(label.tasks),
            )
