"""Statements of a task that are other ones, without another effect that lineage shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.node_change import NodeChange, ReviewVerdict
from dbt_graft.analysis.review.task_version import TaskVersions
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Outcome

_V = ReviewVerdict


def other_statements(
    versions: TaskVersions, since: Lineage, changes: Collection[NodeChange]
) -> Iterator[NodeChange]:
    """Statements that are not understood, and others that no change explains."""
    explained = {dataset for change in changes for dataset in change.datasets}
    hidden = not_understood(versions, since)
    for dataset, reason in sorted(hidden.items()):
        text = f"writes {dataset} by other statements, not all of which are understood: {reason}"
        yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS, "", (dataset,))
    new, gone = versions.new.shapes, versions.gone.shapes
    # Where every run has shapes of its own, other ones are nothing new.
    vary = {dataset for dataset, shape in versions.before.shapes if shape in versions.varying}
    others = {dataset for dataset, _ in gone} | ({dataset for dataset, _ in new} - vary)
    for dataset in sorted(dataset for dataset in others if dataset):
        if dataset not in explained and dataset not in hidden:
            text = f"writes {dataset} by other statements, with the same tables and columns"
            yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS, "", (dataset,))
    if None in others and not changes and not others - {None}:
        targets = tuple(sorted(versions.after.writes))
        text = "reads by other statements, of the same tables and columns"
        yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS if targets else None, "", targets)


def not_understood(versions: TaskVersions, since: Lineage) -> dict[DatasetId, str]:
    """Outputs that new statements write which are not parsed in full, with a reason."""
    reasons = {}
    for dataset, shape_id in versions.new.shapes:
        shape = since.shapes.get(shape_id)
        if dataset and shape and shape.outcome is not Outcome.PARSED:
            reasons[dataset] = shape.reason or shape.outcome.value
    return reasons
