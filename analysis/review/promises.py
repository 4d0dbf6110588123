"""Changes of the promises of a column, by a contract or by tests.

By the change matrix of data contracts: a promise that is taken back breaks if it was enforced, as
does another unit; another set of values is to be tested by who reads them; a new promise is
harmless.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.analysis.checks.contracts import ColumnPromise
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.privacy.classification import Classification, classification
from dbt_graft.analysis.review.node_change import NodeChange, ReviewVerdict
from dbt_graft.analysis.review.types import type_change

_V = ReviewVerdict
# Of a promise that a test of dbt makes.
OF_VALUES = "accepted values"
_SENSITIVE = Classification.CONFIDENTIAL


def promise_changes(
    column: str, before: ColumnPromise, after: ColumnPromise, *, enforced: bool
) -> Iterator[NodeChange]:
    """The changes of the promises of a column.

    Args:
        enforced: Whether somebody relies on them: a contract is enforced before and after.
    """
    if before == after:
        return
    lost = _V.BREAKING if enforced else _V.VALUES
    if before.type and after.type and (kind := type_change(before.type, after.type)):
        yield column_type_change(column, before.type, after.type, kind)
    if before.required and not after.required:
        yield NodeChange(lost, "may be null now", ChangeType.SEMANTICS, column)
    if after.required and not before.required:
        yield NodeChange(_V.ADDITIVE, "is never null now", None, column)
    if gone := _kinds(before.constraints - after.constraints):
        yield NodeChange(lost, f"no longer enforced: {gone}", ChangeType.SEMANTICS, column)
    if new := _kinds(after.constraints - before.constraints):
        yield NodeChange(_V.ADDITIVE, f"enforced now: {new}", None, column)
    yield from _values(column, before, after)
    yield from _labels(column, before, after)
    if before.unit and after.unit and before.unit != after.unit:
        text = f"its unit is {after.unit}, no longer {before.unit}"
        yield NodeChange(_V.BREAKING, text, ChangeType.UNIT, column)


def added_column(column: str, promise: ColumnPromise) -> NodeChange:
    """A column that is new; one that is required breaks who writes."""
    if promise.required:
        return NodeChange(_V.BREAKING, "added, and required", ChangeType.ADD, column)
    return NodeChange(_V.ADDITIVE, "added", ChangeType.ADD, column)


def column_type_change(column: str, before: str, after: str, kind: ChangeType) -> NodeChange:
    """The change of a column's type."""
    verdict = _V.VALUES if kind is ChangeType.WIDEN else _V.BREAKING
    return NodeChange(verdict, f"{before} is {after} now", kind, column)


def _kinds(constraints: frozenset[tuple[str, str]]) -> str:
    return ", ".join(sorted({kind for kind, _ in constraints}))


def _values(column: str, before: ColumnPromise, after: ColumnPromise) -> Iterator[NodeChange]:
    added, removed = len(after.values - before.values), len(before.values - after.values)
    if before.values and not after.values:
        text = f"no longer limited to {OF_VALUES}"
        yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS, column)
    elif after.values and not before.values:
        yield NodeChange(_V.ADDITIVE, f"limited to {OF_VALUES} now", None, column)
    elif added or removed:
        parts = [f"{added} new" if added else "", f"{removed} gone" if removed else ""]
        text = f"other {OF_VALUES}: {', '.join(filter(None, parts))}"
        yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS, column)


def _labels(column: str, before: ColumnPromise, after: ColumnPromise) -> Iterator[NodeChange]:
    old, new = (classification(promise.classification) for promise in (before, after))
    if old == new:
        return
    names = [
        f"classified {level.text}" if level is not None else "unclassified" for level in (old, new)
    ]
    text = f"{names[1]} now, no longer {names[0]}"
    if new is not None and new >= _SENSITIVE and (old is None or new > old):
        yield NodeChange(_V.VALUES, text, ChangeType.PRIVACY, column)
    elif old is not None and old >= _SENSITIVE:
        yield NodeChange(_V.VALUES, text, None, column)
    else:
        yield NodeChange(_V.METADATA, text, None, column)
