"""Tags and owners: a list of each, and a page for each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_rules import Label, ListedLabels, listed_labels
from dbt_graft.catalog.page import Breadcrumb, Page
from dbt_graft.catalog.rows import DatasetRow, Rows, TaskRow
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import owner_path, tag_path


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelListPage(Page):
    """The context of `labels.html.j2`."""

    template: ClassVar[str] = "labels"

    labels: ListedLabels


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPage(Page):
    """The context of `label.html.j2`; `parent` is the list that the label is on."""

    template: ClassVar[str] = "label"

    parent: Breadcrumb
    datasets: Sequence[DatasetRow]
    tasks: Sequence[TaskRow]


def tags(index: Index) -> list[Label]:
    """All tags, sorted by name."""
    return _labels(index.tags(), tag_path)


def owners(index: Index) -> list[Label]:
    """All owners, sorted by name."""
    return _labels(index.owners(), owner_path)


def _labels(
    members: Mapping[str, tuple[Sequence[DatasetId], Sequence[str]]], path: Callable[[str], str]
) -> list[Label]:
    return [Label(name, path(name), *entities) for name, entities in members.items()]


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
