"""Tests of a node in two versions -> what is no longer promised, or otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace

from dbt_graft.analysis.review.node_change import NodeChange, ReviewVerdict
from dbt_graft.analysis.review.settings import Settings, setting_changes
from dbt_graft.lineage.frozen import frozen

_V = ReviewVerdict
# Its values are promises of a column, which are compared as such.
VALUES_TEST = "accepted_values"


@frozen
class ReviewedTest:
    """A data test or a unit test of a node.

    Attributes:
        name: That of the generic test, else its own.
        column: Folded; empty for one of the node.
        settings: Its configuration and arguments.
    """

    name: str
    column: str = ""
    settings: Settings = field(default_factory=dict)


Tests = Mapping[str, ReviewedTest]


def changed_tests(before: Tests, after: Tests, moved: Collection[str]) -> Iterator[NodeChange]:
    """The tests that are others; their findings are about those who rely on them.

    Args:
        moved: Columns that came or went, with their tests.
    """
    gone, fresh = _by_subject(before, after, moved), _by_subject(after, before, moved)
    for subject in sorted({*gone, *fresh}):
        name, column = subject
        old, new = gone.get(subject, []), fresh.get(subject, [])
        for test in old[len(new) :] if name != VALUES_TEST else ():
            yield NodeChange(_V.CONTRACT, f"no longer tested: {name}", None, column, part=test)
        for test in new[len(old) :] if name != VALUES_TEST else ():
            yield NodeChange(_V.ADDITIVE, f"tested now: {name}", None, column, part=test)
        for first, second in zip(old, new, strict=False):
            yield from _other(name, column, before[first], after[second], second)
    for test in sorted(before.keys() & after.keys()):
        yield from _other(before[test].name, before[test].column, before[test], after[test], test)


def _other(
    name: str, column: str, before: ReviewedTest, after: ReviewedTest, test: str
) -> Iterator[NodeChange]:
    """The settings of a test that are others: not its values, nor its name, which has these."""
    for change in setting_changes(before.settings, after.settings):
        setting = change.text.partition(" ")[0]
        if setting != "fqn" and not (name == VALUES_TEST and setting == "test_arguments"):
            yield replace(
                change, text=f"test {name}: {change.text}", column=column, part=test, kind=None
            )


def _by_subject(
    tests: Tests, others: Tests, moved: Collection[str]
) -> dict[tuple[str, str], list[str]]:
    """Name and column -> the tests that the other version does not have."""
    by_subject: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, test in sorted(tests.items()):
        if key not in others and test.column not in moved:
            by_subject[test.name, test.column].append(key)
    return by_subject
