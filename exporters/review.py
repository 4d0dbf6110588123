"""A review as JSON, of the schema `docs/review.schema.json`, as Markdown, and as SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt_graft import __version__
from dbt_graft.exporters.markdown import markdown_table, markdown_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.lineage.review.project import ProjectReview, ReviewImpact

SCHEMA = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/review.schema.json"
MARKER = "<!-- dbt-graft review -->"
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {ReviewVerdict.BREAKING: "error", ReviewVerdict.METADATA: "note"}
_COLUMNS = 5  # that change alike, and are named
_MOST = 40  # rows of a table in Markdown
Place = Callable[[NodeReview, NodeChange | None], tuple[str, int]]
Document = dict[str, Any]


def review_json(review: ProjectReview, place: Place) -> Document:
    """The document."""
    return {
        "$schema": SCHEMA,
        "version": 1,
        "producer": f"dbt-graft {__version__}",
        "base": review.base,
        "verdict": review.verdict.name if review.verdict else None,
        "nodes": [
            {
                "node_id": node.node_id,
                "kind": node.kind,
                "file": place(node, None)[0] or None,
                "repo": node.repo or None,
                "verdict": node.verdict.name,
                "allowed": node.allowed or None,
                "breaks": list(node.breaks),
                "changes": [
                    {
                        "verdict": one.verdict.name,
                        "column": one.column or None,
                        "datasets": [str(dataset) for dataset in one.datasets],
                        "text": one.text,
                        "line": place(node, one)[1],
                    }
                    for one in node.changes
                ],
            }
            for node in review.nodes
        ],
        "impact": _impact_json(review.impact) if review.impact else None,
        "notices": list(review.notices),
    }


def _impact_json(impact: ReviewImpact) -> Document:
    return {
        "coverage": {"flows": impact.flows, "columns_known": impact.known},
        "datasets": [
            {
                "dataset": str(one.dataset),
                "severity": one.severity.name,
                "because": list(one.because),
                "owner": one.owner or None,
            }
            for one in impact.datasets
        ],
        "tasks": [
            {"task": one.name, "severity": one.severity.name, "breaks": one.breaks}
            for one in impact.tasks
        ],
        "tests": [{"node_id": one.test.node_id, "breaks": one.breaks} for one in impact.tests],
        "consumers": [
            {
                "consumer": one.consumer.name,
                "kind": one.consumer.kind,
                "severity": one.severity.name,
                "owner": one.consumer.owner or None,
                "breaks": one.breaks,
            }
            for one in impact.consumers
        ],
    }


def change_text(change: NodeChange) -> str:
    """`note: removed`, `spark/db.orders.note: removed`."""
    if not change.column:
        return change.text
    place = [f"{dataset}.{change.column}" for dataset in change.datasets] or [change.column]
    return f"{', '.join(place)}: {change.text}"


def node_text(node: NodeReview, most: int | None = _COLUMNS) -> str:
    """The changes of a node; many columns that change alike are counted.

    Args:
        most: The columns that are named; None for all.
    """
    groups: dict[tuple[str, tuple[DatasetId, ...]], list[NodeChange]] = {}
    for one in node.changes:
        key = (one.text, one.datasets) if one.column else (change_text(one), ())
        groups.setdefault(key, []).append(one)
    parts = []
    for (text, _), some in groups.items():
        if most is None or len(some) <= most or not some[0].column:
            parts += [change_text(one) for one in some]
        else:
            names = ", ".join(one.column for one in some[:most])
            parts.append(f"{names} and {len(some) - most:,} more columns: {text}")
    return "; ".join(dict.fromkeys(parts))


def review_coverage(review: ProjectReview) -> str:
    """The basis of the verdict, in words."""
    impact = review.impact
    if impact is None:
        return "impact not computed"
    if not impact.flows:
        reached = impact.datasets or impact.consumers
        return "columns do not matter here" if reached else "nothing downstream is affected"
    share = 100 * impact.known // impact.flows
    return f"columns known for {share} % of the path ({impact.known} of {impact.flows} flows)"


def certain_breaks(review: ProjectReview) -> list[str]:
    """The tests, tasks and consumers that are certain to fail: they name what goes."""
    found = {f"test {test}": None for node in review.nodes for test in node.breaks}
    if review.impact:
        found |= {f"test {one.test.node_id}": None for one in review.impact.tests if one.breaks}
        found |= {f"task {one.name}": None for one in review.impact.tasks if one.breaks}
        found |= {
            f"{one.consumer.kind} {one.consumer.name}": None
            for one in review.impact.consumers
            if one.breaks
        }
    return sorted(found)


def review_markdown(review: ProjectReview) -> str:
    """The comment for a pull request; its first line is the mark by which it is found again."""
    lines = [MARKER, f"### Change review: {review.verdict.name if review.verdict else 'no change'}"]
    coverage = review_coverage(review)
    lines += ["", f"Against {markdown_text(review.base)}; {coverage}.", ""]
    lines += markdown_table(
        ("", "node", "what changes", "allowed"),
        (
            (
                node.verdict.name,
                node.node_id,
                node_text(node),
                node.allowed,
            )
            for node in review.nodes
        ),
        _MOST,
    )
    if certain := certain_breaks(review):
        lines += ["Certain to fail:", ""]
        lines += [f"- {markdown_text(one)}" for one in certain[:_MOST]]
        lines += [f"- and {len(certain) - _MOST:,} more"] if len(certain) > _MOST else []
        lines.append("")
    if impact := review.impact:
        lines += markdown_table(
            ("", "downstream", "because of", "owner"),
            (
                (one.severity.name, str(one.dataset), ", ".join(one.because[:4]), one.owner)
                for one in impact.datasets
            ),
            _MOST,
        )
        lines += markdown_table(
            ("", "task", "statements"),
            (
                (one.severity.name, one.name, "fail" if one.breaks else "run")
                for one in impact.tasks
            ),
            _MOST,
        )
        lines += markdown_table(
            ("", "consumer", "kind", "owner"),
            (
                (one.severity.name, one.consumer.name, one.consumer.kind, one.consumer.owner)
                for one in impact.consumers
            ),
            _MOST,
        )
    lines += [f"Note: {markdown_text(one)}." for one in review.notices]
    return "\n".join(lines).rstrip() + "\n"


def review_sarif(review: ProjectReview, place: Place) -> Document:
    """The document for code scanning: one result a change."""
    results = []
    for node in review.nodes:
        for one in node.changes:
            file, line = place(node, one)
            result: Document = {
                "ruleId": one.verdict.name,
                "level": "note" if node.allowed else _LEVELS.get(one.verdict, "warning"),
                "message": {"text": f"{node.node_id}: {change_text(one)}"},
            }
            if file:
                region = {"startLine": line}
                location = {"artifactLocation": {"uri": file}, "region": region}
                result["locations"] = [{"physicalLocation": location}]
            if node.allowed:
                result["suppressions"] = [{"kind": "inSource", "justification": node.allowed}]
            results.append(result)
    rules = [{"id": one.name, "name": one.name.title()} for one in ReviewVerdict]
    tool = {"driver": {"name": "dbt-graft", "version": __version__, "rules": rules}}
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": tool, "results": results}]}
