"""Reviews of the same task by its runs and by its declaration -> one."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.analysis.review.node_change import NodeReview


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
