"""Changes of a review: their verdicts, and what changed in one node, task or contract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import IntEnum

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen


class ReviewVerdict(IntEnum):
    """The verdict on a change, the least first.

    UNKNOWN stands above what is known not to break: it could.
    """

    METADATA = 1
    COST = 2
    ADDITIVE = 3
    ACCESS = 4
    CONTRACT = 5
    VALUES = 6
    ROWS = 7
    UNKNOWN = 8
    BREAKING = 9


@frozen
class NodeChange:
    """One change of a node.

    Attributes:
        column: Empty for one of the node.
        kind: What it is to those downstream; None for nothing.
        datasets: Those that it is about; none where it is the node's own.
        part: The id of the test that it is about.
    """

    verdict: ReviewVerdict
    text: str
    kind: ChangeType | None = None
    column: str = ""
    datasets: tuple[DatasetId, ...] = ()
    part: str = ""


@frozen
class NodeReview:
    """A node, a task or a contract that changed.

    Attributes:
        changes: The worst first.
        breaks: Ids of dbt tests that are certain to fail: they name a column that goes.
        allowed: The reason by which its SQL allows the change.
        repo: Where its file is, if that is elsewhere.
    """

    node_id: str
    kind: str
    file: str
    changes: tuple[NodeChange, ...]
    breaks: tuple[str, ...] = ()
    allowed: str = ""
    repo: str = ""

    @property
    def verdict(self) -> ReviewVerdict:
        """The worst of its changes."""
        return max(change.verdict for change in self.changes)


def worst_verdict(nodes: Iterable[NodeReview]) -> ReviewVerdict | None:
    """The worst verdict; None without a change."""
    return max((node.verdict for node in nodes), default=None)


def merge_reviews(*reviews: tuple[NodeReview, ...]) -> tuple[NodeReview, ...]:
    """The reviews with one of each node: what runs show stands for the same in a declaration."""
    by_node: dict[str, NodeReview] = {}
    for review in (review for group in reviews for review in group):
        first = by_node.get(review.node_id)
        if first:
            changes = tuple(dict.fromkeys((*first.changes, *review.changes)))
            ordered = sorted(changes, key=lambda change: -change.verdict)
            review = replace(first, changes=tuple(ordered), file=first.file or review.file)
        by_node[review.node_id] = review
    return tuple(by_node[key] for key in sorted(by_node))
