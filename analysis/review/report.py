"""A review as JSON, of the schema `docs/review.schema.json`, as Markdown, and as SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt_graft import __version__
from dbt_graft.analysis.render.markdown import markdown_table, markdown_text
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.project import ProjectReview, ReviewImpact
from dbt_graft.lineage.dataset import DatasetId

SCHEMA = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/review.schema.json"
MARKER = "<!-- dbt-graft review -->"
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {ReviewVerdict.BREAKING: "error", ReviewVerdict.METADATA: "note"}
_COLUMNS = 5  # that change alike, and are named
_MOST = 40  # rows of a table in Markdown
Place = Callable[[NodeReview, NodeChange | None], tuple[str, int]]
Document = dict[str, Any]


def review_json(review: ProjectReview, locate: Place) -> Document:
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
                "file": locate(node, None)[0] or None,
                "repo": node.repo or None,
                "verdict": node.verdict.name,
                "allowed": node.allowed or None,
                "breaks": list(node.breaks),
                "changes": [
                    {
                        "verdict": change.verdict.name,
                        "column": change.column or None,
                        "datasets": [str(dataset) for dataset in change.datasets],
                        "text": change.text,
                        "line": locate(node, change)[1],
                    }
                    for change in node.changes
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
                "dataset": str(affected.dataset),
                "severity": affected.severity.name,
                "because": list(affected.because),
                "owner": affected.owner or None,
            }
            for affected in impact.datasets
        ],
        "tasks": [
            {"task": task.name, "severity": task.severity.name, "breaks": task.breaks}
            for task in impact.tasks
        ],
        "tests": [
            {"node_id": affected.test.node_id, "breaks": affected.breaks}
            for affected in impact.tests
        ],
        "consumers": [
            {
                "consumer": affected.consumer.name,
                "kind": affected.consumer.kind,
                "severity": affected.severity.name,
                "owner": affected.consumer.owner or None,
                "breaks": affected.breaks,
            }
            for affected in impact.consumers
        ],
    }


def change_text(change: NodeChange) -> str:
    """`note: removed`, `spark/db.orders.note: removed`."""
    if not change.column:
        return change.text
    columns = [f"{dataset}.{change.column}" for dataset in change.datasets] or [change.column]
    return f"{', '.join(columns)}: {change.text}"


def node_text(node: NodeReview, most: int | None = _COLUMNS) -> str:
    """The changes of a node; many columns that change alike are counted.

    Args:
        most: The columns that are named; None for all.
    """
    groups: dict[tuple[str, tuple[DatasetId, ...]], list[NodeChange]] = {}
    for change in node.changes:
        key = (change.text, change.datasets) if change.column else (change_text(change), ())
        groups.setdefault(key, []).append(change)
    parts = []
    for (text, _), changes in groups.items():
        if most is None or len(changes) <= most or not changes[0].column:
            parts += [change_text(change) for change in changes]
        else:
            names = ", ".join(change.column for change in changes[:most])
            parts.append(f"{names} and {len(changes) - most:,} more columns: {text}")
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
    breaks = {f"test {test}": None for node in review.nodes for test in node.breaks}
    if review.impact:
        breaks |= {
            f"test {affected.test.node_id}": None
            for affected in review.impact.tests
            if affected.breaks
        }
        breaks |= {f"task {task.name}": None for task in review.impact.tasks if task.breaks}
        breaks |= {
            f"{affected.consumer.kind} {affected.consumer.name}": None
            for affected in review.impact.consumers
            if affected.breaks
        }
    return sorted(breaks)


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
        lines += [f"- {markdown_text(problem)}" for problem in certain[:_MOST]]
        lines += [f"- and {len(certain) - _MOST:,} more"] if len(certain) > _MOST else []
        lines.append("")
    if impact := review.impact:
        lines += markdown_table(
            ("", "downstream", "because of", "owner"),
            (
                (
                    affected.severity.name,
                    str(affected.dataset),
                    ", ".join(affected.because[:4]),
                    affected.owner,
                )
                for affected in impact.datasets
            ),
            _MOST,
        )
        lines += markdown_table(
            ("", "task", "statements"),
            (
                (task.severity.name, task.name, "fail" if task.breaks else "run")
                for task in impact.tasks
            ),
            _MOST,
        )
        lines += markdown_table(
            ("", "consumer", "kind", "owner"),
            (
                (
                    affected.severity.name,
                    affected.consumer.name,
                    affected.consumer.kind,
                    affected.consumer.owner,
                )
                for affected in impact.consumers
            ),
            _MOST,
        )
    lines += [f"Note: {markdown_text(notice)}." for notice in review.notices]
    return "\n".join(lines).rstrip() + "\n"


def review_sarif(review: ProjectReview, locate: Place) -> Document:
    """The document for code scanning: one result a change."""
    results = []
    for node in review.nodes:
        for change in node.changes:
            file, line = locate(node, change)
            result: Document = {
                "ruleId": change.verdict.name,
                "level": "note" if node.allowed else _LEVELS.get(change.verdict, "warning"),
                "message": {"text": f"{node.node_id}: {change_text(change)}"},
            }
            if file:
                region = {"startLine": line}
                location = {"artifactLocation": {"uri": file}, "region": region}
                result["locations"] = [{"physicalLocation": location}]
            if node.allowed:
                result["suppressions"] = [{"kind": "inSource", "justification": node.allowed}]
            results.append(result)
    rules = [{"id": verdict.name, "name": verdict.name.title()} for verdict in ReviewVerdict]
    tool = {"driver": {"name": "dbt-graft", "version": __version__, "rules": rules}}
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": tool, "results": results}]}
