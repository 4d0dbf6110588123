"""Frames by columns: taken, selected, filtered, renamed, put side by side, turned to rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.values.joins import from_open
from dbt_graft.collectors.python_code.values.limits import MOST_VALUES
from dbt_graft.collectors.python_code.values.machine import Call, Machine
from dbt_graft.collectors.python_code.values.selections import (
    UNSURE,
    has,
    is_selection,
    names_of,
    names_without,
)
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    Data,
    DictCell,
    Form,
    Frame,
    Inputs,
    Items,
    Key,
    LineGap,
    OpenPart,
    Value,
    all_gaps,
    all_inputs,
    change,
    combine,
    derive,
    resolve_pending,
)
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

Open = tuple[frozenset[OpenPart], ...]


def column(machine: Machine, frame: Frame, name: Key) -> Data:
    """A column of a frame as a series; of Spark's, an expression."""
    data = find_column(machine, frame, name)
    if frame.library == "spark":
        return replace(data, name=name, form=Form.EXPRESSION, library="spark")
    return replace(
        data,
        name=name,
        form=Form.SERIES,
        rows=data.rows | frame.rows,
        order=frame.order,
        index=frame.index,
        library="polars" if frame.library == "polars" else "",
    )


def find_column(machine: Machine, frame: Frame, name: Key) -> Data:
    """A column of a frame, of its index, or of the columns that it does not name."""
    if name in frame.columns:
        return frame.columns[name]
    if is_selection(name):
        chosen = selected(machine, frame, name)
        data = combine(chosen.values)
        if chosen.open:
            data = data.with_gap(machine.gap("which columns are selected is not known"))
        return replace(data, gaps=all_gaps(data), origin=None)
    named = _by_other_name(machine, frame, name)
    if named is not None:
        return named
    taken = take_open(machine, frame.open, name) if frame.open else None
    if taken is not None:
        return replace(taken, gaps=taken.gaps | frame.gaps)
    if frame.rest is not None:
        return replace(frame.rest, origin=None)
    gaps = frame.gaps or frozenset({machine.gap(f"the frame has no column {name!r}")})
    return Data(gaps=gaps)


def selected(machine: Machine, frame: Frame, selection: str) -> Frame:
    """The columns of a frame that a selection means; all that it may mean, if that is not sure."""
    names = names_of(selection)
    if names is not None:
        return Frame({name: find_column(machine, frame, name) for name in names})
    columns = {name: data for name, data in frame.columns.items() if has(selection, name)}
    without = names_without(selection)
    if without is not None:
        return Frame(columns, exclude(frame.open, without), frame.rest)
    if selection != UNSURE and not (frame.open or frame.rest):
        return Frame(columns)
    rest = machine.unknown("which columns are selected is not known")
    return Frame(columns if selection != UNSURE else {}, rest=rest)


def _by_other_name(machine: Machine, frame: Frame, name: Key) -> Data | None:
    """A column of the index, behind a table's alias, by several levels, or in other case."""
    for level, data in frame.index:
        if level == name and name is not None:
            return data
    if isinstance(name, tuple):
        return frame.columns.get(name[0]) if name[1:] == ("",) else None
    if not isinstance(name, str):
        return None
    alias, dot, last = name.partition(".")
    for other_name, other in frame.aliases if dot else ():
        if other_name == alias:
            return find_column(machine, other, last)
    if frame.library == "pandas":
        return None
    spelled = frame.columns.get(spelling(frame, name))
    if spelled is None and dot and frame.library == "spark":
        return _field(machine, frame, name)
    return spelled


def _field(machine: Machine, frame: Frame, name: str) -> Data | None:
    """A field of a column of structs, whose name a dot ends: `addr.city`, or of a map."""
    if "`" in name:  # a name with a dot in it
        return frame.columns.get(name.strip("`")) or take_open(machine, frame.open, name.strip("`"))
    return derive([find_column(machine, frame, name.partition(".")[0])], machine.place)


def spelling(frame: Frame, name: Key) -> Key:
    """The name of a column as the frame has it; in Spark case is nothing."""
    is_exact = frame.library in {"pandas", "polars"}
    if name in frame.columns or is_exact or not isinstance(name, str):
        return name
    folded = name.casefold()
    return next((other for other in frame.columns if str(other).casefold() == folded), name)


def find_columns(machine: Machine, frame: Frame, names: Iterable[object]) -> list[Data]:
    """Columns of a frame, each as `find_column` finds it."""
    return [find_column(machine, frame, name) for name in as_keys(names)]


def take_open(machine: Machine, groups: Open, name: Key) -> Data | None:
    """A column out of those that are not named."""
    if not isinstance(name, str):
        return (
            machine.missing("a column is taken by its place, and the columns are not known")
            if groups
            else None
        )
    candidates = [data for group in groups if (data := from_open(group, name)) is not None]
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    inputs = [data.inputs for data in candidates]
    if any(len(group) > 1 for group in inputs):
        gap = machine.gap(f"column {name!r} can be of several of the joined sources")
        return Data(name=name, gaps=frozenset({gap}))
    of_one = [item for group in inputs for item in group]
    source = machine.record.add_choice(machine.place, sorted(item.source for item in of_one))
    return replace(candidates[0], inputs=frozenset({of_one[0]._replace(source=source)}))


Aliases = tuple[tuple[str, Frame], ...]


def merge_aliases(left: Aliases, right: Aliases) -> Aliases:
    """The aliases of two sides: of one name the left's, of those without a name the latest.

    As many at most as there are names, however often a loop joins a frame to itself.
    """
    named = {name: frame for name, frame in (*right, *left) if name}
    sides = [alias for alias in (*left, *right) if not alias[0]]
    return (*named.items(), *sides[-MOST_VALUES:])


def opaque_frame(data: Data) -> Frame:
    """A frame whose columns are not known, made of these inputs."""
    rest = replace(data, inputs=change(data.inputs), gaps=all_gaps(data))
    return Frame(rest=rest, rows=data.rows)


def blurred(call: Call, frame: Frame, parts: Sequence[Data], gap: LineGap) -> Frame:
    """A frame with the rows of another, whose columns are any made of these parts."""
    rest = derive(parts, call.place)
    return Frame(rest=replace(rest, origin=gap, gaps=rest.gaps | {gap}), rows=frame.rows)


def as_frame(machine: Machine, value: Value | None) -> Frame | None:
    """A value as a frame: one, a series, rows, or what is not known; None if it is none."""
    frame = machine.frame(value)
    if frame is not None or value is None:
        return frame
    if isinstance(value, Data):
        if value.form is Form.SERIES:
            columns: dict[Key, Data] = {value.name if value.name is not None else 0: value}
            library = value.library or "pandas"
            return Frame(columns, (), None, value.rows, value.order, value.index, library=library)
        return opaque_frame(value)
    return None


def exclude(groups: Open, names: Iterable[object]) -> Open:
    """Open columns without some of them."""
    taken = frozenset(name for name in names if isinstance(name, str))
    return tuple(
        frozenset(part._replace(without=part.without | taken) for part in group) for group in groups
    )


def change_open(groups: Open, subtype: Subtype) -> Open:
    """Open columns after an operation on each of them."""
    return tuple(
        frozenset(part._replace(subtype=compose(subtype, part.subtype)) for part in group)
        for group in groups
    )


def select(machine: Machine, frame: Frame, names: Iterable[object]) -> Frame:
    """The frame with these columns alone."""
    columns = {name: find_column(machine, frame, name) for name in as_keys(names)}
    return replace(frame, columns=columns, open=(), rest=None)


def as_keys(names: Iterable[object]) -> list[Key]:
    """Names that can be those of columns."""
    return [name for name in names if name is None or isinstance(name, str | int | float | tuple)]


def without_columns(frame: Frame, names: Iterable[object]) -> Frame:
    """The frame without these columns."""
    dropped = set(as_keys(names))
    columns = {name: data for name, data in frame.columns.items() if name not in dropped}
    index = tuple(level for level in frame.index if level[0] not in dropped)
    return replace(frame, columns=columns, open=exclude(frame.open, dropped), index=index)


def by_name(pairs: Iterable[tuple[Key, Data]]) -> dict[Key, Data]:
    """Columns by their names; of several with one name, that name has the inputs of each."""
    columns: dict[Key, Data] = {}
    for name, data in pairs:
        columns[name] = combine([columns[name], data]) if name in columns else data
    return columns


def rename(machine: Machine, frame: Frame, names: Mapping[object, object]) -> Frame:
    """The frame with some columns renamed; the line makes them."""
    pairs: list[tuple[Key, Data]] = []
    for name, data in frame.columns.items():
        renamed = names.get(name, name)
        (key,) = as_keys([renamed]) or [name]
        pairs.append((key, replace(data, place=machine.place) if key != name else data))
    columns = by_name(pairs)
    for name, renamed in names.items():
        keys = as_keys([name, renamed])
        if len(keys) < 2 or name in frame.columns or keys[0] == keys[1]:
            continue
        taken = take_open(machine, frame.open, keys[0]) if frame.open else frame.rest
        if taken is not None:
            columns[keys[1]] = replace(taken, place=machine.place, name=None)
    gone = [name for name, renamed in names.items() if name != renamed]
    index = tuple((as_keys([names.get(level, level)])[0], data) for level, data in frame.index)
    return replace(frame, columns=columns, open=exclude(frame.open, gone), index=index)


def inputs_of_rows(frame: Frame) -> Inputs:
    """The inputs of all columns, those too that it does not name."""
    parts = (part for group in frame.open for part in group)
    opened = frozenset(ColumnInput(part.source, ANY_COLUMN, part.subtype) for part in parts)
    return all_inputs(frame.values) | opened


def with_rows(frame: Frame, inputs: Inputs, subtype: Subtype) -> Frame:
    """The frame whose rows these inputs decide on too."""
    return replace(frame, rows=frame.rows | change(inputs, subtype))


def filtered(frame: Frame, condition: Data) -> Frame:
    """The frame's rows for which a condition holds."""
    return with_rows(
        replace(frame, rows=frame.rows | condition.rows), condition.inputs, Subtype.FILTER
    )


def resolve(machine: Machine, data: Data, frame: Frame) -> Data:
    """An expression's value in a frame."""
    return resolve_pending(data, lambda name: find_column(machine, frame, name))


def row_of(frame: Frame, *, with_index: bool = False) -> Items:
    """Any row of a frame."""
    index = frame.index if with_index else ()
    if with_index and not index:
        index = (("Index", Data()),)
    pairs = [*index, *frame.columns.items()]
    values = tuple(replace(data, form=Form.VALUE, index=(), name=None) for _, data in pairs)
    rest = replace(frame.rest, form=Form.VALUE) if frame.rest else None
    return Items(values, rest, NOTHING, tuple(name for name, _ in pairs), frame.open)


def record_of(frame: Frame) -> DictCell:
    """Any row of a frame as a dictionary."""
    row = row_of(frame)
    return DictCell(dict(zip(row.names, row.items, strict=True)), row.rest, None, row.open, NOTHING)


def frame_of_rows(machine: Machine, rows: Items, names: list[object] | None) -> Frame | None:
    """A frame made of rows: tuples, dictionaries, or rows with names."""
    row = machine.join_all(rows.values)
    if row is None:
        return Frame({name: Data() for name in as_keys(names or [])})
    decided = rows.rows
    cell = machine.cell(row)
    if isinstance(cell, DictCell):
        columns = {
            key: machine.data(value)
            for key, value in cell.entries.items()
            if isinstance(key, str | int | tuple)
        }
        rest = None if cell.rest is None else machine.data(cell.rest)
        of_values = NOTHING.union(*(data.rows for data in columns.values()))
        frame = Frame(dict(columns), cell.open, rest, decided | cell.rows | of_values)
        return select(machine, frame, names) if names else frame
    items = machine.items(row)
    if items is not None and not isinstance(cell, Frame):
        return _of_tuples(machine, items, names, decided)
    if isinstance(row, Data) and not row.origin:
        if names and len(names) == 1:
            return Frame({as_keys(names)[0]: replace(row, form=Form.SERIES)}, rows=decided)
        if not row.inputs:
            return Frame(dict.fromkeys(as_keys(names or []), row), rows=decided)
    return None


def _of_tuples(machine: Machine, row: Items, names: list[object] | None, rows: Inputs) -> Frame:
    keys = as_keys(names) if names is not None else list(row.names) or list(range(len(row.items)))
    if row.open and names is not None:
        return Frame(
            {
                key: machine.missing(
                    "columns go by their places, and those of the query are not known"
                )
                for key in keys
            },
            rows=rows | row.rows,
        )
    pairs = [(key, machine.data(item)) for key, item in zip(keys, row.items, strict=False)]
    if row.rest is not None:
        others = keys[len(row.items) :]
        pairs += [(key, _any_of(machine, machine.data(row.rest))) for key in others]
    columns = by_name(pairs)
    of_values = NOTHING.union(*(data.rows for data in columns.values()))
    return Frame(columns, row.open, None, rows | row.rows | of_values)


def _any_of(machine: Machine, data: Data) -> Data:
    """The value at a place that is not known; of several columns, which one is a gap."""
    gap = machine.gap("the values of a row are not known one by one")
    return replace(rest_of(data, gap), origin=data.origin) if data.inputs else data


def rest_of(data: Data, gap: LineGap) -> Data:
    """Further columns of a frame, made of these inputs; of several, which ones is a gap."""
    is_one = len({(item.source, item.column) for item in data.inputs}) == 1
    return replace(data if is_one else data.with_gap(gap), origin=gap)


def name_columns(machine: Machine, frame: Frame, value: Value) -> Frame:
    """The frame with other names for its columns, in their order."""
    names = machine.keys(value)
    keys = as_keys(names or ())
    if names is not None and not frame.open and not frame.rest and len(keys) == len(frame.columns):
        pairs = zip(keys, frame.columns.items(), strict=True)
        columns = by_name(
            (key, data if key == name else replace(data, place=machine.place))
            for key, (name, data) in pairs
        )
        return replace(frame, columns=columns)
    if names is not None:
        unknown = machine.missing("columns are named by their places, and those are not known")
        return replace(frame, columns=dict.fromkeys(keys, unknown), open=(), rest=None)
    unknown = machine.unknown("columns get names that are not known")
    inputs = all_inputs(frame.columns.values())
    rest = replace(machine.data(value), inputs=inputs, gaps=unknown.gaps, origin=unknown.origin)
    return replace(frame, columns={}, open=(), rest=rest)
