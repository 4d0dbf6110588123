"""The columns of a node in two versions: which come and go, and have other values or types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from dbt_graft.analysis.checks.contracts import ColumnPromise
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.node import QueryOutline, ReviewedNode
from dbt_graft.analysis.review.node_change import NodeChange, ReviewVerdict
from dbt_graft.analysis.review.promises import added_column, column_type_change, promise_changes
from dbt_graft.analysis.review.types import type_change

_V = ReviewVerdict
_NO_PROMISE = ColumnPromise()
_OF_TYPES = (ChangeType.WIDEN, ChangeType.NARROW, ChangeType.TYPE)
_BEHIND = "its columns are behind a `*` of a table whose columns are not known"


def column_changes(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """The changes of columns: of their names, expressions, types and promises."""
    types = [*_types(before, after)]
    retyped = {change.column for change in types if change.kind in _OF_TYPES}
    for change in _names(before, after):
        # The catalog has what a conversion in the query makes.
        if not (change.kind in _OF_TYPES and change.column in retyped):
            yield change
    yield from types


def _names(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """Columns that go, come and have another expression."""
    old, new = before.known_columns, after.known_columns
    first, second = before.outline, after.outline
    outlines = (first, second) if first and second else None
    if not (_is_known(before) and _is_known(after)):
        if outlines and (before.code != after.code or outlines[0].behind != outlines[1].behind):
            renames = _renames(*outlines, [*outlines[0].columns], [*outlines[1].columns])
            yield from map(_renamed, renames.items())
            yield from _open_columns(*outlines, {*renames, *renames.values()})
        return
    gone = [name for name in old if name not in new]
    fresh = [name for name in new if name not in old]
    renames = _renames(*outlines, gone, fresh) if outlines else {}
    yield from map(_renamed, renames.items())
    for name in gone:
        if name not in renames:
            yield NodeChange(_V.BREAKING, "removed", ChangeType.REMOVE, _plain(name))
    for name in fresh:
        if name not in renames.values():
            plain = _plain(name)
            yield added_column(plain, after.promises.get(plain, _NO_PROMISE))
    if outlines and before.code != after.code:
        yield from _open_columns(*outlines, {*gone, *fresh})
    if outlines and not in_same_order(old, new):
        yield NodeChange(_V.METADATA, "its columns stand in another order")


def in_same_order(first: Collection[str], second: Collection[str]) -> bool:
    """Whether the columns that both have stand in the same order."""
    return [name for name in first if name in second] == [name for name in second if name in first]


def _is_known(node: ReviewedNode) -> bool:
    """Whether all its columns are known, and be it that it has none."""
    return bool(node.known_columns or (node.outline and not node.outline.is_open))


def _renamed(names: tuple[str, str]) -> NodeChange:
    old, new = names
    text = f"renamed to {new}: the same expression"
    return NodeChange(_V.BREAKING, text, ChangeType.RENAME, _plain(old))


def _plain(name: str) -> str:
    """A name as everybody writes it, without the quotes by which it is exact."""
    return name.strip('"')


def _renames(
    first: QueryOutline, second: QueryOutline, gone: list[str], fresh: list[str]
) -> dict[str, str]:
    """Old name -> new one, where exactly one column that went and one that came are equal."""
    by_digest: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for names, outline, at in ((gone, first, 0), (fresh, second, 1)):
        for name in names:
            if digest := outline.columns.get(name):
                by_digest[digest][at].append(name)
    pairs = [pair for pair in by_digest.values() if len(pair[0]) == len(pair[1]) == 1]
    return {old[0]: new[0] for old, new in pairs if old != new}


def _open_columns(
    first: QueryOutline, second: QueryOutline, explained: Collection[str]
) -> Iterator[NodeChange]:
    """Other expressions; unknown where columns behind a `*` may be others too.

    Args:
        explained: Columns of which it is known that they came or went.
    """
    yield from expression_changes(first, second)
    if first.is_open or second.is_open:
        names = {*first.columns} ^ {*second.columns}
        if names.difference(explained) or first.behind != second.behind:
            yield NodeChange(_V.UNKNOWN, _BEHIND, ChangeType.ROWS)


def expression_changes(first: QueryOutline, second: QueryOutline) -> Iterator[NodeChange]:
    """Columns of both versions whose expression or type is another."""
    for name, digest in first.columns.items():
        if second.columns.get(name, digest) == digest:
            continue
        old, new = first.casts.get(name), second.casts.get(name)
        if old and new and old.of == new.of and old.type != new.type:
            kind = type_change(old.type, new.type) or ChangeType.TYPE
            yield column_type_change(_plain(name), old.type, new.type, kind)
        elif new and new.of == digest:
            text = f"converted to {new.type} now"
            yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS, _plain(name))
        elif old and old.of == second.columns[name]:
            text = f"no longer converted to {old.type}"
            yield NodeChange(_V.VALUES, text, ChangeType.SEMANTICS, _plain(name))
        else:
            yield NodeChange(_V.VALUES, "another expression", ChangeType.SEMANTICS, _plain(name))
            other = type_change(old.type, new.type) if old and new else None
            if old and new and other:
                yield column_type_change(_plain(name), old.type, new.type, other)


def _types(before: ReviewedNode, after: ReviewedNode) -> Iterator[NodeChange]:
    """Types by the catalogs, and what is promised of columns that are in both versions."""
    retyped = set()
    for name, old in before.columns.items():
        new = after.columns.get(name)
        is_alike = new and before.listed == after.listed and old.type and new.type
        kind = type_change(old.type, new.type) if new and is_alike else None
        if new and kind:
            retyped.add(name)
            yield column_type_change(_plain(name), old.type, new.type, kind)
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
