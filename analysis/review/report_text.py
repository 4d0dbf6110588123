"""A review as lines of text, and as findings for annotations."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.review.node_change import ReviewVerdict
from dbt_graft.analysis.review.project import ProjectReview, ReviewImpact
from dbt_graft.analysis.review.report import (
    Place,
    certain_breaks,
    change_text,
    node_text,
    review_coverage,
)

_COLUMNS = 5  # that change alike, and are named


def review_annotations(review: ProjectReview, place: Place) -> Iterator[Finding]:
    """A finding for each change, each certain break, and the coverage."""
    for node in review.nodes:
        for change in node.changes:
            file, line = place(node, change)
            severity = (
                Severity.WARNING if change.verdict > ReviewVerdict.ADDITIVE else Severity.NOTE
            )
            severity = Severity.NOTE if node.allowed else severity
            where = f"{file}:{line}" if file else node.node_id
            text = f"{change.verdict.name} {node.node_id}: {change_text(change)}"
            allowed = f"allowed: {node.allowed}" if node.allowed else ""
            yield Finding("REVIEW", severity, where, text, allowed)
    for certain in certain_breaks(review):
        yield Finding("REVIEW", Severity.WARNING, "graft review", f"certain to fail: {certain}")
    yield Finding("REVIEW", Severity.NOTE, "graft review", review_coverage(review))


def review_lines(review: ProjectReview, most: int | None) -> Iterator[str]:
    """The lines for a person.

    Args:
        most: The lines of each part; None for all.
    """
    verdict = review.verdict.name if review.verdict else "no change"
    yield f"against {review.base}: {verdict}"
    yield f"  {review_coverage(review)}"
    yield from (f"  note: {notice}" for notice in review.notices)
    impact = review.impact or ReviewImpact()
    parts: tuple[tuple[str, list[str]], ...] = (
        ("certain to fail", certain_breaks(review)),
        (
            "datasets downstream",
            [
                f"{dataset.severity.name:<10} {dataset.dataset}"
                + (f"  (owner {dataset.owner})" if dataset.owner else "")
                for dataset in impact.datasets
            ],
        ),
        ("tasks", [f"{task.severity.name:<10} {task.name}" for task in impact.tasks]),
        (
            "consumers",
            [
                f"{affected.severity.name:<10} {affected.consumer.name} ({affected.consumer.kind})"
                + (f"  (owner {affected.consumer.owner})" if affected.consumer.owner else "")
                for affected in impact.consumers
            ],
        ),
    )
    for title, lines in (
        ("changed", list(_changed_lines(review, _COLUMNS if most else None))),
        *parts,
    ):
        if lines:
            yield f"{title} ({len(lines):,})"
            yield from (f"  {line}" for line in lines[:most])
            if most and len(lines) > most:
                yield f"  and {len(lines) - most:,} more: --all shows them"


def _changed_lines(review: ProjectReview, most: int | None) -> Iterator[str]:
    for node in review.nodes:
        changes = node_text(node, most)
        allowed = f"  (allowed: {node.allowed})" if node.allowed else ""
        yield f"{node.verdict.name:<10} {node.node_id}: {changes}{allowed}"
