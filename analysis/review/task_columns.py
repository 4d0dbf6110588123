"""The sources of a task's columns, before and after -> changes of columns and of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.review.node_change import NodeChange, ReviewVerdict
from dbt_graft.analysis.review.task_version import ColumnFact
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, Masking, Subtype

_ROWS = {
    Subtype.FILTER: "other filters",
    Subtype.JOIN: "other joins",
    Subtype.GROUP_BY: "another grain: GROUP BY",
    Subtype.WINDOW: "another grain: windows",
}
_MOST = 3
_V = ReviewVerdict
_Facts = Collection[ColumnFact]


def column_changes(
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
        parts.append(f"comes from {_names(now - then)} now")
    if then - now:
        parts.append(f"no longer comes from {_names(then - now)}")
    if not parts:
        parts.append(f"another expression of {_names(now)}")
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


def _names(columns: Collection[tuple[DatasetId, str]]) -> str:
    return join_names([f"{dataset}.{column}" for dataset, column in sorted(columns)], _MOST)
