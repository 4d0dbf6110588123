"""Two versions of tasks -> what is another in each: by their runs, or as they are declared.

What a task does now is new if no run before the base did it. It is gone if the last runs before it
all did it, and one that ended well since did not. A task that did not run since is left out: it
says nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.task_statements import ShapeOutline, not_understood, other_statements
from dbt_graft.analysis.review.task_version import (
    NO_WORK,
    ColumnFact,
    TaskVersion,
    TaskVersions,
    task_versions,
    usual_versions,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ANY_COLUMN, Evidence, Masking, Subtype, TaskInfo

TASK = "task"
_V = ReviewVerdict
_ROWS = {
    Subtype.FILTER: "other filters",
    Subtype.JOIN: "other joins",
    Subtype.GROUP_BY: "another grain: GROUP BY",
    Subtype.WINDOW: "another grain: windows",
}
_MOST = 3
_Facts = Collection[ColumnFact]


@frozen
class TaskSurroundings:
    """Other knowledge of the datasets that tasks use.

    Attributes:
        writers: Dataset -> the tasks and models that write it.
        known: The datasets that were there before the base.
    """

    writers: Mapping[DatasetId, Collection[str]] = field(default_factory=dict)
    known: Collection[DatasetId] = ()


def run_reviews(
    before: Lineage,
    last: Sequence[Lineage],
    since: Lineage,
    around: TaskSurroundings,
    changed: Collection[str],
    outline: ShapeOutline,
) -> tuple[NodeReview, ...]:
    """The tasks whose runs since the base do other things than those before.

    Args:
        before, last, since: Of the windows of `lineage.review.task_runs`.
        changed: The tasks that may have changed.
        outline: The outline of a statement.
    """
    old, new = task_versions(before), task_versions(since)
    usual = usual_versions(last)
    last_versions = [task_versions(lineage) for lineage in last]
    reviews: list[NodeReview] = []
    for name in sorted(new.keys() & changed):
        if new[name] == NO_WORK and not new[name].shapes:
            continue
        versions = TaskVersions(
            old.get(name, NO_WORK),
            new[name],
            usual.get(name, NO_WORK),
            varying=_varying_shapes(
                [by_task[name] for by_task in last_versions if name in by_task]
            ),
        )
        changes = [] if name in before.tasks else [NodeChange(_V.ADDITIVE, "new task")]
        changes += version_changes(name, versions, around, since)
        if name in before.tasks:
            changes += other_statements(versions, before, since, changes, outline)
        reviews += review_node(name, changes, since.tasks[name].info)
    return tuple(reviews)


def _varying_shapes(last: Sequence[TaskVersion]) -> set[str]:
    """The shapes that only some of the last runs had."""
    each = [{shape for _, shape in version.shapes} for version in last]
    return {
        shape for shapes in each for shape in shapes if any(shape not in other for other in each)
    }


def declared_reviews(
    before: Lineage, after: Lineage, observed: Lineage, around: TaskSurroundings
) -> tuple[NodeReview, ...]:
    """The tasks that are declared otherwise than in the base.

    Args:
        before, after: Of declared lineage alone.
        observed: What runs show is there, whatever is declared.
    """
    old, new = task_versions(before), task_versions(after)
    seen = task_versions(observed, (Evidence.OBSERVED, Evidence.INFERRED))
    reviews: list[NodeReview] = []
    for name in sorted({*old, *new}):
        first, second = old.get(name, NO_WORK), new.get(name, NO_WORK)
        versions = TaskVersions(first, second, first, seen.get(name, NO_WORK))
        changes = list(version_changes(name, versions, around, after))
        if name not in new:
            changes.append(NodeChange(_V.METADATA, "no longer declared"))
        elif name not in old:
            changes.append(NodeChange(_V.ADDITIVE, "newly declared"))
        elif not changes and first != second:
            text = "declared otherwise, and its runs show the same as before"
            changes.append(NodeChange(_V.METADATA, text))
        infos = [
            lineage.tasks[name].info if name in lineage.tasks else None
            for lineage in (before, after)
        ]
        if all(infos) and infos[0] != infos[1]:
            changes.append(NodeChange(_V.METADATA, "its description, owner or schedule"))
        reviews += review_node(name, changes, infos[1] or infos[0] or TaskInfo())
    return tuple(reviews)


def review_node(name: str, changes: Collection[NodeChange], info: TaskInfo) -> Iterator[NodeReview]:
    """The review of a task, the worst change first; none without changes."""
    if changes:
        ordered = sorted(
            set(changes),
            key=lambda change: (-change.verdict, change.datasets, change.column, change.text),
        )
        yield NodeReview(name, TASK, info.path, tuple(ordered), repo=info.repo)


def version_changes(
    name: str, versions: TaskVersions, around: TaskSurroundings, after: Lineage
) -> Iterator[NodeChange]:
    """The changes of a task between two versions of it."""
    yield from _write_changes(name, versions, around)
    lasting = versions.before.writes & versions.after.writes
    if versions.before.reads and versions.after.reads:
        yield from _read_changes(versions, lasting)
    yield from _operation_changes(versions, lasting)
    schemas = {key: dataset.columns for key, dataset in after.datasets.items()}
    yield from _column_changes(
        versions.new.columns,
        versions.gone.columns,
        versions.before.columns,
        versions.after.columns,
        lasting - not_understood(versions, after).keys(),
        {key: {column.name.casefold() for column in columns} for key, columns in schemas.items()},
    )


def _write_changes(
    name: str, versions: TaskVersions, around: TaskSurroundings
) -> Iterator[NodeChange]:
    for dataset in sorted(versions.new.writes):
        others = _others(name, dataset, around)
        if others:
            yield NodeChange(
                _V.ROWS, f"writes {dataset} now, as does {others}", ChangeType.ROWS, "", (dataset,)
            )
        elif dataset in around.known:
            text = f"writes {dataset} now, which was there before"
            yield NodeChange(_V.ROWS, text, ChangeType.ROWS, "", (dataset,))
        else:
            yield NodeChange(
                _V.ADDITIVE, f"writes {dataset}, which is new", ChangeType.ADD, "", (dataset,)
            )
    for dataset in sorted(versions.gone.writes):
        if any(other == dataset and how.removes for other, how in versions.new.operations):
            text = f"drops {dataset}, and no longer writes it"
            yield NodeChange(_V.BREAKING, text, ChangeType.REMOVE, "", (dataset,))
        elif others := _others(name, dataset, around):
            text = f"no longer writes {dataset}; {others} does"
            yield NodeChange(_V.ROWS, text, ChangeType.ROWS, "", (dataset,))
        else:
            text = f"no longer writes {dataset}, nor does anybody else"
            yield NodeChange(_V.BREAKING, text, ChangeType.FRESHNESS, "", (dataset,))


def _operation_changes(
    versions: TaskVersions, lasting: Collection[DatasetId]
) -> Iterator[NodeChange]:
    """Other ways of writing: an INSERT that was an INSERT OVERWRITE leaves other rows."""
    for dataset in sorted(lasting):
        now, then = (
            sorted(how for target, how in version.operations if target == dataset)
            for version in (versions.new, versions.gone)
        )
        if now or then:
            parts = [
                f"{verb} {', '.join(operations)}"
                for verb, operations in (("by", now), ("no longer by", then))
                if operations
            ]
            text = f"writes {dataset} {', '.join(parts)}"
            yield NodeChange(_V.ROWS, text, ChangeType.ROWS, "", (dataset,))


def _others(name: str, dataset: DatasetId, around: TaskSurroundings) -> str:
    others = sorted({*around.writers.get(dataset, ())} - {name})
    return others[0] if others else ""


def _read_changes(versions: TaskVersions, lasting: Collection[DatasetId]) -> Iterator[NodeChange]:
    """Inputs that come and go, of outputs that are in both versions, or of a task without any."""
    for version, verb in ((versions.new, "now reads"), (versions.gone, "no longer reads")):
        by_source: dict[DatasetId, set[DatasetId]] = {source: set() for source in version.reads}
        for source, target in version.flows:
            if target in lasting:
                by_source.setdefault(source, set()).add(target)
        writes = versions.before.writes | versions.after.writes
        for source, targets in sorted(by_source.items()):
            if source in writes and not targets:
                continue  # Its own output: a MERGE reads it, too.
            # For outputs that come or go with it, these are the change.
            if (
                targets
                or not writes
                or not any(
                    flow[0] == source for flow in (*versions.before.flows, *versions.after.flows)
                )
            ):
                is_common = source in versions.before.reads & versions.after.reads
                shown = (
                    f" for {_names(targets)}" if targets and (is_common or len(writes) > 1) else ""
                )
                yield NodeChange(
                    _V.ROWS,
                    f"{verb} {source}{shown}",
                    ChangeType.ROWS if targets else None,
                    "",
                    tuple(sorted(targets)),
                )


def _names(datasets: Collection[DatasetId]) -> str:
    return join_names([str(dataset) for dataset in sorted(datasets)])


def _column_changes(
    new: _Facts,
    gone: _Facts,
    before: _Facts,
    after: _Facts,
    datasets: Collection[DatasetId],
    schemas: Mapping[DatasetId, Collection[str]],
) -> Iterator[NodeChange]:
    """The changes of outputs that are in both versions.

    Args:
        new, gone: The facts that only one of the versions has.
        schemas: The columns of datasets now, folded; none where they are not known.
    """
    here = [fact for fact in new if fact.dataset in datasets]
    there = [fact for fact in gone if fact.dataset in datasets]
    rows = {(fact.dataset, fact.subtype) for fact in (*here, *there) if not fact.column}
    for dataset, subtype in sorted(rows):
        if subtype in _ROWS:
            text = f"{_ROWS[subtype]} of {dataset}"
            yield NodeChange(_V.ROWS, text, ChangeType.ROWS, "", (dataset,))
    first, second = _columns(before), _columns(after)
    for dataset, column in sorted(
        {(fact.dataset, fact.column) for fact in (*here, *there) if fact.column}
    ):
        key = (dataset, column)
        added = [fact for fact in here if (fact.dataset, fact.column) == key]
        missing = [fact for fact in there if (fact.dataset, fact.column) == key]
        if not any(output[0] == dataset for output in second):
            continue  # said once, below
        if (
            key not in first
            and any(output[0] == dataset for output in first)
            and column != ANY_COLUMN
        ):
            yield NodeChange(_V.ADDITIVE, "added", ChangeType.ADD, column, (dataset,))
        elif key not in second and schemas.get(dataset) and column not in schemas[dataset]:
            yield NodeChange(_V.BREAKING, "removed", ChangeType.REMOVE, column, (dataset,))
        else:
            yield from _other_sources(key, added, missing)
    for dataset in sorted({fact.dataset for fact in there if fact.column}):
        if not any(output[0] == dataset for output in second):
            text = f"the columns of {dataset} are no longer known"
            yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS, "", (dataset,))


def _other_sources(
    key: tuple[DatasetId, str], added: _Facts, missing: _Facts
) -> Iterator[NodeChange]:
    dataset, column = key
    now, then = (
        {(fact.source, fact.source_column) for fact in facts} for facts in (added, missing)
    )
    masked = {fact.masked_by for fact in added} - {Masking.NONE}
    was_masked = {fact.masked_by for fact in missing} - {Masking.NONE}
    parts = []
    if now - then:
        parts.append(f"comes from {_column_names(now - then)} now")
    if then - now:
        parts.append(f"no longer comes from {_column_names(then - now)}")
    if not parts:
        parts.append(f"another expression of {_column_names(now)}")
    kind = ChangeType.SEMANTICS
    if was_masked and not masked and added:
        kind = ChangeType.PRIVACY
        parts.append("is no longer masked")
    elif masked and not was_masked:
        parts.append("is masked now")
    yield NodeChange(_V.VALUES, "; ".join(parts), kind, column, (dataset,))


def _columns(facts: _Facts) -> dict[tuple[DatasetId, str], list[ColumnFact]]:
    by_output: dict[tuple[DatasetId, str], list[ColumnFact]] = defaultdict(list)
    for fact in facts:
        if fact.column:
            by_output[fact.dataset, fact.column].append(fact)
    return by_output


def _column_names(columns: Collection[tuple[DatasetId, str]]) -> str:
    return join_names([f"{dataset}.{column}" for dataset, column in sorted(columns)], _MOST)
