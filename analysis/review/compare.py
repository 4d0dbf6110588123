"""Two versions of a dbt project -> what is another in each node, and how much that matters.

The default policy is the change matrix of data contracts: removing, renaming, retyping and
narrowing break, as does a new required column; other rows and values are less; adding is harmless.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from dbt_graft.analysis.checks.column_promise import ColumnPromise
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.node import QueryOutline, ReviewedNode
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.promises import column_type_change, promise_changes
from dbt_graft.analysis.review.types import type_change

_V = ReviewVerdict
NOT_COMPILED = "it is not compiled: run `dbt compile`"
_NO_PROMISE = ColumnPromise()
_OF_TYPES = (ChangeType.WIDEN, ChangeType.NARROW, ChangeType.TYPE)


def compare(
    base: Mapping[str, ReviewedNode], new: Mapping[str, ReviewedNode]
) -> tuple[NodeReview, ...]:
    """The nodes that differ, the worst first."""
    reviews = []
    for node_id in sorted({*base, *new}):
        before, after = base.get(node_id), new.get(node_id)
        changes = sorted(
            set(_changes(before, after)),
            key=lambda change: (-change.verdict, change.column, change.text),
        )
        node = after or before
        if changes and node:
            gone = {
                change.column
                for change in changes
                if change.kind in (ChangeType.REMOVE, ChangeType.RENAME)
            }
            tests = [test for test, column in sorted(node.tests.items()) if column in gone]
            allowed = after.allowed if after else ""
            reviews.append(
                NodeReview(node_id, node.kind, node.file, tuple(changes), tuple(tests), allowed)
            )
    return tuple(sorted(reviews, key=lambda review: (-review.verdict, review.node_id)))


def is_uncompiled(before: ReviewedNode, after: ReviewedNode) -> bool:
    """Whether neither version is compiled, and both would be compiled of the same code."""
    missing = before.problem == after.problem == NOT_COMPILED
    return missing and before.raw == after.raw


def _may_differ(before: ReviewedNode, after: ReviewedNode) -> bool:
    """Whether two versions, one of which is not understood, may be different queries."""
    if NOT_COMPILED in (before.problem, after.problem):
        return not is_uncompiled(before, after)
    return before.code != after.code


def _changes(before: ReviewedNode | None, after: ReviewedNode | None) -> Iterator[NodeChange]:
    if before is None:
        kind = "source" if after and after.kind == "source" else "node"
        yield NodeChange(_V.ADDITIVE, f"new {kind}")
        return
    if after is None:
        if before.kind == "source":
            yield NodeChange(_V.METADATA, "the source is no longer declared")
        else:
            yield NodeChange(_V.BREAKING, f"the {before.kind} is removed", ChangeType.REMOVE)
        return
    yield from _settings(before, after)
    changes = [*_columns(before, after), *_types(before, after), *_query(before, after)]
    yield from changes
    if before.text != after.text:
        yield NodeChange(_V.METADATA, "descriptions, tags or meta")
    if before.code != after.code and not changes and (before.outline and after.outline):
        yield NodeChange(_V.METADATA, "only the layout of its SQL")


def _settings(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    if before.relation != after.relation:
        text = (
            f"its relation is {after.relation.strip('.')}, no longer {before.relation.strip('.')}"
        )
        yield NodeChange(_V.BREAKING, text, ChangeType.REMOVE)
    if before.materialized != after.materialized:
        text = f"materialized as {after.materialized}, no longer {before.materialized}"
        gone = after.materialized == "ephemeral"
        yield NodeChange(
            _V.BREAKING if gone else _V.METADATA, text, ChangeType.REMOVE if gone else None
        )
    if before.contract and not after.contract:
        yield NodeChange(_V.BREAKING, "its contract is no longer enforced")
    if after.contract and not before.contract:
        yield NodeChange(_V.ADDITIVE, "its contract is enforced now")
    lost = _V.BREAKING if before.contract and after.contract else _V.COLUMNS
    for constraint in sorted(before.constraints - after.constraints):
        yield NodeChange(lost, f"no longer enforced: {constraint[0]}", ChangeType.SEMANTICS)
    for constraint in sorted(after.constraints - before.constraints):
        yield NodeChange(_V.ADDITIVE, f"enforced now: {constraint[0]}")
    if before.settings != after.settings:
        text = "how it is loaded: its strategy or keys"
        yield NodeChange(_V.ROWS, text, ChangeType.ROWS)


def _columns(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """Columns that go, come and have another expression."""
    old, new = before.known_columns, after.known_columns
    first, second = before.outline, after.outline
    is_other = first and second and before.code != after.code
    if not old or not new:
        if first and second and (is_other or first.is_open != second.is_open):
            yield from _open_columns(first, second, ())
        return
    gone = [name for name in old if name not in new]
    fresh = [name for name in new if name not in old]
    renames = _renames(first, second, gone, fresh)
    for name in gone:
        if name in renames:
            text = f"renamed to {renames[name]}: the same expression"
            yield NodeChange(_V.BREAKING, text, ChangeType.RENAME, name)
        else:
            yield NodeChange(_V.BREAKING, "removed", ChangeType.REMOVE, name)
    for name in fresh:
        if name in renames.values():
            continue
        if after.promises.get(name, _NO_PROMISE).required:
            yield NodeChange(_V.BREAKING, "added, and required", ChangeType.ADD, name)
        else:
            yield NodeChange(_V.ADDITIVE, "added", ChangeType.ADD, name)
    if first and second and is_other:
        yield from _open_columns(first, second, {*gone, *fresh})


def _renames(
    first: QueryOutline | None, second: QueryOutline | None, gone: list[str], fresh: list[str]
) -> dict[str, str]:
    """Old name -> new one, where exactly one column that went and one that came are equal."""
    if not first or not second:
        return {}
    by_digest: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for names, outline, at in ((gone, first, 0), (fresh, second, 1)):
        for name in names:
            if digest := outline.columns.get(name):
                by_digest[digest][at].append(name)
    pairs = [pair for pair in by_digest.values() if len(pair[0]) == len(pair[1]) == 1]
    return {old[0]: new[0] for old, new in pairs}


def _open_columns(
    first: QueryOutline, second: QueryOutline, explained: Collection[str]
) -> Iterator[NodeChange]:
    """Other expressions; unknown where columns behind a `*` may be others too.

    Args:
        explained: Columns of which the catalogs know that they came or went.
    """
    yield from _expressions(first, second)
    if first.is_open or second.is_open:
        names = {*first.columns} ^ {*second.columns}
        is_same = first.is_open == second.is_open and first.sources == second.sources
        if names.difference(explained) or not is_same:
            text = "its columns are behind a `*` of a table whose columns are not known"
            yield NodeChange(_V.UNKNOWN, text, ChangeType.ROWS)


def _expressions(first: QueryOutline, second: QueryOutline) -> Iterator[NodeChange]:
    for name, digest in first.columns.items():
        if second.columns.get(name, digest) != digest:
            yield NodeChange(_V.COLUMNS, "another expression", ChangeType.SEMANTICS, name)


def _types(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """Types by the catalogs, and what is promised of columns that are in both versions."""
    retyped = set()
    for name, old in before.columns.items():
        new = after.columns.get(name)
        is_alike = new and before.listed == after.listed and old.type and new.type
        kind = type_change(old.type, new.type) if new and is_alike else None
        if new and kind:
            retyped.add(name)
            yield column_type_change(name, old.type, new.type, kind)
    first, second = before.known_columns, after.known_columns
    moved = {*first} ^ {*second} if first and second else set()
    enforced = before.contract and after.contract
    for name in sorted({*before.promises, *after.promises} - moved):
        old_promise, new_promise = (
            node.promises.get(name, _NO_PROMISE) for node in (before, after)
        )
        for change in promise_changes(name, old_promise, new_promise, enforced=enforced):
            if not (name in retyped and change.kind in _OF_TYPES):
                yield change


def _query(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """Changes of rows; what cannot be compared is unknown unless the code is equal."""
    first, second = before.outline, after.outline
    if first is None or second is None:
        problem = before.problem and f"in the base {before.problem}"
        problem = after.problem or problem
        if before.kind == "seed":
            if before.code != after.code:
                yield NodeChange(_V.ROWS, "another file", ChangeType.ROWS)
        elif problem and _may_differ(before, after):
            yield NodeChange(_V.UNKNOWN, problem, ChangeType.ROWS)
        elif before.code != after.code:
            yield NodeChange(_V.UNKNOWN, "its Python code is another", ChangeType.ROWS)
        return
    if first.rows == second.rows or before.code == after.code:
        return
    parts = [
        ("other filters", first.filters, second.filters),
        ("other joins", first.joins, second.joins),
        ("another grain: GROUP BY, DISTINCT, UNION or table functions", first.grain, second.grain),
        ("other tables are read", first.sources, second.sources),
    ]
    texts = [text for text, old, new in parts if old != new] or ["another order of its steps"]
    for text in texts:
        yield NodeChange(_V.ROWS, text, ChangeType.ROWS)
