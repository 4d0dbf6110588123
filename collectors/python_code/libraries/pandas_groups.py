"""`groupby` and what is made of groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.pandas_series import (
    apply_function,
    function_name,
)
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    as_keys,
    blurred,
    change_open,
    column,
    exclude,
    find_column,
    select,
)
from dbt_graft.collectors.python_code.values.machine import Call, Handler, to_value
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
    Thing,
    Value,
    all_gaps,
    all_inputs,
    change,
    derive,
)
from dbt_graft.lineage.records import Subtype


def group_by(call: Call, frame: Frame) -> Value:
    """`df.groupby(names)`."""
    machine = call.machine
    by = call.get("by", 0) or call.get("level") or UNKNOWN
    items = machine.items(by)
    values = list(items.items) if items is not None and items.rest is None else [by]
    keys: list[Value] = []
    for value in values:
        if isinstance(value, Data) and (value.inputs or value.form is Form.SERIES):
            keys.append(Items((to_value(value.name), value)))
        elif isinstance(value, Const):
            (key,) = as_keys([value.value]) or [None]
            if isinstance(key, int) and call.get("level") is not None and key < len(frame.index):
                key = frame.index[key][0]
            keys.append(Items((to_value(key), find_column(machine, frame, key))))
        elif isinstance(value, Thing) and "by" in value.traits:  # pd.Grouper(key=…)
            name = machine.key(value.traits["by"])
            (key,) = as_keys([name]) or [None]
            data = derive([find_column(machine, frame, key)], call.place)
            keys.append(Items((to_value(key), data)))
        else:
            keys.append(
                Items((Const(None), machine.missing("rows are grouped by what is not known")))
            )
    as_index = Const(call.flag("as_index", True) is not False)
    return Thing("groups", {"keys": Items(tuple(keys)), "as_index": as_index}, call.owner)


def resample(call: Call) -> Value:
    """`df.resample("D")`, of groups too: grouped by periods of the index, or of a column."""
    machine, owner = call.machine, call.owner
    groups = owner if isinstance(owner, Thing) else Thing("groups", {"keys": Items()}, owner)
    if isinstance(owner, Data):
        frame = as_frame(machine, replace(owner, form=Form.SERIES)) or Frame()
        selected = {"selected": to_value(next(iter(frame.columns), None))}
        groups = replace(groups, owner=machine.new(frame), traits={**groups.traits, **selected})
    frame = machine.frame(groups.owner) or Frame()
    (name,) = call.keys("on") or [frame.index[0][0] if frame.index else None]
    (key,) = as_keys([name]) or [None]
    period = derive([find_column(machine, frame, key)], call.place)
    keys = groups.traits["keys"]
    assert isinstance(keys, Items)
    levels = Items((*keys.items, Items((to_value(key), period))))
    return replace(groups, traits={**groups.traits, "keys": levels, "as_index": Const(True)})


def call_group_method(call: Call) -> Value:
    """A method of groups."""
    handler = _METHODS.get(call.name)
    if handler:
        return handler(call)
    if call.name in _SAME:
        return call.owner
    return _aggregated(call) if call.name in _AGGREGATES else _unknown(call)


def _unknown(call: Call) -> Value:
    frame = _frame(call)
    gap = call.gap(f"what `{call.name}` does to groups is not known")
    return call.machine.new(blurred(call, frame, list(frame.columns.values()), gap))


def _groups(call: Call) -> Thing:
    assert isinstance(call.owner, Thing)
    return call.owner


def _frame(call: Call) -> Frame:
    frame = call.machine.frame(_groups(call).owner)
    return frame if frame is not None else Frame()


def _keys(call: Call) -> list[tuple[Key, Data]]:
    keys = _groups(call).traits["keys"]
    assert isinstance(keys, Items)
    pairs = []
    for pair in keys.items:
        assert isinstance(pair, Items)
        name = call.machine.key(pair.items[0])
        pairs.append(
            (as_keys([name])[0] if as_keys([name]) else None, call.machine.data(pair.items[1]))
        )
    return pairs


def _deciding(call: Call) -> Inputs:
    return all_inputs(data for _, data in _keys(call))


def _selected(call: Call) -> tuple[Frame, bool]:
    """The columns that are not keys, or those selected; and whether it is a series."""
    frame = _frame(call)
    chosen = _groups(call).traits.get("selected")
    if isinstance(chosen, Const):
        return select(call.machine, frame, [chosen.value]), True
    if chosen is not None:
        return select(call.machine, frame, call.machine.keys(chosen) or []), False
    names = [name for name, _ in _keys(call)]
    columns = {name: data for name, data in frame.columns.items() if name not in names}
    return replace(frame, columns=columns, open=exclude(frame.open, names)), False


def _grouped(call: Call, columns: Mapping[Key, Data], base: Frame, *, is_series: bool) -> Value:
    """A frame of one row for each group; a series if it is of one column."""
    keys = _keys(call)
    rows = base.rows | change(_deciding(call), Subtype.GROUP_BY)
    gaps = base.gaps.union(*(data.gaps for _, data in keys))
    index = tuple((name, replace(data, form=Form.VALUE, index=())) for name, data in keys)
    if call.machine.is_true(_groups(call).traits["as_index"]) is False:
        named = dict(index)
        made = replace(
            base, columns={**named, **columns}, rows=rows, index=(), gaps=gaps, order=NOTHING
        )
        return call.machine.new(made)
    if is_series:
        ((name, data),) = columns.items()
        return replace(data, name=name, form=Form.SERIES, rows=rows, index=index, order=NOTHING)
    made = replace(base, columns=columns, rows=rows, index=index, gaps=gaps, order=NOTHING)
    return call.machine.new(made)


def _aggregate(call: Call, data: Data) -> Data:
    return replace(derive([data], call.place, Subtype.AGGREGATION), form=Form.VALUE, index=())


def _aggregated(call: Call) -> Value:
    base, is_series = _selected(call)
    columns = {name: _aggregate(call, data) for name, data in base.columns.items()}
    if base.open:
        base = base.with_gap(call.gap(f"which columns `{call.name}` takes is not known"))
    base = replace(base, open=change_open(base.open, Subtype.AGGREGATION))
    return _grouped(call, columns, base, is_series=is_series)


def _by_function(call: Call, data: Data, function: Value) -> Data:
    """A column of groups, reduced by a function or by its name."""
    if isinstance(function, Const) and function.value in {"size"}:
        return Data(place=call.place)
    if isinstance(function, Function | Library):
        series = replace(data, form=Form.SERIES)
        made = call.machine.data(apply_function(call, function, [series]))
        return replace(
            made,
            inputs=change(made.inputs, Subtype.AGGREGATION),
            form=Form.VALUE,
            index=(),
            place=call.place,
        )
    return _aggregate(call, data)


def _agg(call: Call) -> Value:
    machine = call.machine
    base, is_series = _selected(call)
    named = call.arguments.named or {}
    function = call.get("func", 0)
    cell = machine.cell(function)
    closed = replace(base, open=(), rest=None)
    if function is None and named:
        return _grouped(call, _named(call, base, is_series), closed, is_series=False)
    if isinstance(cell, DictCell):
        return _grouped(call, _by_entries(call, base, cell), closed, is_series=False)
    names = machine.items(function)
    if names is not None:
        columns: dict[Key, Data] = {}
        for name, data in base.columns.items():
            for item in names.items:
                label = function_name(item)
                key = (
                    label if is_series else (*(name if isinstance(name, tuple) else (name,)), label)
                )
                columns[key] = _by_function(call, data, item)
        return _grouped(call, columns, closed, is_series=False)
    columns = {
        name: _by_function(call, data, function or UNKNOWN) for name, data in base.columns.items()
    }
    opened = replace(base, open=change_open(base.open, Subtype.AGGREGATION))
    return _grouped(call, columns, opened, is_series=is_series)


def _named(call: Call, base: Frame, is_series: bool) -> dict[Key, Data]:
    """`agg(total=("price", "sum"))`."""
    columns: dict[Key, Data] = {}
    for name, value in (call.arguments.named or {}).items():
        items = call.machine.items(value)
        if isinstance(value, Thing) and value.role == "agg":
            items = Items((value.traits["column"], value.traits["aggfunc"]))
        if items is not None and len(items.items) == 2 and not is_series:
            (key,) = as_keys([call.machine.key(items.items[0])]) or [None]
            data = find_column(call.machine, _frame(call), key)
            columns[name] = _by_function(call, data, items.items[1])
        elif is_series:
            (data,) = base.columns.values()
            columns[name] = _by_function(call, data, value)
    return columns


def _by_entries(call: Call, base: Frame, cell: DictCell) -> dict[Key, Data]:
    """`agg({"price": "sum", "qty": ["min", "max"]})`."""
    columns: dict[Key, Data] = {}
    several = any(call.machine.items(value) is not None for value in cell.entries.values())
    for name, function in cell.entries.items():
        (key,) = as_keys([name]) or [None]
        data = find_column(call.machine, _frame(call), key)
        items = call.machine.items(function)
        for item in items.items if items is not None else [function]:
            label = (key, function_name(item)) if several else key
            columns[label] = _by_function(call, data, item)
    return columns


def _size(call: Call) -> Value:
    base, _ = _selected(call)
    name = "size" if call.machine.is_true(_groups(call).traits["as_index"]) is False else None
    return _grouped(
        call, {name: Data(place=call.place)}, replace(base, open=(), rest=None), is_series=True
    )


def _per_row(call: Call) -> Value:
    """A value for each row, made of those of its group: `transform`, `cumsum`, `rank`."""
    base, is_series = _selected(call)
    function = call.get("func", 0)
    window = change(_deciding(call), Subtype.WINDOW)
    if call.name in _ORDERED:
        window |= change(base.order, Subtype.WINDOW)
    subtype = Subtype.TRANSFORMATION
    if call.name == "transform" or call.name.startswith("cum"):
        subtype = Subtype.AGGREGATION
    columns: dict[Key, Data] = {}
    for name, data in base.columns.items():
        if call.name == "transform" and isinstance(function, Function):
            data = call.machine.data(
                apply_function(call, function, [replace(data, form=Form.SERIES)])
            )
            inputs = change(data.inputs)
        elif call.name == "rank":
            inputs = change(data.inputs, Subtype.WINDOW)
        else:
            inputs = change(data.inputs, subtype)
        columns[name] = replace(
            data, inputs=inputs | window, place=call.place, gaps=all_gaps(data), index=()
        )
    if call.name in {"cumcount", "ngroup"}:
        return Data(window, form=Form.SERIES, place=call.place, rows=base.rows)
    if is_series:
        ((name, data),) = columns.items()
        return replace(data, name=name, form=Form.SERIES, rows=base.rows, index=base.index)
    return call.machine.new(replace(base, columns=columns))


def _apply(call: Call) -> Value:
    """A function of each group: a frame, or a row of values for each."""
    machine = call.machine
    function = call.get("func", 0) or UNKNOWN
    chosen = _groups(call).traits.get("selected")
    frame = _frame(call)
    value: Value = machine.new(frame)
    if isinstance(chosen, Const):
        (key,) = as_keys([chosen.value])
        value = column(machine, frame, key)
    elif chosen is not None and (names := machine.keys(chosen)):
        value = machine.new(select(machine, frame, names))
    made = apply_function(call, function, [value])
    inner = machine.frame(made)
    if inner is not None and inner.library != "series":
        rows = inner.rows | change(_deciding(call), Subtype.GROUP_BY)
        return machine.new(replace(inner, rows=rows))
    base = replace(frame, open=(), rest=None)
    if inner is not None:
        return _grouped(call, inner.columns, base, is_series=False)
    cell = machine.cell(made)
    if isinstance(cell, DictCell):
        columns: dict[Key, Data] = {
            key: machine.data(item)
            for key, item in cell.entries.items()
            if isinstance(key, str | int)
        }
        return _grouped(call, columns, base, is_series=False)
    data = machine.data(made)
    (name,) = as_keys([chosen.value]) if isinstance(chosen, Const) else [None]
    return _grouped(call, {name: replace(data, place=call.place)}, base, is_series=True)


def _rows_of_groups(call: Call) -> Value:
    """`head`, `tail`, `filter`, `nth`: rows as they are, that the groups decide on."""
    base, is_series = _selected(call)
    frame = base if is_series else _frame(call)
    window = change(_deciding(call) | frame.order, Subtype.FILTER)
    if call.name == "filter":
        function = call.get("func", 0) or UNKNOWN
        made = apply_function(call, function, [call.machine.new(frame)])
        window |= change(call.machine.data(made).inputs, Subtype.FILTER)
    return call.machine.new(replace(frame, rows=frame.rows | window))


_SAME = frozenset({"rolling", "expanding", "ewm"})
_ORDERED = words(
    """shift diff cumsum cumprod cummax cummin pct_change cumcount ffill bfill fillna"""
)
_AGGREGATES = words("""
    sum mean median min max count std var nunique first last any all quantile prod idxmax
    idxmin sem skew nth_value mode ohlc unique""")
_METHODS: Mapping[str, Handler] = {
    "agg": _agg,
    "aggregate": _agg,
    "apply": _apply,
    "resample": resample,
    "size": _size,
    **dict.fromkeys(
        words("""transform shift diff cumsum cumprod cummax cummin pct_change cumcount ngroup rank
    ffill bfill fillna"""),
        _per_row,
    ),
    **dict.fromkeys(["head", "tail", "filter", "nth", "sample"], _rows_of_groups),
}
# Names after a dot that are no columns.
GROUP_METHODS = _SAME | _AGGREGATES | _METHODS.keys() | {"get_group", "groups", "describe", "pipe"}
