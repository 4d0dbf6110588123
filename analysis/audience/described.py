"""Descriptions, tests and consumers as an audience may see them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from dbt_graft.analysis.audience.hidden import HiddenData
from dbt_graft.analysis.audience.records import Pseudonyms, blank_text, rename_keys
from dbt_graft.analysis.audience.words import HiddenWords, Mentions
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.renaming import drop_datasets


@dataclass(frozen=True)
class AudienceView:
    """The data that an audience may not see, the words that it may not read, and the rest.

    Attributes:
        nodes: The ids of dbt's nodes that are visible; all others are hidden.
        tasks: The names of tasks that are visible.
        undated: The ids of nodes whose newest row is a value of a hidden column.
        shows_unlabelled: What stands in no list is visible too.
        cut_texts: The texts that were left out because they name what is hidden.
    """

    hidden: HiddenData
    words: HiddenWords
    nodes: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    undated: frozenset[str] = frozenset()
    shows_unlabelled: bool = True
    cut_texts: set[str] = field(default_factory=set, compare=False)

    @cached_property
    def names(self) -> Pseudonyms:
        """The keys that stand for those that name what is hidden, the same in all records."""
        return Pseudonyms(self.words)

    @cached_property
    def hidden_parts(self) -> frozenset[DatasetId]:
        """All datasets of which anything is hidden."""
        return frozenset((*self.hidden.datasets, *self.hidden.columns, *self.hidden.closed))

    def cuts(self, datasets: Iterable[DatasetId] = ()) -> Mentions:
        """A question to text about some datasets: whether it is left out, which is counted."""
        mentions = self.words.mentions(datasets)

        def cut(text: str) -> bool:
            if not mentions(text):
                return False
            self.cut_texts.add(text)
            return True

        return cut

    def code_cuts(self, datasets: Collection[DatasetId]) -> Mentions:
        """A question to code about some datasets, and to messages about it: as `cuts`.

        All of it is left out where they may have hidden columns that nobody knows: no list has the
        names in it.
        """
        return self.cut_all if self.hidden.has_unknown(datasets) else self.cuts(datasets)

    def cut_all(self, text: str) -> bool:
        """Leave a text out, whatever is in it; False where there is none."""
        if text:
            self.cut_texts.add(text)
        return bool(text)


def visible_descriptions(
    descriptions: Mapping[DatasetId, Description], view: AudienceView
) -> dict[DatasetId, Description]:
    """The descriptions of what is visible, without hidden columns and tests."""
    visible = {}
    for dataset, description in descriptions.items():
        if dataset in view.hidden.datasets:
            continue
        cut = view.cuts([dataset])
        stripped = replace(description, columns={}, tests=(), inner_tests=(), column_labels={})
        shown = replace(
            blank_text(stripped, cut),
            columns={
                name: "" if cut(text) else text
                for name, text in description.columns.items()
                if not view.hidden.hides(dataset, name)
            },
            tests=tuple(test for test in description.tests if test.node_id in view.nodes),
            inner_tests=tuple(t for t in description.inner_tests if t.node_id in view.nodes),
            column_labels={
                name: labels
                for name, labels in description.column_labels.items()
                if not view.hidden.hides(dataset, name)
            },
        )
        visible[dataset] = rename_keys(shown, view.names)
    return visible


def visible_consumers(consumers: Iterable[Consumer], view: AudienceView) -> tuple[Consumer, ...]:
    """The consumers, without what is hidden of what they read and say."""
    visible = []
    for consumer in consumers:
        bare = replace(consumer, columns=(), known_reads=())
        shown = blank_text(bare, view.cuts(consumer.reads))
        columns = tuple(column for column in consumer.columns if not view.hidden.hides(*column))
        shown = drop_datasets(
            replace(shown, columns=columns, known_reads=consumer.known_reads), view.hidden.datasets
        )
        visible.append(rename_keys(shown, view.names))
    return tuple(visible)
