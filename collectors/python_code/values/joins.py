"""Two values of one name, after branches of the code."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.values.limits import MOST_VALUES
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Cell,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Items,
    Key,
    ObjectCell,
    OneOf,
    OpenPart,
    Ref,
    Text,
    Value,
    alternatives,
    combine,
)

Heap = dict[int, Cell]
# Numbers of cells; those made later are greater.
next_cell = itertools.count(1).__next__


def join(heap: Heap, left: Value | None, right: Value | None) -> Value:
    """A value that is one of the two; of frames and lists, a new one that is both."""
    if left is None or right is None:
        return left or right or UNKNOWN
    if left is right or left == right:
        return left
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Const) and value.value is None and not isinstance(other, Const):
            return other
    if isinstance(left, Ref) and isinstance(right, Ref):
        return _join_refs(heap, left, right)
    if isinstance(left, Items) and isinstance(right, Items):
        return join_items(heap, left, right)
    if isinstance(left, Data) and isinstance(right, Data):
        return combine([left, right])
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Data) and isinstance(other, Const | Text):
            parts = other.parts if isinstance(other, Text) else ()
            return combine([value, *parts])
    return _one_of(left, right)


def join_all(heap: Heap, values: Iterable[Value | None]) -> Value | None:
    """A value that is one of those that there are; None if there are none."""
    joined: Value | None = None
    for value in values:
        if value is not None:
            joined = join(heap, joined, value)
    return joined


def _one_of(left: Value, right: Value) -> Value:
    values = dict.fromkeys((*alternatives(left), *alternatives(right)))
    if len(values) > MOST_VALUES:
        return UNKNOWN
    return OneOf(tuple(values))


def _join_refs(heap: Heap, left: Ref, right: Ref) -> Value:
    first, second = heap[left.cell], heap[right.cell]
    if type(first) is not type(second) or _are_different_objects(first, second):
        if isinstance(first, Frame) and isinstance(second, Items) and not second.items:
            return left
        if isinstance(second, Frame) and isinstance(first, Items) and not first.items:
            return right
        return _one_of(left, right)
    joined = next_cell()
    heap[joined] = join_cells(heap, first, second)
    return Ref(joined)


def _are_different_objects(first: Cell, second: Cell) -> bool:
    """Whether they are no two objects of one class of the script's."""
    if not isinstance(first, ObjectCell) or not isinstance(second, ObjectCell):
        return False
    return first.of is None or first.of != second.of


def join_items(heap: Heap, left: Items, right: Items) -> Items:
    """Items of one or the other: place by place if there are as many, else any of them."""
    rows = left.rows | right.rows
    if len(left.items) == len(right.items):
        items = tuple(join(heap, a, b) for a, b in zip(left.items, right.items, strict=True))
        rest = join_all(heap, (left.rest, right.rest))
        names = left.names if left.names == right.names else ()
        return Items(items, rest, rows, names, join_open(left.open, right.open))
    return Items((), join_all(heap, (*left.items, *right.items, left.rest, right.rest)), rows)


def join_cells(heap: Heap, left: Cell, right: Cell) -> Cell:
    """The content of a cell after two branches."""
    if left is right or left == right:
        return left
    if isinstance(left, Frame) and isinstance(right, Frame):
        return join_frames(left, right)
    if isinstance(left, Items) and isinstance(right, Items):
        if not left.items and left.rest is None:
            return replace(right, rows=left.rows | right.rows)
        if not right.items and right.rest is None:
            return replace(left, rows=left.rows | right.rows)
        return join_items(heap, left, right)
    if isinstance(left, DictCell) and isinstance(right, DictCell):
        entries = {
            key: join(heap, left.entries.get(key), right.entries.get(key))
            for key in (*left.entries, *(key for key in right.entries if key not in left.entries))
        }
        rest = join_all(heap, (left.rest, right.rest))
        keys = join_all(heap, (left.keys, right.keys))
        rows = left.rows | right.rows
        return DictCell(entries, rest, keys, join_open(left.open, right.open), rows)
    if isinstance(left, ObjectCell) and isinstance(right, ObjectCell):
        names = dict(left.names)
        for name, value in right.names.items():
            if names.get(name) is not value:
                names[name] = join(heap, names.get(name), value)
        return replace(left, names=names)
    return left


def join_open(
    left: tuple[frozenset[OpenPart], ...], right: tuple[frozenset[OpenPart], ...]
) -> tuple[frozenset[OpenPart], ...]:
    """The open columns of rows that are of the one or the other."""
    if not left or not right or left == right:
        return left or right
    if len(left) == len(right) == 1:
        return (left[0] | right[0],)
    return tuple(dict.fromkeys((*left, *right)))


def from_open(group: frozenset[OpenPart], column: str, of_rows: bool = False) -> Data | None:
    """A column that is not named, of a group of open sources; None where it is not one of them."""
    inputs = frozenset(
        ColumnInput(part.source, column, part.subtype)
        for part in group
        if column not in part.without
    )
    return (
        Data(inputs, name=column, form=Form.VALUE if of_rows else Form.SERIES) if inputs else None
    )


def join_frames(left: Frame, right: Frame) -> Frame:
    """A frame whose rows are of the one or the other: after branches, or stacked by `concat`."""
    columns: dict[Key, Data] = {}
    for name in (*left.columns, *(name for name in right.columns if name not in left.columns)):
        sides = [side for frame in (left, right) if (side := _of_frame(frame, name)) is not None]
        columns[name] = combine(sides)
    rest = [data for data in (left.rest, right.rest) if data]
    return replace(
        left,
        columns=columns,
        open=join_open(left.open, right.open),
        rest=combine(rest) if rest else None,
        rows=left.rows | right.rows,
        order=left.order | right.order,
        index=left.index or right.index,
        gaps=left.gaps | right.gaps,
    )


def _of_frame(frame: Frame, name: Key) -> Data | None:
    if name in frame.columns:
        return frame.columns[name]
    if len(frame.open) == 1 and isinstance(name, str):
        return from_open(frame.open[0], name)
    return frame.rest
