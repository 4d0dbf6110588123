"""Two versions of a dbt project -> what is another in each node, and how much that matters.

The default policy is the change matrix of data contracts: removing, renaming, retyping and
narrowing break, as does a new required column; other rows and values are less; adding is harmless.
What differs and is not understood is unknown, never a matter of layout.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.columns import column_changes
from dbt_graft.analysis.review.node import QueryOutline, ReviewedNode
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.node_tests import VALUES_TEST, changed_tests
from dbt_graft.analysis.review.promises import OF_VALUES
from dbt_graft.analysis.review.settings import setting_changes

_V = ReviewVerdict
NOT_COMPILED = "it is not compiled: run `dbt compile`"
SAME_RESULT = "its SQL is written otherwise, with the same result"
# The change of code that is not a query of a model.
_CODE = {
    "test": NodeChange(_V.CONTRACT, "another query"),
    "analysis": NodeChange(_V.METADATA, "another query, whose result nothing keeps"),
    "hook": NodeChange(_V.ROWS, "another statement, which may change rows"),
    "python model": NodeChange(_V.UNKNOWN, "its Python code is another", ChangeType.ROWS),
    "macro": NodeChange(_V.UNKNOWN, "stands for one of dbt's own, and all models may use it"),
}
# Nodes that act on others, as they come and as they go.
_BESIDE = {
    "macro": (_CODE["macro"], _CODE["macro"]),
    "hook": (
        NodeChange(_V.ROWS, "a new statement, which may change rows", ChangeType.ROWS),
        NodeChange(_V.ROWS, "a statement is gone, which may have changed rows", ChangeType.ROWS),
    ),
}
# Nodes that somebody reads by their name; nobody reads others.
_READ = ("model", "python model", "seed", "snapshot", "metric", "semantic model", "function")


def compare(
    base: Mapping[str, ReviewedNode], new: Mapping[str, ReviewedNode]
) -> tuple[NodeReview, ...]:
    """The nodes that differ, the worst first."""
    reviews = []
    places = _moved_places(base, new)
    for node_id in sorted({*base, *new}):
        before, after = base.get(node_id), new.get(node_id)
        changes = sorted(
            set(_changes(before, after, places)),
            key=lambda change: (-change.verdict, change.column, change.text, change.part),
        )
        node = after or before
        if changes and node:
            gone = {
                change.column
                for change in changes
                if change.kind in (ChangeType.REMOVE, ChangeType.RENAME)
            }
            tests = [key for key, test in sorted(node.tests.items()) if test.column in gone - {""}]
            allowed = after.allowed if after else ""
            reviews.append(
                NodeReview(node_id, node.kind, node.file, tuple(changes), tuple(tests), allowed)
            )
    return tuple(sorted(reviews, key=lambda review: (-review.verdict, review.node_id)))


def _moved_places(
    base: Mapping[str, ReviewedNode], new: Mapping[str, ReviewedNode]
) -> set[tuple[str, str]]:
    """The schemas of the base's target, each with that of this one: CI builds in its own."""
    return {
        (before.place, after.place)
        for key, after in new.items()
        if after.kind != "source" and (before := base.get(key))
    }


def is_uncompiled(before: ReviewedNode, after: ReviewedNode) -> bool:
    """Whether neither version is compiled, and both would be compiled of the same code."""
    missing = before.problem == after.problem == NOT_COMPILED
    return missing and before.raw == after.raw


def _may_differ(before: ReviewedNode, after: ReviewedNode) -> bool:
    """Whether two versions, one of which is not understood, may be different queries."""
    if NOT_COMPILED in (before.problem, after.problem):
        return not is_uncompiled(before, after)
    return before.code != after.code


def _changes(
    before: ReviewedNode | None, after: ReviewedNode | None, places: Collection[tuple[str, str]]
) -> Iterator[NodeChange]:
    if before is None:
        if after and after.kind in _BESIDE:
            yield _BESIDE[after.kind][0]
        elif after:
            yield NodeChange(_V.ADDITIVE, f"new {after.kind}")
        return
    if after is None:
        if before.kind in _BESIDE:
            yield _BESIDE[before.kind][1]
        elif before.kind in _READ:
            yield NodeChange(_V.BREAKING, f"the {before.kind} is removed", ChangeType.REMOVE)
        else:
            verdict = _V.CONTRACT if before.kind == "test" else _V.METADATA
            yield NodeChange(verdict, f"the {before.kind} is no longer declared")
        return
    incremental = "incremental" in (before.materialized, after.materialized)
    values = {test.column: key for key, test in after.tests.items() if test.name == VALUES_TEST}
    query_changes = [
        *(
            replace(change, part=values.get(change.column, ""))
            if OF_VALUES in change.text
            else change
            for change in column_changes(before, after)
        ),
        *_query(before, after),
    ]
    known = before.known_columns, after.known_columns
    moved = {*known[0]} ^ {*known[1]} if all(known) else set()
    changes = [
        *_relation(before, after, places),
        *_contract(before, after),
        *setting_changes(before.settings, after.settings, incremental=incremental),
        *query_changes,
        *changed_tests(before.tests, after.tests, moved),
        *([NodeChange(_V.METADATA, "descriptions, tags or meta")] * (before.text != after.text)),
        *(() if query_changes else _hidden(before, after)),
    ]
    is_written = before.source_code != after.source_code and before.kind != "seed"
    if not changes and is_written and not is_uncompiled(before, after):
        changes.append(NodeChange(_V.METADATA, SAME_RESULT))
    yield from changes


def _relation(
    before: ReviewedNode, after: ReviewedNode, places: Collection[tuple[str, str]]
) -> Iterator[NodeChange]:
    if before.relation != after.relation:
        text = (
            f"its relation is {after.relation.strip('.')}, no longer {before.relation.strip('.')}"
        )
        if before.kind != "source":
            yield NodeChange(_V.BREAKING, text, ChangeType.REMOVE)
        elif (before.place, after.place) not in places or _name(before) != _name(after):
            yield NodeChange(_V.ROWS, text, ChangeType.ROWS)
    if before.materialized != after.materialized and before.materialized and after.materialized:
        text = f"materialized as {after.materialized}, no longer {before.materialized}"
        kinds = {before.materialized, after.materialized}
        if after.materialized == "ephemeral":
            yield NodeChange(_V.BREAKING, text, ChangeType.REMOVE)
        elif kinds <= {"table", "view", "ephemeral", "materialized_view"}:
            yield NodeChange(_V.COST, text)
        else:
            yield NodeChange(_V.ROWS, f"{text}: it decides which rows stay", ChangeType.ROWS)


def _name(node: ReviewedNode) -> str:
    return node.relation.rpartition(".")[2]


def _contract(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    if before.contract and not after.contract:
        yield NodeChange(_V.BREAKING, "its contract is no longer enforced")
    if after.contract and not before.contract:
        yield NodeChange(_V.ADDITIVE, "its contract is enforced now")
    lost = _V.BREAKING if before.contract and after.contract else _V.CONTRACT
    for constraint in sorted(before.constraints - after.constraints):
        yield NodeChange(lost, f"no longer enforced: {constraint[0]}", ChangeType.SEMANTICS)
    for constraint in sorted(after.constraints - before.constraints):
        yield NodeChange(_V.ADDITIVE, f"enforced now: {constraint[0]}")


def _query(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """Changes of rows; what cannot be compared is unknown unless the code is equal."""
    first, second = before.outline, after.outline
    if first and second:
        if before.code != after.code:
            yield from outline_changes(first, second)
        return
    problem = before.problem and f"in the base {before.problem}"
    problem = after.problem or problem
    if before.kind == "seed":
        if before.code != after.code:
            yield NodeChange(_V.ROWS, "another file", ChangeType.ROWS)
    elif problem and _may_differ(before, after):
        yield NodeChange(_V.UNKNOWN, problem, ChangeType.ROWS)
    elif before.code != after.code:
        yield _CODE.get(before.kind, NodeChange(_V.UNKNOWN, "its code is another", ChangeType.ROWS))


def outline_changes(first: QueryOutline, second: QueryOutline) -> Iterator[NodeChange]:
    """Changes of the rows of a query, and of what is not understood of it."""
    places = sorted({place for place, _ in first.rest ^ second.rest})
    if places:
        text = f"{', '.join(places)}: another, and what that changes is not known"
        yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS)
    parts = [
        ("other filters", first.filters, second.filters),
        ("other joins", first.joins, second.joins),
        ("another grain: GROUP BY, DISTINCT, UNION or table functions", first.grain, second.grain),
        ("other tables are read", first.sources, second.sources),
    ]
    if first.rows != second.rows:
        texts = [text for text, old, new in parts if old != new]
        for text in texts or ([] if places else ["another order of its steps"]):
            yield NodeChange(_V.ROWS, text, ChangeType.ROWS)
    elif first.ties != second.ties and first.columns == second.columns:
        text = "other columns stand together in the parts of a UNION"
        yield NodeChange(_V.ROWS, text, ChangeType.ROWS)
    elif _sees_other_rows(first, second):
        text = "a window function sees other rows, which are filtered or joined elsewhere"
        yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS)
    if hints := sorted({place for place, _ in first.costs ^ second.costs}):
        yield NodeChange(_V.COST, f"{', '.join(hints)}: another, for the same rows")


def _sees_other_rows(first: QueryOutline, second: QueryOutline) -> bool:
    """Whether a function over a window that both have is over other rows in one of them."""
    functions = {key for key, _ in first.windows} & {key for key, _ in second.windows}
    return any(function in functions for function, _ in first.windows ^ second.windows)


def _hidden(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """Changes of what the compiled query does not show: of macros, and of a branch."""
    if before.macros != after.macros:
        if before.has_hooks or after.has_hooks:
            text = "a macro behind it is another, and its hooks may use it"
            yield NodeChange(_V.ROWS, text, ChangeType.ROWS)
        elif before.kind == "test":
            yield NodeChange(_V.CONTRACT, "a macro behind it is another")
        else:
            text = "a macro behind it is another, and its compiled SQL gives the same"
            yield NodeChange(_V.METADATA, text)
    has_branches = before.has_branches or after.has_branches
    is_same = before.source_code == after.source_code and before.macros == after.macros
    if is_same or not has_branches or before.problem:
        return
    if len(before.branches) == len(after.branches) == 2:
        for first, second in zip(before.branches, after.branches, strict=True):
            yield from branch_changes(first, second)
    else:
        text = "a branch of its code that was not compiled may be another (`is_incremental()`)"
        yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS)


def branch_changes(first: QueryOutline, second: QueryOutline) -> Iterator[NodeChange]:
    """The changes of a branch that the manifest does not have compiled."""
    if first.columns != second.columns or first.behind != second.behind:
        text = "other columns in a branch of `is_incremental()`"
        yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS)
    for change in outline_changes(first, second):
        text = f"{change.text}, in a branch of `is_incremental()`"
        yield NodeChange(change.verdict, text, change.kind)
