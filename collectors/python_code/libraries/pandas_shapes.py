"""Frames put together and turned around: merge, join, concat, pivot, melt; and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbt_graft.collectors.python_code.libraries.pandas_series import function_name
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    as_keys,
    by_name,
    exclude,
    find_column,
    merge_aliases,
    opaque_frame,
    select,
)
from dbt_graft.collectors.python_code.values.joins import join_frames
from dbt_graft.collectors.python_code.values.machine import Call, Handler
from dbt_graft.collectors.python_code.values.values import (
    NO_GAPS,
    NOTHING,
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Inputs,
    Items,
    Key,
    Value,
    all_inputs,
    change,
    combine,
    derive,
)
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Subtype

_Levels = Sequence[tuple[Key, Data]]


def merge(call: Call) -> Value:
    """`pd.merge(left, right, …)`, `left.merge(right, …)`."""
    machine = call.machine
    is_method = machine.frame(call.owner) is not None
    left = as_frame(machine, call.owner if is_method else call.get("left", 0))
    right = as_frame(machine, call.get("right", 0 if is_method else 1))
    if left is None or right is None:
        gap = machine.gap("a frame that is merged is not known")
        known = left or right
        if known is None:
            return Data(origin=gap)
        return machine.new(known.with_more(gap))
    shift = 0 if is_method else 1
    how = call.text("how", 1 + shift) or "inner"
    on = call.keys("on", 2 + shift)
    lefts = _with_groups(call, call.keys("left_on", 3 + shift) or on, "left_by")
    rights = _with_groups(call, call.keys("right_on", 4 + shift) or on, "right_by")
    suffixes = machine.keys(call.get("suffixes")) or ["_x", "_y"]
    if len(suffixes) != 2:
        suffixes = ["_x", "_y"]
    named = (("left_on", 3 + shift, lefts), ("right_on", 4 + shift, rights))
    computed = [call.get(name, at) for name, at, keys in named if keys is None]
    deciding = NOTHING.union(*(machine.data(key).inputs for key in computed if key))
    sides = Sides(left, right, how, tuple("" if s is None else str(s) for s in suffixes), deciding)
    if how == "cross":
        return machine.new(merge_sides(sides, [], []))
    by_left = call.flag("left_index") is True
    by_right = call.flag("right_index") is True
    left_keys = list(left.index) if by_left else _keys(call, left, lefts)
    right_keys = list(right.index) if by_right else _keys(call, right, rights)
    if lefts is None and rights is None and not (by_left or by_right or sides.deciding):
        if call.get("on") is not None or left.open or right.open:
            gap = machine.gap("the columns that frames are merged by are not known")
            merged = merge_sides(sides, [], [])
            return machine.new(merged.with_gap(gap))
        names = [name for name in left.columns if name in right.columns]
        left_keys = _keys(call, left, list(names))
        right_keys = _keys(call, right, list(names))
    frame = merge_sides(sides, left_keys, right_keys)
    if by_left and by_right:
        frame = replace(frame, index=_joined_index(how, left, right))
    indicator = machine.key(call.get("indicator"))
    if indicator is True or isinstance(indicator, str):
        keys = all_inputs(data for _, data in [*left_keys, *right_keys])
        name = indicator if isinstance(indicator, str) else "_merge"
        frame = frame.with_column(name, Data(change(keys), place=call.place))
    return machine.new(frame)


def _joined_index(how: str, left: Frame, right: Frame) -> tuple[tuple[Key, Data], ...]:
    """The index of two frames that are joined by theirs; of both, a name that differs is none."""
    if how in {"left", "right"}:
        return left.index if how == "left" else right.index
    levels = zip(left.index, right.index, strict=False)
    return tuple(
        (a if a == b else None, _key_column(how, mine, other)) for (a, mine), (b, other) in levels
    )


def _with_groups(call: Call, keys: list[object] | None, name: str) -> list[object] | None:
    """The keys of `merge_asof` with those that must be equal."""
    groups = call.keys(name) or call.keys("by")
    return [*(keys or []), *groups] if groups else keys


@frozen
class Sides:
    """Two frames and how they are merged.

    Attributes:
        deciding: The inputs of keys that are no columns of a frame.
    """

    left: Frame
    right: Frame
    how: str
    suffixes: tuple[str, ...]
    deciding: Inputs = NOTHING


def _keys(call: Call, frame: Frame, names: list[object] | None) -> _Levels:
    return [(name, find_column(call.machine, frame, name)) for name in as_keys(names or [])]


def merge_sides(sides: Sides, lefts: _Levels, rights: _Levels) -> Frame:
    """The columns and rows of two frames that are merged by keys."""
    left, right = sides.left, sides.right
    deciding = sides.deciding.union(*(data.inputs for _, data in [*lefts, *rights]))
    shared = {
        a: (mine, other) for (a, mine), (b, other) in zip(lefts, rights, strict=False) if a == b
    }
    if sides.how in {"semi", "leftsemi", "left_semi", "anti", "leftanti", "left_anti"}:
        rows = left.rows | right.rows | change(deciding, Subtype.JOIN)
        return replace(left, rows=rows)
    columns: dict[Key, Data] = {}
    both = {name for name in left.columns if name in right.columns and name not in shared}
    for name, data in left.columns.items():
        columns[_suffixed(name, sides.suffixes[0]) if name in both else name] = data
    for name, data in right.columns.items():
        if name not in shared:
            columns[_suffixed(name, sides.suffixes[1]) if name in both else name] = data
    for name, (mine, other) in shared.items():
        columns[name] = _key_column(sides.how, mine, other)
    # A key that the left frame does not name comes first.
    columns = {**{n: columns[n] for n in shared if n not in left.columns}, **columns}
    own, others = exclude(left.open, [*shared, *right.columns]), exclude(right.open, list(shared))
    others = exclude(others, list(left.columns))
    rest = [data for data in (left.rest, right.rest) if data]
    return Frame(
        columns,
        (*own, *others),
        combine(rest) if rest else None,
        left.rows | right.rows | change(deciding, Subtype.JOIN),
        left.order,
        (),
        left.gaps | right.gaps,
        left.library,
        merge_aliases(left.aliases, right.aliases),
    )


def _key_column(how: str, mine: Data, other: Data) -> Data:
    if how == "right":
        return other
    if how in {"outer", "full", "fullouter", "full_outer"}:
        return replace(combine([mine, other]), inputs=change(mine.inputs | other.inputs))
    return mine


def _suffixed(name: Key, suffix: str) -> Key:
    return f"{name}{suffix}" if isinstance(name, str) else name


def join(call: Call) -> Value:
    """`left.join(right, on=…)`: by the index of the other."""
    machine, left = call.machine, call.frame
    items = machine.items(call.get("other", 0))
    others = list(items.items) if items is not None else [call.get("other", 0) or UNKNOWN]
    frame = left
    for value in others:
        right = as_frame(machine, value)
        if right is None:
            gap = machine.gap("a frame that is joined is not known")
            return machine.new(frame.with_more(gap))
        on = call.keys("on", 1)
        suffixes = (call.text("lsuffix") or "", call.text("rsuffix") or "")
        sides = Sides(frame, right, call.text("how", 2) or "left", suffixes)
        lefts = _keys(call, frame, on) if on else list(frame.index)
        unnamed = [(None, data) for _, data in right.index]
        index = left.index if on else _joined_index(sides.how, frame, right)
        frame = replace(merge_sides(sides, lefts, unnamed), index=index or left.index)
    return machine.new(frame)


def concat(call: Call) -> Value:
    """`pd.concat(frames)`: rows below each other, or with `axis=1` columns side by side."""
    machine = call.machine
    value = call.get("objs", 0)
    cell = machine.cell(value)
    items = machine.items(value)
    rows = machine.control | (items.rows if items is not None else NOTHING)
    if isinstance(cell, DictCell):
        parts = cell.values
    elif items is not None:
        parts = items.values
    else:
        return Data(origin=machine.gap("the frames that are put together are not known"))
    parts = [part for part in parts if part != Const(None)]
    if (row := _row_of_rows(call, parts)) is not None:
        return row
    by_column = machine.key(call.get("axis", 1)) in {1, "columns"}
    if (
        not by_column
        and parts
        and all(isinstance(part, Data) and part.form is Form.SERIES for part in parts)
    ):
        return combine([machine.data(part) for part in parts])
    frames = [frame for part in parts if (frame := as_frame(machine, part)) is not None]
    if not frames or len(frames) < len(parts):
        gap = machine.gap("some of the frames that are put together are not known")
        frames.append(opaque_frame(Data(origin=gap)))
    names = machine.keys(call.get("keys"))
    if by_column and names and len(names) == len(frames):
        frames = [_named(frame, key) for frame, key in zip(frames, as_keys(names), strict=True)]
    frame = frames[0]
    for other in frames[1:]:
        frame = _beside(frame, other) if by_column else join_frames(frame, other)
    if call.text("join") == "inner" and not by_column and not any(f.open or f.rest for f in frames):
        shared = (name for name in frame.columns if all(name in f.columns for f in frames))
        frame = select(machine, frame, list(shared))
    index = frame.index if call.flag("ignore_index") is not True else ()
    if (
        call.get("keys") is not None or isinstance(cell, DictCell)
    ) and not by_column:  # a level that names the frames
        names = call.keys("names") or [None]
        index = ((as_keys(names)[0], Data()), *(index or ((None, Data()),)))
    return machine.new(replace(frame, rows=frame.rows | rows, index=index, library="pandas"))


def _named(frame: Frame, key: Key) -> Frame:
    """A frame beside others, with the name that it gets: of a series that of its column."""
    if len(frame.columns) == 1 and not frame.open:
        return replace(frame, columns={key: next(iter(frame.columns.values()))})
    return replace(frame, columns={(key, name): data for name, data in frame.columns.items()})


def _row_of_rows(call: Call, parts: list[Value]) -> Value | None:
    """`pd.concat([row, more])` of the values of a row; None for others."""
    machine = call.machine
    entries: dict[object, Value] = {}
    for part in parts:
        cell = machine.cell(part)
        if isinstance(cell, DictCell) and cell.rest is None and not cell.open:
            entries.update(cell.entries)
        elif isinstance(cell, Frame) and cell.library == "series":
            entries.update(cell.columns)
        elif isinstance(part, Items) and part.names and not part.open:
            entries.update(zip(part.names, part.items, strict=False))
        else:
            return None
    return machine.new(DictCell(entries)) if entries else None


def _beside(left: Frame, right: Frame) -> Frame:
    return replace(
        left,
        columns=by_name((*left.columns.items(), *right.columns.items())),
        open=(*exclude(left.open, right.columns), *exclude(right.open, left.columns)),
        rows=left.rows | right.rows,
        gaps=left.gaps | right.gaps,
        rest=left.rest or right.rest,
    )


def _append(call: Call) -> Value:
    frame = call.frame
    other = as_frame(call.machine, call.get("other", 0))
    return call.machine.new(join_frames(frame, other) if other is not None else frame)


def _pivot(call: Call) -> Value:
    """Columns named by values, which only a run knows; of known values."""
    machine = call.machine
    is_method = machine.frame(call.owner) is not None
    frame = as_frame(machine, call.owner if is_method else call.get("data", 0))
    if frame is None:
        return UNKNOWN
    index = _keys(call, frame, call.keys("index"))
    columns = _keys(call, frame, call.keys("columns"))
    values = _keys(call, frame, call.keys("values"))
    is_table = call.name == "pivot_table"
    subtype = Subtype.AGGREGATION if is_table else Subtype.IDENTITY
    if not values:
        keys = {name for name, _ in [*index, *columns]}
        values = [pair for pair in frame.columns.items() if pair[0] not in keys]
    data = derive([value for _, value in values], call.place, subtype)
    rows = frame.rows
    if is_table:
        rows |= change(all_inputs(key for _, key in index), Subtype.GROUP_BY)
    if not columns:
        made = {
            key: derive([value], call.place, subtype)
            for name, value in values
            for key in _aggregated_names(call, name)
        }
        return machine.new(replace(frame, columns=made, open=(), index=tuple(index), rows=rows))
    names = combine([value for _, value in columns])
    deciding = change(names.inputs, Subtype.CONDITIONAL)
    gap = machine.gap("columns are named by values")
    rest = replace(data, inputs=data.inputs | deciding, origin=gap)
    # Of several values, or of none that are named, a name takes all columns of a value.
    library = "pandas" if machine.text(call.get("values")) is not None else "pivot"
    return machine.new(Frame({}, (), rest, rows, NOTHING, tuple(index), frame.gaps, library))


def _aggregated_names(call: Call, name: Key) -> list[Key]:
    """The names of what `aggfunc` makes of a column: of several functions, with them as a level."""
    functions = call.get("aggfunc")
    cell = call.machine.cell(functions)
    if isinstance(cell, DictCell):
        own = call.machine.items(cell.entries.get(name))
        several = any(call.machine.items(value) is not None for value in cell.entries.values())
        labels = [function_name(item) for item in own.values] if own is not None else []
        labels = labels or [function_name(cell.entries.get(name) or UNKNOWN)]
        return [(name, label) for label in labels] if several else [name]
    items = call.machine.items(functions)
    return [(function_name(f), name) for f in items.values] if items is not None else [name]


def _melt(call: Call) -> Value:
    """Columns below each other: their names in a column, their values in another."""
    machine = call.machine
    is_method = machine.frame(call.owner) is not None
    frame = as_frame(machine, call.owner if is_method else call.get("frame", 0))
    if frame is None:
        return UNKNOWN
    at = 0 if is_method else 1
    ids = _keys(call, frame, call.keys("id_vars", at))
    values = _keys(call, frame, call.keys("value_vars", at + 1))
    gaps = frame.gaps
    if not values:
        names = {name for name, _ in ids}
        values = [pair for pair in frame.columns.items() if pair[0] not in names]
        if frame.open or frame.rest:
            gaps |= {machine.gap("the columns that become rows are not known")}
    variable = call.text("var_name", at + 2) or "variable"
    value = call.text("value_name", at + 3) or "value"
    data = combine([item for _, item in values])
    data = replace(data, place=call.place, gaps=data.gaps | (gaps - frame.gaps), name=None)
    names_gaps = gaps - frame.gaps if frame.rest else NO_GAPS  # the names can be values
    columns: dict[Key, Data] = {**dict(ids), variable: Data(gaps=names_gaps), value: data}
    return machine.new(replace(frame, columns=columns, open=(), rest=None, index=()))


def _turned(call: Call) -> Value:
    """`stack`, `unstack`, `transpose`: names become values, or values names."""
    machine, frame = call.machine, call.frame
    data = combine(frame.values)
    if call.name == "stack":
        index = (*frame.index, (None, Data()))
        return replace(data, form=Form.SERIES, index=index, rows=frame.rows, place=call.place)
    gap = machine.gap(f"columns behind `{call.name}` are named by values")
    names = frame.index[-1][1].inputs if frame.index else NOTHING
    inputs = data.inputs | change(names, Subtype.CONDITIONAL)
    rest = replace(data, inputs=inputs, origin=gap)
    return machine.new(Frame({}, (), rest, frame.rows, NOTHING, frame.index[:-1], frame.gaps))


SHAPE_METHODS: Mapping[str, Handler] = {
    "append": _append,
    "join": join,
    "melt": _melt,
    "merge": merge,
    "pivot": _pivot,
    "pivot_table": _pivot,
    "stack": _turned,
    "transpose": _turned,
    "unstack": _turned,
}
SHAPE_FUNCTIONS: Mapping[str, Handler] = {
    "pandas.concat": concat,
    "pandas.melt": _melt,
    "pandas.merge": merge,
    "pandas.merge_asof": merge,
    "pandas.merge_ordered": merge,
    "pandas.pivot": _pivot,
    "pandas.pivot_table": _pivot,
}
