"""Reviews of the same task by its runs and by its declaration -> one."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.lineage.review.node_change import NodeReview


def merged(*reviews: tuple[NodeReview, ...]) -> tuple[NodeReview, ...]:
    """The reviews with one of each node: what runs show stands for the same in a declaration."""
    found: dict[str, NodeReview] = {}
    for one in (review for some in reviews for review in some):
        first = found.get(one.node_id)
        if first:
            changes = tuple(dict.fromkeys((*first.changes, *one.changes)))
            ordered = sorted(changes, key=lambda o: -o.verdict)
            one = replace(first, changes=tuple(ordered), file=first.file or one.file)
        found[one.node_id] = one
    return tuple(found[key] for key in sorted(found))
