"""Two versions of tasks' code -> the columns whose sources changed, and what may have changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.task_version import NO_WORK, TaskVersions, task_versions
from dbt_graft.analysis.review.tasks import TaskSurroundings, review_node, version_changes
from dbt_graft.lineage.code import TaskCode
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import TaskInfo

_SHOWN = 3
# A dataset and its column; no column for its rows.
ReachedColumn = tuple[DatasetId, str]


def code_reviews(
    old: Mapping[str, TaskCode],
    new: Mapping[str, TaskCode],
    before: Lineage,
    after: Lineage,
    infos: Mapping[str, TaskInfo],
    reached: Mapping[str, Collection[ReachedColumn]],
) -> tuple[NodeReview, ...]:
    """The reviews of tasks whose code changed.

    Columns follow from both versions. Where it is not clear what a change reaches, all that the
    script writes may be other.

    Args:
        before, after: The lineage of the two versions, by the code alone.
        reached: The columns that other expressions change, by task; none where more than
            expressions changed, or they go where no column is seen.
    """
    versions = [task_versions(lineage) for lineage in (before, after)]
    reviews: list[NodeReview] = []
    for name, code in sorted(new.items()):
        info = infos.get(name, TaskInfo())
        if name not in old:
            changes = [NodeChange(ReviewVerdict.METADATA, f"its code is here now: {code.file}")]
        else:
            first, second = (version.get(name, NO_WORK) for version in versions)
            changes = list(
                version_changes(name, TaskVersions(first, second, first), TaskSurroundings(), after)
            )
            if columns := reached.get(name):
                changes += _other_expressions(code, columns, changes)
            else:
                changes += _other_code(code, sorted({*first.writes, *second.writes}))
        reviews += review_node(name, changes, info)
    return tuple(reviews)


def _other_expressions(
    code: TaskCode, columns: Collection[ReachedColumn], changes: Sequence[NodeChange]
) -> Iterator[NodeChange]:
    """The columns and rows that other expressions change, without those that are named already."""
    named = {(dataset, change.column) for change in changes for dataset in change.datasets}
    for dataset, column in sorted(set(columns) - named):
        if column:
            text = f"another expression in {code.file}"
            yield NodeChange(ReviewVerdict.VALUES, text, ChangeType.SEMANTICS, column, (dataset,))
        else:
            text = f"another condition in {code.file} decides on rows of {dataset}"
            yield NodeChange(ReviewVerdict.ROWS, text, ChangeType.ROWS, "", (dataset,))


def _other_code(code: TaskCode, written: list[DatasetId]) -> Iterator[NodeChange]:
    """The effects that changed code may have."""
    names = join_names([str(dataset) for dataset in written], _SHOWN) or "what it writes"
    text = f"its code changed ({code.file}): values and rows of {names} may be others"
    kind = ChangeType.ROWS if written else None
    yield NodeChange(ReviewVerdict.UNKNOWN, text, kind, "", tuple(written))
