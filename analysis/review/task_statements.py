"""Statements of a task that are other ones: what is another in them, by their syntax trees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.columns import expression_changes, in_same_order
from dbt_graft.analysis.review.compare import outline_changes
from dbt_graft.analysis.review.node import QueryOutline
from dbt_graft.analysis.review.node_change import NodeChange, ReviewVerdict
from dbt_graft.analysis.review.task_version import TaskVersions
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Outcome, Shape

_V = ReviewVerdict
# The outline of a statement; None where its SQL has no tree.
ShapeOutline = Callable[[Shape], QueryOutline | None]
_Target = DatasetId | None


def other_statements(
    versions: TaskVersions,
    before: Lineage,
    since: Lineage,
    changes: Collection[NodeChange],
    outline: ShapeOutline,
) -> Iterator[NodeChange]:
    """Statements that are not understood, and differences of others that no change explains."""
    explained = {dataset for change in changes for dataset in change.datasets}
    hidden = not_understood(versions, since)
    for dataset, reason in sorted(hidden.items()):
        text = f"writes {dataset} by other statements, not all of which are understood: {reason}"
        yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS, "", (dataset,))
    new, gone = versions.new.shapes, versions.gone.shapes
    # Where every run has shapes of its own, other ones are nothing new.
    vary = {dataset for dataset, shape in versions.before.shapes if shape in versions.varying}
    others = {dataset for dataset, _ in gone} | ({dataset for dataset, _ in new} - vary)
    for target in sorted(others, key=lambda dataset: (dataset is None, dataset or "")):
        if target in hidden:
            continue
        pairs = _differing(
            [_outline_of(shape, before, outline) for shape in _shapes_of(target, gone)],
            [_outline_of(shape, since, outline) for shape in _shapes_of(target, new)],
        )
        if pairs is None:
            if target not in explained and (target or (not changes and not others - {None})):
                yield _unknown(target, versions)
            continue
        for first, second in pairs:
            yield from _of_target(target, first, second, versions, changes)


def _shapes_of(target: _Target, shapes: Collection[tuple[_Target, str]]) -> list[str]:
    return sorted(shape for dataset, shape in shapes if dataset == target)


def _outline_of(shape_id: str, lineage: Lineage, outline: ShapeOutline) -> QueryOutline | None:
    shape = lineage.shapes.get(shape_id)
    return outline(shape) if shape else None


def _differing(
    gone: list[QueryOutline | None], new: list[QueryOutline | None]
) -> list[tuple[QueryOutline, QueryOutline]] | None:
    """The statements that stand for each other and differ; None where that is not known."""
    if None in gone or None in new:
        return None
    old, fresh = [o for o in gone if o], [o for o in new if o]
    for outline in list(old):
        same = [
            other
            for other in fresh
            if other == outline and in_same_order(outline.columns, other.columns)
        ]
        if same:
            old.remove(outline)
            fresh.remove(same[0])
    if len(old) != len(fresh):
        return None
    pairs = []
    for outline in old:
        likest = max(fresh, key=lambda other: _likeness(outline, other))
        fresh.remove(likest)
        pairs.append((outline, likest))
    return pairs


def _likeness(first: QueryOutline, second: QueryOutline) -> int:
    parts = ("filters", "joins", "grain", "sources", "rest")
    alike = sum(len(getattr(first, part) & getattr(second, part)) for part in parts)
    return alike + len(first.columns.items() & second.columns.items())


def _of_target(
    target: _Target,
    first: QueryOutline,
    second: QueryOutline,
    versions: TaskVersions,
    changes: Collection[NodeChange],
) -> Iterator[NodeChange]:
    """The differences of two statements that the task's lineage does not tell."""
    datasets = (target,) if target else tuple(sorted(versions.after.writes))
    shown = [change for change in changes if {*change.datasets} & {*datasets}]
    columns = {change.column for change in shown if change.column}
    for change in expression_changes(first, second):
        if change.column not in columns:
            yield replace(change, datasets=datasets)
    for name in sorted(first.columns.keys() ^ second.columns.keys()):
        if not (first.is_open or second.is_open or name in columns):
            text = "is written now" if name in second.columns else "is no longer written"
            yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS, name, datasets)
    if not in_same_order(first.columns, second.columns):
        text = f"inserts columns into {target} in another order, without naming them"
        yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS, "", datasets)
    texts = {change.text for change in changes}
    reads = any("reads" in change.text for change in changes)
    for change in outline_changes(first, second):
        if change.text == "other tables are read" and reads:
            continue
        text = f"{change.text} of {target}" if target else change.text
        if text not in texts:
            yield replace(change, text=text, datasets=datasets if change.kind else ())


def _unknown(target: _Target, versions: TaskVersions) -> NodeChange:
    if target:
        text = f"writes {target} by other statements, with the same tables and columns"
        return NodeChange(_V.UNKNOWN, text, ChangeType.ROWS, "", (target,))
    targets = tuple(sorted(versions.after.writes))
    text = "reads by other statements, of the same tables and columns"
    return NodeChange(_V.UNKNOWN, text, ChangeType.ROWS if targets else None, "", targets)


def not_understood(versions: TaskVersions, since: Lineage) -> dict[DatasetId, str]:
    """Outputs that new statements write which are not parsed in full, with a reason."""
    reasons = {}
    for dataset, shape_id in versions.new.shapes:
        shape = since.shapes.get(shape_id)
        if dataset and shape and shape.outcome is not Outcome.PARSED:
            reasons[dataset] = shape.reason or shape.outcome.value
    return reasons
