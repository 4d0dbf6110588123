"""Descriptions, tests and consumers as an audience may see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from dbt_graft.lineage.audience.hidden import HiddenData
from dbt_graft.lineage.audience.records import Pseudonyms, renamed, without
from dbt_graft.lineage.audience.words import HiddenWords
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest


@dataclass(frozen=True)
class AudienceView:
    """The data that an audience may not see, and the words that it may not read.

    Attributes:
        tests: The ids of dbt's tests that name what is hidden.
    """

    hidden: HiddenData
    words: HiddenWords
    tests: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> Pseudonyms:
        """The keys that stand for those that name what is hidden, the same in all records."""
        return Pseudonyms(self.words)


def visible_descriptions(
    descriptions: Mapping[DatasetId, Description], view: AudienceView
) -> dict[DatasetId, Description]:
    """The descriptions of what is visible, without hidden columns and tests."""
    found = {}
    for dataset, one in descriptions.items():
        if dataset in view.hidden.datasets:
            continue
        mentions = view.words.mentions([dataset])
        shown = replace(
            without(replace(one, columns={}, tests=(), column_sensitivity={}), mentions),
            columns={
                name: "" if mentions(text) else text
                for name, text in one.columns.items()
                if not view.hidden.hides(dataset, name)
            },
            tests=tuple(test for test in one.tests if test.node_id not in view.tests),
            column_sensitivity={
                name: label
                for name, label in one.column_sensitivity.items()
                if not view.hidden.hides(dataset, name)
            },
        )
        found[dataset] = renamed(shown, view.names)
    return found


def hidden_tests(
    descriptions: Mapping[DatasetId, Description], hidden: HiddenData, words: HiddenWords
) -> frozenset[str]:
    """The tests of hidden columns and datasets, and those whose names have them."""

    def found() -> Iterator[str]:
        for dataset, one in descriptions.items():
            mentions = words.mentions([dataset])
            for test in one.tests:
                if _is_hidden(test, dataset, hidden) or mentions(f"{test.name} {test.node_id}"):
                    yield test.node_id

    return frozenset(found())


def _is_hidden(test: NodeTest, dataset: DatasetId, hidden: HiddenData) -> bool:
    return hidden.hides(dataset, test.column or "*")


def visible_consumers(consumers: Iterable[Consumer], view: AudienceView) -> tuple[Consumer, ...]:
    """The consumers, without what is hidden; one that reads nothing else is left out."""
    found = []
    for one in consumers:
        reads = tuple(dataset for dataset in one.reads if dataset not in view.hidden.datasets)
        if reads or not one.reads:
            shown = without(replace(one, columns=()), view.words.mentions(one.reads))
            shown = replace(shown, reads=reads)
            found.append(renamed(shown, view.names))
    return tuple(found)
