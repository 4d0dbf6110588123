"""A review as an answer: the changes and what is certain to fail, and what comes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.impact.change import recommended_action
from dbt_graft.analysis.impact.report import (
    affected_json,
    affected_tables,
    certain_to_fail,
    coverage,
    failure,
)
from dbt_graft.analysis.render.phrases import count, join_names, open_note
from dbt_graft.analysis.review.node_change import (
    NodeChange,
    NodeReview,
    ReviewVerdict,
    worst_verdict,
)
from dbt_graft.analysis.review.project import ProjectReview, ReviewedDataset

SCALE = tuple(verdict.name.lower() for verdict in ReviewVerdict)
_SEVERITIES = {
    ReviewVerdict.BREAKING: Severity.ERROR,
    ReviewVerdict.ADDITIVE: Severity.NOTE,
    ReviewVerdict.COST: Severity.NOTE,
    ReviewVerdict.METADATA: Severity.NOTE,
}
# Of changes that are nothing to the data downstream.
_REMEDIES = {
    ReviewVerdict.ACCESS: "check who may read it now",
    ReviewVerdict.CONTRACT: "agree with those who rely on it",
    ReviewVerdict.UNKNOWN: "look at it: nothing here says what it changes",
}
_ADJECTIVES = (ReviewVerdict.BREAKING, ReviewVerdict.ADDITIVE, ReviewVerdict.UNKNOWN)
_COLUMNS = 5  # that change alike, and are named
_TEXTS = 4  # of a node
_NODES = 5  # of which the same is not known, with a finding each
Place = Callable[[NodeReview, NodeChange | None], tuple[str, int]]
Section = dict[str, Any]


def review_answer(review: ProjectReview, locate: Place) -> Answer:
    """The answer; what SQL allows is no reason to fail."""
    impact, worst = review.impact, worst_verdict(review.nodes)
    return Answer(
        f"changes against {review.base}",
        count_verdicts(review.nodes, has_notices=bool(review.notices)),
        coverage(impact),
        [
            Table(
                "datasets downstream",
                ("", "dataset", "owner", "because of"),
                [
                    (
                        affected.severity.name,
                        str(affected.dataset),
                        affected.owner,
                        join_names(affected.because, 4),
                    )
                    for affected in impact.datasets
                ],
            ),
            *affected_tables(impact),
        ],
        (*review.notices, *open_note(impact.open_tasks)),
        [*_change_findings(review.nodes, locate), *_certain_to_fail(review)],
        failing_grade(review.nodes),
        "review",
        {
            "base": review.base,
            "verdict": worst.name if worst else None,
            "nodes": [_node_json(node, locate) for node in review.nodes],
            "impact": {
                "datasets": [_dataset_json(affected) for affected in impact.datasets],
                **affected_json(impact),
            },
        },
    )


def count_verdicts(nodes: Iterable[NodeReview], *, has_notices: bool = False) -> str:
    """`1 breaking, 2 of rows`

    Args:
        has_notices: There may be more: notices name what was not compared.
    """
    numbers = Counter(node.verdict for node in nodes)
    worst_first = sorted(numbers, reverse=True)
    counts = (f"{numbers[verdict]:,} {_kind(verdict)}" for verdict in worst_first)
    return ", ".join(counts) or ("no change seen" if has_notices else "no change")


def _kind(verdict: ReviewVerdict) -> str:
    """A verdict as it stands behind a number of changes."""
    name = verdict.name.lower()
    return name if verdict in _ADJECTIVES else f"of {name}"


def failing_grade(nodes: Iterable[NodeReview]) -> str:
    """The worst verdict on what no SQL allows; empty without one."""
    worst = worst_verdict(node for node in nodes if not node.allowed)
    return worst.name.lower() if worst else ""


def _change_findings(nodes: Iterable[NodeReview], locate: Place) -> Iterator[Finding]:
    """A finding for each node: its changes in a line, the worst first.

    Many nodes of which one and the same is not known are one finding: others are not lost in them.
    """
    nodes = list(nodes)
    alike_nodes: dict[str, list[NodeReview]] = {}
    for node in nodes:
        alike_nodes.setdefault(_unknown(node), []).append(node)
    for node in nodes:
        nodes_alike = alike_nodes[_unknown(node)] if _unknown(node) else []
        if len(nodes_alike) > _NODES:
            if node is nodes_alike[0]:
                yield _shared_finding(nodes_alike)
            continue
        alike: dict[tuple[object, ...], list[NodeChange]] = {}
        for change in node.changes:
            alike.setdefault((change.verdict, change.text, change.datasets), []).append(change)
        texts = []
        for changes in alike.values():
            if len(changes) > _COLUMNS:
                names = join_names([change.column for change in changes], _COLUMNS)
                texts.append(f"columns {names}: {changes[0].text}")
            else:
                texts += map(change_text, changes)
        omitted = len(texts) - _TEXTS
        rest = f"; and {omitted:,} more" if omitted > 0 else ""
        yield _finding(node, node.changes[0], "; ".join(texts[:_TEXTS]) + rest, locate)


def _unknown(node: NodeReview) -> str:
    """The one thing that is not known of a node; empty if there is more to tell."""
    change = node.changes[0]
    is_alone = len(node.changes) == 1 and not (change.column or node.allowed)
    return change.text if is_alone and change.verdict is ReviewVerdict.UNKNOWN else ""


def _shared_finding(nodes: Sequence[NodeReview]) -> Finding:
    change = nodes[0].changes[0]
    names = join_names([node.node_id for node in nodes], _COLUMNS)
    text = f"{change.text} ({count(len(nodes), 'node')})"
    return Finding(change.verdict.name, Severity.WARNING, names, text, _remedy(change))


def _finding(node: NodeReview, change: NodeChange, text: str, locate: Place) -> Finding:
    file, line = locate(node, change)
    severity = _SEVERITIES.get(change.verdict, Severity.WARNING)
    return Finding(
        change.verdict.name,
        Severity.NOTE if node.allowed else severity,
        node.node_id,
        text,
        "" if node.allowed else _remedy(change),
        place=f"{file}:{line}" if file else "",
        accepted=node.allowed,
    )


def _remedy(change: NodeChange) -> str:
    return recommended_action(change.kind) if change.kind else _REMEDIES.get(change.verdict, "")


def change_text(change: NodeChange) -> str:
    """`note: removed`, `spark/db.orders.note: removed`."""
    if not change.column:
        return change.text
    columns = [f"{dataset}.{change.column}" for dataset in change.datasets] or [change.column]
    return f"{', '.join(columns)}: {change.text}"


def _certain_to_fail(review: ProjectReview) -> Iterator[Finding]:
    yield from certain_to_fail(review.impact)
    known = {affected.test.node_id for affected in review.impact.tests if affected.breaks}
    for node in review.nodes:
        for test in node.breaks:
            if test not in known:
                yield failure(node.node_id, f"its test {test} names what is gone")


def _dataset_json(affected: ReviewedDataset) -> Section:
    return {
        "dataset": str(affected.dataset),
        "severity": affected.severity.name,
        "because": list(affected.because),
        "owner": affected.owner or None,
    }


def _node_json(node: NodeReview, locate: Place) -> Section:
    return {
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
                "part": change.part or None,
                "text": change.text,
                "line": locate(node, change)[1],
            }
            for change in node.changes
        ],
    }
