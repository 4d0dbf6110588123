"""Two versions of tasks' code -> the columns whose sources changed, and what may have changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.task_version import NO_WORK, TaskVersions, task_versions
from dbt_graft.analysis.review.tasks import TaskSurroundings, review_node, version_changes
from dbt_graft.lineage.code import TaskCode, name_text
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
    files: Mapping[str, Sequence[str]],
) -> tuple[NodeReview, ...]:
    """The reviews of tasks whose code changed.

    Columns follow from both versions. Where it is not clear what a change reaches, all that the
    script writes may be other.

    Args:
        old, new: A task that one of them lacks has no code there.
        before, after: The lineage of the two versions, by the code alone.
        reached: The columns that other expressions change, by task; none where more than
            expressions changed, or they go where no column is seen.
        files: The files that changed and that a task uses, or names at least.
    """
    versions = [task_versions(lineage) for lineage in (before, after)]
    reviews: list[NodeReview] = []
    for name in sorted({*old, *new}):
        code = new.get(name) or old[name]
        first, second = (version.get(name, NO_WORK) for version in versions)
        changes: list[NodeChange] = []
        if name in old:
            versions_of_task = TaskVersions(first, second, first)
            changes += version_changes(name, versions_of_task, TaskSurroundings(), after)
        if name not in old:
            text = f"its code is here now: {code.file}"
            changes.append(NodeChange(ReviewVerdict.METADATA, text))
        elif name not in new:
            text = f"its code is gone: {code.file}"
            changes.append(
                NodeChange(ReviewVerdict.UNKNOWN, text, datasets=tuple(sorted(first.writes)))
            )
        elif columns := reached.get(name):
            changes += _other_expressions(files[name][0], columns, changes)
        else:
            changes += _other_code(
                (old[name], code), sorted({*first.writes, *second.writes}), files.get(name, ())
            )
        reviews += review_node(name, changes, infos.get(name, TaskInfo()))
    return tuple(reviews)


def _other_expressions(
    file: str, columns: Collection[ReachedColumn], changes: Sequence[NodeChange]
) -> Iterator[NodeChange]:
    """The columns and rows that other expressions change, without those that are named already."""
    named = {(dataset, change.column) for change in changes for dataset in change.datasets}
    for dataset, column in sorted(set(columns) - named):
        if column:
            text = f"another expression in {file}"
            yield NodeChange(ReviewVerdict.VALUES, text, ChangeType.SEMANTICS, column, (dataset,))
        else:
            text = f"another condition in {file} decides on rows of {dataset}"
            yield NodeChange(ReviewVerdict.ROWS, text, ChangeType.ROWS, "", (dataset,))


def _other_code(
    versions: Sequence[TaskCode], written: Sequence[DatasetId], files: Sequence[str]
) -> Iterator[NodeChange]:
    """The effects that changed code may have."""
    tables = [str(dataset) for dataset in written]
    names_in_code = (name_text(write.table) for code in versions for write in code.writes)
    for name in dict.fromkeys(name.removeprefix("./") for name in names_in_code):
        # A table that no run has used has no dataset.
        ends = f".{name.casefold()}", f"/{name.casefold()}"
        if not any(str(dataset).casefold().endswith(ends) for dataset in written):
            tables.append(name)
    names = join_names(tables, _SHOWN) or "what it writes"
    changed = join_names(files or [code.file for code in versions[-1:]], _SHOWN)
    text = f"its code changed ({changed}): values and rows of {names} may be others"
    kind = ChangeType.ROWS if written else None
    yield NodeChange(ReviewVerdict.UNKNOWN, text, kind, "", tuple(written))
