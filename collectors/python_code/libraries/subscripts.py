"""Items of values by keys: `df["a"]`, `df[df.a > 1]`, `df.loc[rows, "a"] = b`, `row[0]`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dbt_graft.collectors.python_code.values.containers import get_entry, put_entry, row_entries
from dbt_graft.collectors.python_code.values.frames import (
    as_keys,
    change_open,
    column,
    filtered,
    find_column,
    resolve,
    row_of,
    select,
    take_open,
)
from dbt_graft.collectors.python_code.values.machine import NOT_KNOWN, Machine
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Function,
    Inputs,
    Items,
    Key,
    Library,
    OneOf,
    Ref,
    Text,
    Thing,
    Value,
    all_gaps,
    all_inputs,
    change,
    decided,
    derive,
    is_of_spark,
)
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

LOCATORS = frozenset({"loc", "iloc", "at", "iat"})


def get_item(machine: Machine, owner: Value, key: Value) -> Value:
    """`owner[key]`."""
    frame = machine.frame(owner)
    if frame is not None:
        return _of_frame(machine, owner, frame, key)
    match owner:
        case OneOf():
            results = [get_item(machine, item, key) for item in owner.values]
            return machine.join_all(results) or UNKNOWN
        case Thing():
            return _of_thing(machine, owner, key)
        case Data():
            return _of_data(machine, owner, key)
        case Const(value=str(text)):
            return _of_text(text, key)
        case Library():
            return _of_library(machine, owner, key)
    cell = machine.cell(owner)
    if isinstance(cell, DictCell):
        return _of_dict(machine, owner, cell, key)
    items = machine.items(owner)
    if items is not None:
        if _names_value(items, key):
            value = get_entry(machine, row_entries(items), key)
            return value if value is not None else machine.data(owner)
        return _of_items(machine, items, key, is_list=isinstance(cell, Items))
    return machine.derived([owner, key])


def _of_dict(machine: Machine, owner: Value, cell: DictCell, key: Value) -> Value:
    value = get_entry(machine, cell, key)
    if value is None and cell.factory is not None and isinstance(owner, Ref):
        value = machine.call(cell.factory)
        put_entry(machine, owner, key, value)
    return value if value is not None else UNKNOWN


def _of_library(machine: Machine, owner: Library, key: Value) -> Value:
    """`list[int]`, `os.environ["A"]`; or a value of a module that is not followed, by data."""
    inputs = machine.data(key)
    if not inputs.inputs:
        return owner
    origin = machine.gap(f"what `{owner.name}` holds is not known")
    return replace(derive([inputs], machine.place), origin=origin)


def _names_value(row: Items, key: Value) -> bool:
    is_place = isinstance(key, Thing) or (isinstance(key, Const) and isinstance(key.value, int))
    return bool(row.names or row.open) and not is_place


def _of_text(text: str, key: Value) -> Value:
    if isinstance(key, Const) and isinstance(key.value, int) and abs(key.value) < len(text):
        return Const(text[key.value])
    if isinstance(key, Thing) and key.role == "slice":
        ends = [key.traits["lower"], key.traits["upper"]]
        if all(
            isinstance(e, Const) and (e.value is None or isinstance(e.value, int)) for e in ends
        ):
            lower, upper = (e.value for e in ends if isinstance(e, Const))
            assert not isinstance(lower, str | float | bytes | complex)
            assert not isinstance(upper, str | float | bytes | complex)
            return Const(text[lower:upper])
    return UNKNOWN


def _of_items(machine: Machine, items: Items, key: Value, *, is_list: bool) -> Value:
    if isinstance(key, Const) and isinstance(key.value, int):
        at = key.value
        if -len(items.items) <= at < len(items.items) and (at >= 0 or items.rest is None):
            return items.items[at]
        if items.open:
            return machine.missing("a column is taken by its place, and the columns are not known")
        return machine.chosen(items.rest, items.rows) if items.rest is not None else UNKNOWN
    if isinstance(key, Thing) and key.role == "slice":
        ends = [machine.key(key.traits[end]) for end in ("lower", "upper")]
        if items.rest is None and all(end is None or isinstance(end, int) for end in ends):
            part = slice(*ends)
            names = items.names[part] if items.names else ()
            taken = replace(items, items=items.items[part], names=names)
        else:
            taken = items
        return machine.new(taken) if is_list else taken
    values = items.values
    return machine.decide(machine.join_all(values) or UNKNOWN, machine.data(key).inputs)


def _of_data(machine: Machine, owner: Data, key: Value) -> Value:
    if owner.form is Form.SERIES:
        if isinstance(key, Data) and key.inputs and key.form is Form.VALUE:
            return by_label(machine, owner, key)
        if isinstance(key, Data) and key.inputs:
            return replace(owner, rows=owner.rows | change(key.inputs, Subtype.FILTER))
        if isinstance(key, Thing):
            return owner
        rows = owner.rows | _labels(owner.index, key)
        return replace(owner, form=Form.VALUE, index=(), rows=rows)
    values = [owner, machine.data(key)]
    columns = {(item.source, item.column) for item in owner.inputs}
    if isinstance(key, Items) and len(key.items) == 2 and len(columns) > 1:
        gap = machine.gap("which column of an array this is is not known")
        return replace(derive(values, machine.place).with_gap(gap), form=Form.SERIES)
    name = key.value if isinstance(key, Const) and isinstance(key.value, str) else None
    name = None if is_of_spark(owner) else name
    if not owner.inputs and not owner.origin and not values[1].inputs:
        return owner
    return replace(derive(values, machine.place), name=name, origin=None)


def by_label(machine: Machine, series: Data, label: Value) -> Data:
    """The value of a series that has a label, which data decides."""
    keys = all_inputs([machine.data(label), *(level for _, level in series.index)])
    chosen = change(keys | series.rows, Subtype.CONDITIONAL)
    return replace(series, inputs=series.inputs | chosen, index=(), rows=NOTHING, form=Form.VALUE)


def _labels(index: Iterable[tuple[Key, Data]], key: Value) -> Inputs:
    """The inputs of an index that rows are taken by: a label, or several."""
    is_label = isinstance(key, Const | Text | Items | Ref) and not _is_place(key)
    if isinstance(key, Data) and key.form is Form.VALUE:
        is_label = bool(key.inputs)
    if _is_slice(key):
        is_label = not _is_all(key)
    return change(all_inputs(data for _, data in index), Subtype.FILTER) if is_label else NOTHING


def _of_thing(machine: Machine, owner: Thing, key: Value) -> Value:
    if owner.role in LOCATORS and owner.owner is not None:
        return _located(machine, owner, key)
    if owner.role == "array" and isinstance(key, Items) and len(key.items) == 2:
        return _of_array(machine, owner, key.items[1])
    if "items" in owner.traits:
        return get_item(machine, owner.traits["items"], key)
    if owner.role == "accessor":
        data = machine.data(owner.owner)
        made = replace(derive([data], machine.place), name=data.name, index=data.index)
        if owner.traits["accessor"] != Const("struct"):
            return made
        if isinstance(key, Const) and isinstance(key.value, str):  # a field
            return replace(made, name=key.value)
        return replace(made, name=None, origin=machine.gap("the fields of a struct are not known"))
    if owner.role == "groups":
        names = machine.keys(key)
        return replace(owner, traits={**owner.traits, "selected": key}) if names else owner
    if owner.owner is not None and owner.role == "columns":
        frame = machine.frame(owner.owner)
        if frame is not None and isinstance(key, Const) and isinstance(key.value, str):
            return column(machine, frame, key.value)
    return (
        replace(owner, traits={**owner.traits, "key": key}) if owner.role == "sa.table" else UNKNOWN
    )


def _of_array(machine: Machine, array: Thing, key: Value) -> Value:
    """`array[:, 0]`, `array[:, 1:]` of the rows of a frame."""
    rows = machine.items(array) or Items()
    taken = get_item(machine, machine.join_all(rows.values) or UNKNOWN, key)
    if isinstance(taken, Items):
        return Thing("array", {"items": Items((), taken, rows.rows)})
    return replace(machine.data(taken), form=Form.SERIES, rows=rows.rows)


def _of_frame(machine: Machine, owner: Value, frame: Frame, key: Value) -> Value:
    if isinstance(key, Function):
        key = machine.call(key, owner)
    if isinstance(key, OneOf):
        return machine.join_all(_of_frame(machine, owner, frame, item) for item in key.values) or (
            UNKNOWN
        )
    if key == Const(ANY_COLUMN) and frame.library == "spark":
        return owner
    if isinstance(key, Const):
        return _by_name(machine, frame, key.value)
    if isinstance(key, Text | Data) and not machine.data(key).inputs:
        is_mask = isinstance(key, Data) and key.form is Form.SERIES
        return machine.new(frame) if is_mask else _any_column(machine, frame)
    if isinstance(key, Data):
        return machine.new(filtered(frame, resolve(machine, key, frame)))
    if isinstance(key, Thing):
        return machine.new(frame)
    if (place := _polars_place(machine, frame, key)) is not None:
        taken = _of_frame(machine, owner, frame, place[1])
        return get_item(machine, taken, place[0]) if isinstance(taken, Data) else taken
    return _several(machine, frame, key)


def _by_name(machine: Machine, frame: Frame, name: Key) -> Value:
    """A column, a row of a query's result, or those behind the first level of a pivot's names."""
    if frame.library == "query" and isinstance(name, int):
        return machine.chosen(row_of(frame), frame.rows)
    if frame.library == "pivot" and frame.rest and name not in {*frame.columns, *dict(frame.index)}:
        return machine.new(replace(frame, library="pandas"))
    return column(machine, frame, name)


def _polars_place(machine: Machine, frame: Frame, key: Value) -> tuple[Value, Value] | None:
    """`df[0, "a"]`, `df[:, ["a", "b"]]`: rows and columns; None of another key."""
    if frame.library != "polars" or not isinstance(key, Items) or len(key.items) != 2:
        return None
    return None if machine.texts(key.items[0]) else (key.items[0], key.items[1])


def _several(machine: Machine, frame: Frame, key: Value) -> Value:
    """Columns by a list of names, or by a name of several levels; rows by a frame of conditions."""
    if isinstance(key, Items) and (known := machine.key(key)) in frame.columns:
        return column(machine, frame, known)
    names = machine.keys(key)
    if names is not None:
        return machine.new(select(machine, frame, names))
    if (condition := machine.frame(key)) is not None:
        return machine.new(filtered(frame, derive(list(condition.columns.values()), machine.place)))
    gap = machine.gap("columns are selected whose names are not known")
    rest = derive([*frame.columns.values()], machine.place)
    return machine.new(replace(frame, columns={}, open=(), rest=rest.with_gap(gap)))


def _any_column(machine: Machine, frame: Frame) -> Data:
    gap = machine.gap("a column whose name is not known")
    data = derive([*frame.columns.values()], machine.place)
    return replace(data, gaps=data.gaps | {gap}, origin=gap)


def _pair(key: Value) -> tuple[Value, Value | None]:
    if isinstance(key, Items) and len(key.items) == 2 and not key.names:
        return key.items[0], key.items[1]
    return key, None


def _located(machine: Machine, owner: Thing, key: Value) -> Value:
    frame = machine.frame(owner.owner)
    if isinstance(key, Function) and owner.owner is not None:
        key = machine.call(key, owner.owner)
    rows, names = _pair(key)
    if isinstance(rows, Function) and owner.owner is not None:
        rows = machine.call(rows, owner.owner)
    if frame is None:
        data = machine.data(owner.owner)
        condition = machine.data(rows)
        chosen = data.rows | condition.rows | change(condition.inputs, Subtype.FILTER)
        if owner.role in {"loc", "at"}:
            chosen |= _labels(data.index, rows)
        form = Form.VALUE if _is_place(rows) else data.form
        return replace(data, form=form, rows=chosen)
    index = frame.index if owner.role in {"loc", "at"} else ()
    frame = _with_rows(machine, frame, rows)
    frame = replace(frame, rows=frame.rows | _labels(index, rows))
    is_row = _is_place(rows)
    if names is None or _is_all(names):
        if is_row:
            return machine.chosen(row_of(frame), frame.rows)
        return machine.new(frame)
    if owner.role in {"iloc", "iat"}:
        return _by_places(machine, frame, names, is_row=is_row)
    if _is_slice(names):
        return machine.new(_between(machine, frame, names))
    if isinstance(names, Const):
        data = column(machine, frame, as_keys([names.value])[0])
        return replace(data, form=Form.VALUE, index=()) if is_row else data
    return _of_frame(machine, owner, frame, names)


def _is_place(value: Value) -> bool:
    """Whether it names a row by a number."""
    return isinstance(value, Const) and not isinstance(value.value, str | bool)


def _is_slice(value: Value) -> bool:
    return isinstance(value, Thing) and value.role == "slice"


def _is_all(value: Value) -> bool:
    return (
        isinstance(value, Thing)
        and value.role == "slice"
        and all(end == Const(None) for end in value.traits.values())
    )


def _with_rows(machine: Machine, frame: Frame, rows: Value) -> Frame:
    condition = machine.data(rows)
    if isinstance(rows, Thing) or not condition.inputs:
        return replace(frame, rows=frame.rows | condition.rows)
    return filtered(frame, resolve(machine, condition, frame))


def _between(machine: Machine, frame: Frame, names: Value) -> Frame:
    assert isinstance(names, Thing)
    lower, upper = (machine.key(names.traits[end]) for end in ("lower", "upper"))
    keys = list(frame.columns)
    if frame.open or any(end is not None and end not in keys for end in (lower, upper)):
        return replace(
            frame,
            columns={},
            open=(),
            rest=machine.missing(
                "columns from one to another are taken, and their order is not known"
            ),
        )
    first = 0 if lower is None else keys.index(as_keys([lower])[0])
    last = len(keys) if upper is None else keys.index(as_keys([upper])[0]) + 1
    return select(machine, frame, keys[first:last])


def _by_places(machine: Machine, frame: Frame, names: Value, *, is_row: bool) -> Value:
    keys = list(frame.columns)
    if frame.open or frame.rest:
        gap = machine.gap("columns are taken by their places, and those are not known")
        return Data(gaps=frozenset({gap}), form=Form.SERIES)
    if isinstance(names, Const) and isinstance(names.value, int):
        if -len(keys) <= names.value < len(keys):
            data = column(machine, frame, keys[names.value])
            return replace(data, form=Form.VALUE, index=()) if is_row else data
        return UNKNOWN
    if isinstance(names, Thing) and names.role == "slice":
        ends = [machine.key(names.traits[end]) for end in ("lower", "upper")]
        if all(end is None or isinstance(end, int) for end in ends):
            return machine.new(select(machine, frame, keys[slice(*ends)]))
    places = machine.keys(names)
    if places and all(isinstance(at, bool) for at in places):
        places = [at for at, is_taken in enumerate(places) if is_taken]
    if places is not None and all(isinstance(at, int) and at < len(keys) for at in places):
        return machine.new(
            select(machine, frame, [keys[at] for at in places if isinstance(at, int)])
        )
    return _any_column(machine, frame)


# -- assignment


def with_values(machine: Machine, owner: Value, key: Value, value: Value) -> Data | None:
    """A series some of whose values are set: `series[mask] = value`; None for what is none."""
    series = owner.owner if isinstance(owner, Thing) and owner.role in LOCATORS else owner
    if not isinstance(series, Data) or series.form is not Form.SERIES:
        return None
    parts = [series, machine.data(value)]
    made = derive(parts, machine.place)
    chosen = change(machine.data(key).inputs, Subtype.CONDITIONAL)
    return replace(series, inputs=made.inputs | chosen, gaps=made.gaps, place=machine.place)


def set_item(machine: Machine, owner: Value, key: Value, value: Value) -> None:
    """`owner[key] = value`."""
    if isinstance(owner, OneOf):
        for alternative in owner.values:
            set_item(machine, alternative, key, value)
    elif isinstance(owner, Thing) and owner.role in LOCATORS:
        _set_located(machine, owner, key, value)
    elif isinstance(owner, Ref):
        frame = machine.frame(owner)
        if frame is None:
            put_entry(machine, owner, key, value)
        else:
            _set_column(machine, owner, frame, key, value)


def _set_column(machine: Machine, owner: Ref, frame: Frame, key: Value, value: Value) -> None:
    if isinstance(key, Data) and key.inputs:  # df[df.a > 1] = 0
        deciding = replace(key, inputs=change(key.inputs, Subtype.CONDITIONAL))
        parts = [deciding, machine.data(value)]
        columns = {
            name: derive([data, *parts], machine.place) for name, data in frame.columns.items()
        }
        opened = change_open(frame.open, Subtype.TRANSFORMATION)
        machine.put(owner, replace(frame, columns=columns, open=opened))
        return
    if isinstance(key, OneOf):
        for name in key.values:
            _set_column(machine, owner, frame, name, value)
        return
    if (place := _polars_place(machine, frame, key)) is not None:
        for name in as_keys(machine.keys(place[1]) or ()):  # one of its values
            parts = [find_column(machine, frame, name), machine.data(value)]
            frame = frame.with_column(name, derive(parts, machine.place))
        machine.put(owner, frame)
        return
    known = machine.key(key)
    names = [known] if isinstance(key, Items | Const) else machine.keys(key)
    if names is None or NOT_KNOWN in names or not isinstance(key, Const | Items | Ref):
        data = replace(
            machine.data(value),
            gaps=frozenset({machine.gap("a column is set whose name is not known")}),
        )
        machine.put(owner, replace(frame, gaps=frame.gaps | data.gaps))
        return
    machine.put(owner, set_columns(machine, frame, as_keys(names), value))


def set_columns(machine: Machine, frame: Frame, names: list[Key], value: Value) -> Frame:
    """The frame with columns set to a value: one for all of them, or one for each."""
    values: list[Value] = [value] * len(names)
    other = machine.frame(value)
    items = machine.items(value)
    if other is not None and len(names) == len(other.columns) and not other.open:
        values = list(other.columns.values())
    elif other is not None and len(names) > 1:
        values = [find_column(machine, other, name) for name in names]
    elif items is not None and len(names) > 1 and len(items.items) == len(names):
        values = list(items.items)
    for name, item in zip(names, values, strict=True):
        frame = frame.with_column(name, as_column(machine, frame, item))
    return frame


def as_column(machine: Machine, frame: Frame, value: Value) -> Data:
    """A value as a column of a frame that this line makes; a series finds its rows by labels."""
    data = decided(machine.data(value), frame.rows)
    labels, own = (all_inputs(level for _, level in index) for index in (data.index, frame.index))
    if labels and own and labels != own:
        data = replace(data, inputs=data.inputs | change(labels | own, Subtype.CONDITIONAL))
    return replace(
        data,
        place=machine.place if data.inputs else None,
        gaps=all_gaps(data),
        origin=None,
        index=(),
        name=None,
    )


def _set_located(machine: Machine, owner: Thing, key: Value, value: Value) -> None:
    frame = machine.frame(owner.owner)
    rows, names = _pair(key)
    keys = machine.keys(names) if names is not None else None
    if frame is None or not isinstance(owner.owner, Ref):
        return
    if owner.role in {"iloc", "iat"} and keys is not None:
        keys = _names_at(frame, keys)
    if keys is None:
        gap = machine.gap("cells are set of columns that are not known")
        machine.put(owner.owner, frame.with_gap(gap))
        return
    condition = decided(resolve(machine, machine.data(rows), frame), frame.rows)
    deciding = change(condition.inputs, Subtype.CONDITIONAL)
    changed = set_columns(machine, frame, as_keys(keys), value)
    for name in as_keys(keys):
        data = changed.columns[name]
        if not _is_all(rows):
            before = _before(machine, frame, name)
            inputs = change(data.inputs) | change(before.inputs) | deciding
            data = replace(data, inputs=inputs, gaps=data.gaps | before.gaps, place=machine.place)
        changed = changed.with_column(name, data)
    machine.put(owner.owner, changed)


def _names_at(frame: Frame, places: list[object]) -> list[object] | None:
    """The names of columns by their places; None where they are not known."""
    names = list(frame.columns)
    if frame.open or frame.rest:
        return None
    chosen = [names[at] for at in places if isinstance(at, int) and -len(names) <= at < len(names)]
    return list(chosen) if len(chosen) == len(places) else None


def _before(machine: Machine, frame: Frame, name: Key) -> Data:
    if name in frame.columns:
        return frame.columns[name]
    return (take_open(machine, frame.open, name) if frame.open else frame.rest) or UNKNOWN
