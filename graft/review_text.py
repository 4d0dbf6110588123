"""A review as lines of text, and as findings for annotations."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.exporters.review import (
    Place,
    certain_breaks,
    change_text,
    node_text,
    review_coverage,
)
from dbt_graft.lineage.findings import Finding, Severity
from dbt_graft.lineage.review.node_change import ReviewVerdict
from dbt_graft.lineage.review.project import ProjectReview, ReviewImpact

_COLUMNS = 5  # that change alike, and are named


def review_annotations(found: ProjectReview, place: Place) -> Iterator[Finding]:
    """A finding for each change, each certain break, and the coverage."""
    for node in found.nodes:
        for one in node.changes:
            file, line = place(node, one)
            severity = Severity.WARNING if one.verdict > ReviewVerdict.ADDITIVE else Severity.NOTE
            severity = Severity.NOTE if node.allowed else severity
            where = f"{file}:{line}" if file else node.node_id
            text = f"{one.verdict.name} {node.node_id}: {change_text(one)}"
            allowed = f"allowed: {node.allowed}" if node.allowed else ""
            yield Finding(severity, where, text, allowed)
    for certain in certain_breaks(found):
        yield Finding(Severity.WARNING, "graft review", f"certain to fail: {certain}")
    yield Finding(Severity.NOTE, "graft review", review_coverage(found))


def review_lines(found: ProjectReview, most: int | None) -> Iterator[str]:
    """The lines for a person.

    Args:
        most: The lines of each part; None for all.
    """
    verdict = found.verdict.name if found.verdict else "no change"
    yield f"against {found.base}: {verdict}"
    yield f"  {review_coverage(found)}"
    yield from (f"  note: {one}" for one in found.notices)
    impact = found.impact or ReviewImpact()
    parts: tuple[tuple[str, list[str]], ...] = (
        ("certain to fail", certain_breaks(found)),
        (
            "datasets downstream",
            [
                f"{one.severity.name:<10} {one.dataset}"
                + (f"  (owner {one.owner})" if one.owner else "")
                for one in impact.datasets
            ],
        ),
        ("tasks", [f"{one.severity.name:<10} {one.name}" for one in impact.tasks]),
        (
            "consumers",
            [
                f"{one.severity.name:<10} {one.consumer.name} ({one.consumer.kind})"
                + (f"  (owner {one.consumer.owner})" if one.consumer.owner else "")
                for one in impact.consumers
            ],
        ),
    )
    for title, lines in (("changed", list(_changed(found, _COLUMNS if most else None))), *parts):
        if lines:
            yield f"{title} ({len(lines):,})"
            yield from (f"  {line}" for line in lines[:most])
            if most and len(lines) > most:
                yield f"  and {len(lines) - most:,} more: --all shows them"


def _changed(found: ProjectReview, most: int | None) -> Iterator[str]:
    for node in found.nodes:
        changes = node_text(node, most)
        allowed = f"  (allowed: {node.allowed})" if node.allowed else ""
        yield f"{node.verdict.name:<10} {node.node_id}: {changes}{allowed}"
