"""Methods of pandas' frames, by their behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.pandas_groups import group_by, resample
from dbt_graft.collectors.python_code.libraries.pandas_queries import (
    assign_expressions,
    condition_of,
)
from dbt_graft.collectors.python_code.libraries.pandas_reads import set_index
from dbt_graft.collectors.python_code.libraries.pandas_series import (
    AGGREGATES,
    apply_function,
    pipe,
)
from dbt_graft.collectors.python_code.libraries.pandas_shapes import SHAPE_METHODS
from dbt_graft.collectors.python_code.libraries.subscripts import as_column, get_item
from dbt_graft.collectors.python_code.libraries.writing import WRITE_METHODS
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    as_keys,
    blurred,
    change_open,
    column,
    filtered,
    find_column,
    find_columns,
    inputs_of_rows,
    name_columns,
    record_of,
    rename,
    row_of,
    select,
    with_rows,
    without_columns,
)
from dbt_graft.collectors.python_code.values.machine import NOT_KNOWN, Call, Handler
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Function,
    Items,
    Key,
    Ref,
    Thing,
    Value,
    all_inputs,
    change,
    derive,
)
from dbt_graft.lineage.records import Subtype


def unknown_method(call: Call) -> Value:
    """A method that no table has: columns are not known behind it."""
    frame = call.frame
    gap = call.gap(f"what `{call.name}` does to a frame is not known")
    made = blurred(call, frame, [*frame.values, *call.data()], gap)
    return call.result(replace(made, gaps=frame.gaps, library=frame.library))


def same_frame(call: Call) -> Value:
    """The frame as it is."""
    return call.result(call.frame)


def _changed(call: Call, subtype: Subtype = Subtype.TRANSFORMATION) -> Value:
    """All columns, or those that a dictionary or `subset` names, changed each by itself."""
    machine, frame = call.machine, call.frame
    first = call.get("value", 0) or call.get("dtype", 0) or call.get("to_replace", 0)
    cell = machine.cell(first)
    chosen: list[object] | None = call.keys("subset")
    if isinstance(cell, DictCell) and cell.rest is None and cell.entries:
        names = list(cell.entries)
        if call.name != "replace" or all(
            isinstance(machine.cell(value), DictCell) or name in frame.columns
            for name, value in cell.entries.items()
        ):
            chosen = names
    if isinstance(cell, Frame) and call.name in _OPERATIONS:  # column by column
        pairs = {name: cell.columns.get(name) for name in frame.columns}
        columns = {
            name: derive([data, *filter(None, [pairs[name]])], call.place, subtype)
            for name, data in frame.columns.items()
        }
        if not (cell.open or cell.rest or frame.open or frame.rest):
            return call.result(replace(frame, columns=columns))
    extra = [] if isinstance(cell, DictCell) else call.data()
    if chosen is not None:
        for name in as_keys(chosen):
            own = extra
            if isinstance(cell, DictCell):
                own = machine.parts(cell.entries.get(name))
            before = find_column(machine, frame, name)
            frame = frame.with_column(name, derive([before, *own], call.place, subtype))
        return call.result(frame)
    return call.result(_map(call, frame, subtype, extra))


_OPERATIONS = words(
    "fillna add sub mul div truediv floordiv mod pow radd rsub rmul rdiv eq ne gt ge lt le"
)


def _map(call: Call, frame: Frame, subtype: Subtype, extra: list[Data]) -> Frame:
    columns = {
        name: derive([data, *extra], call.place, subtype) for name, data in frame.columns.items()
    }
    rest = frame.rest and derive([frame.rest], call.place, subtype)
    if frame.rest is not None and rest is not None:
        rest = replace(rest, origin=frame.rest.origin)
    return replace(frame, columns=columns, open=change_open(frame.open, subtype), rest=rest)


def _windowed(call: Call) -> Value:
    frame = call.frame
    beside = [Data(change(frame.order, Subtype.WINDOW))]
    if call.machine.key(call.get("axis")) in {1, "columns"}:  # of those to its left
        beside = frame.values
    return call.result(_map(call, frame, Subtype.TRANSFORMATION, beside))


def _aggregated(call: Call) -> Value:
    """One row of all, `df.sum()`; with `axis=1` a value for each row."""
    frame = call.frame
    if call.machine.key(call.get("axis", 0)) in {1, "columns"}:
        data = derive(frame.values, call.place)
        if frame.open:
            data = data.with_gap(call.gap(f"which columns `{call.name}` takes is not known"))
        return replace(data, form=Form.SERIES, name=None, index=frame.index, rows=frame.rows)
    columns = {
        name: replace(derive([data], call.place, Subtype.AGGREGATION), form=Form.VALUE)
        for name, data in frame.columns.items()
    }
    made = replace(frame, columns=columns, open=change_open(frame.open, Subtype.AGGREGATION))
    return call.machine.new(replace(made, library="series", index=()))


def _described(call: Call) -> Value:
    """`df.describe()`: numbers made of each column, under its name."""
    index = ((None, Data()),)
    made = _map(call, call.frame, Subtype.AGGREGATION, [])
    return call.machine.new(replace(made, index=index))


def _agg(call: Call) -> Value:
    machine, frame = call.machine, call.frame
    cell = machine.cell(call.get("func", 0))
    if isinstance(cell, DictCell) and cell.rest is None:
        frame = select(machine, frame, list(cell.entries))
        columns = {
            name: derive([data], call.place, Subtype.AGGREGATION)
            for name, data in frame.columns.items()
        }
        return machine.new(replace(frame, columns=columns, library="series", index=()))
    return _aggregated(call)


def _assign(call: Call) -> Value:
    machine = call.machine
    ref = machine.new(call.frame)
    made = replace(call, owner=ref)
    for name, value in (call.arguments.named or {}).items():
        if isinstance(value, Function):
            value = machine.call(value, ref)
        column_of = as_column(machine, made.frame, value)
        machine.put(ref, made.frame.with_column(name, column_of))
    if call.arguments.more:
        gap = machine.gap("columns are assigned whose names are not known")
        machine.put(ref, made.frame.with_gap(gap))
    return ref


def _insert(call: Call) -> Value:
    machine, frame = call.machine, call.frame
    key = machine.key(call.get("column", 1))
    if not isinstance(call.owner, Ref):
        return Const(None)
    if key is NOT_KNOWN:
        gap = machine.gap("a column is set whose name is not known")
        machine.put(call.owner, frame.with_gap(gap))
        return Const(None)
    data = as_column(machine, frame, call.get("value", 2) or UNKNOWN)
    at = call.machine.key(call.get("loc", 0))
    items = list(frame.columns.items())
    items.insert(at if isinstance(at, int) else len(items), (key, data))
    machine.put(call.owner, replace(frame, columns=dict(items)))
    return Const(None)


def _rename(call: Call) -> Value:
    machine, frame = call.machine, call.frame
    axis = machine.key(call.get("axis"))
    names = call.get("columns") or (call.get("mapper", 0) if axis in {1, "columns"} else None)
    if names is None:
        levels = machine.cell(call.get("index"))
        if isinstance(levels, DictCell):
            index = tuple(
                (as_keys([machine.key(levels.entries.get(name, Const(name)))])[0], data)
                for name, data in frame.index
            )
            return call.result(replace(frame, index=index))
        return call.result(frame)
    cell = machine.cell(names)
    if isinstance(cell, DictCell) and cell.rest is None:
        new = {old: machine.key(value) for old, value in cell.entries.items()}
        if NOT_KNOWN not in new.values():
            return call.result(rename(machine, frame, new))
    if not isinstance(cell, DictCell):
        return call.result(rename_by(call, frame, names))
    gap = machine.gap("columns get names that are not known")
    if cell.rest is None:
        unclear = [old for old, value in cell.entries.items() if machine.key(value) is NOT_KNOWN]
        return call.result(without_columns(frame, unclear).with_gap(gap))
    return call.result(blurred(call, frame, [*frame.columns.values()], gap))


def rename_by(call: Call, frame: Frame, function: Value) -> Frame:
    """The frame with its columns renamed by a function."""
    machine = call.machine
    names: dict[object, object] = {}
    for name in frame.columns:
        new = machine.key(machine.call(function, Const(name)) if isinstance(name, str) else UNKNOWN)
        names[name] = new if isinstance(new, str) else name
    return _rename_each(call, frame, names)


def _rename_each(call: Call, frame: Frame, names: dict[object, object]) -> Frame:
    renamed = rename(call.machine, frame, names)
    if frame.open:
        rest = call.machine.unknown("columns that the code does not name get other names")
        renamed = replace(renamed, open=(), rest=rest)
    return renamed


def _affixed(call: Call) -> Value:
    frame = call.frame
    affix = call.text("prefix", 0) if call.name == "add_prefix" else call.text("suffix", 0)
    names: dict[object, object] = {
        name: f"{affix}{name}" if call.name == "add_prefix" else f"{name}{affix}"
        for name in frame.columns
    }
    return call.result(_rename_each(call, frame, names))


def _drop(call: Call) -> Value:
    frame = call.frame
    axis = call.machine.key(call.get("axis", 1))
    names = call.get("columns") or (call.get("labels", 0) if axis in {1, "columns"} else None)
    if names is None:
        labels = call.machine.data(call.get("labels", 0) or call.get("index"))
        dropped = with_rows(frame, labels.inputs, Subtype.FILTER)
        return call.result(replace(dropped, rows=dropped.rows | labels.rows))
    keys = call.machine.keys(names)
    if keys is None:
        gap = call.gap("columns are dropped whose names are not known")
        return call.result(frame.with_gap(gap))
    return call.result(without_columns(frame, keys))


def _pop(call: Call) -> Value:
    frame = call.frame
    keys = call.keys("item", 0)
    if not keys or not isinstance(call.owner, Ref):
        return UNKNOWN
    data = column(call.machine, frame, as_keys(keys)[0])
    call.machine.put(call.owner, without_columns(frame, keys))
    return data


def _eval(call: Call) -> Value:
    made = assign_expressions(call, call.frame)
    return made if isinstance(made, Data) else call.result(made)


def drop_missing(call: Call) -> Value:
    """`df.dropna(subset=["a"])`."""
    frame = call.frame
    if call.machine.key(call.get("axis")) in {1, "columns"}:
        return call.result(frame.with_gap(call.gap("columns are dropped by their values")))
    names = call.keys("subset")
    inputs = all_inputs(find_columns(call.machine, frame, names or ()))
    return call.result(with_rows(frame, inputs if names else inputs_of_rows(frame), Subtype.FILTER))


def unique_rows(call: Call) -> Value:
    """Rows that are there once: of each group by some columns, or by all of them, as DISTINCT."""
    frame = call.frame
    names = call.keys("subset", 0)
    parts = find_columns(call.machine, frame, names or ())
    inputs = all_inputs(parts) if names else inputs_of_rows(frame)
    return call.result(with_rows(frame, inputs, Subtype.GROUP_BY))


def _sorted(call: Call) -> Value:
    frame = call.frame
    names = call.keys("by", 0)
    if call.name in {"nlargest", "nsmallest"}:
        names = call.keys("columns", 1)
    if call.name == "sort_index":
        inputs = all_inputs(data for _, data in frame.index)
    else:
        inputs = all_inputs(find_columns(call.machine, frame, names or []))
    rows = change(inputs, Subtype.SORT)
    return call.result(replace(frame, rows=frame.rows | rows, order=inputs))


def _explode(call: Call) -> Value:
    frame = call.frame
    for name in as_keys(call.keys("column", 0) or []):
        data = find_column(call.machine, frame, name)
        frame = with_rows(frame, data.inputs, Subtype.JOIN)
        frame = frame.with_column(name, derive([data], call.place))
    return call.result(frame)


def _set_index(call: Call) -> Value:
    frame = call.frame
    names = call.keys("keys", 0)
    if names is None:
        return call.result(frame)
    return call.result(set_index(call, frame, names, drop=call.flag("drop", True) is not False))


def _reset_index(call: Call) -> Value:
    frame = call.frame
    names = call.keys("names")
    levels = frame.index or ((None, Data()),)
    left: tuple[tuple[Key, Data], ...] = ()
    chosen = call.keys("level", 0)
    if chosen:
        left = tuple(p for at, p in enumerate(levels) if at not in chosen and p[0] not in chosen)
        levels = tuple(pair for pair in levels if pair not in left)
    if call.flag("drop"):
        return call.result(replace(frame, index=left))
    columns: dict[Key, Data] = {}
    for at, (name, data) in enumerate(levels):
        if names and at < len(names):
            columns[as_keys([names[at]])[0]] = data
        elif name is not None:
            columns[name] = data
        else:
            columns["index" if len(levels) == 1 else f"level_{at}"] = data
    return call.result(replace(frame, columns={**columns, **frame.columns}, index=left))


def _apply(call: Call) -> Value:
    """`df.apply(function, axis=1)`: a value for each row; else of each column."""
    machine, frame = call.machine, call.frame
    function = call.get("func", 0) or UNKNOWN
    by_row = machine.key(call.get("axis", 1)) in {1, "columns"}
    if not by_row:
        columns = {}
        for name in frame.columns:
            made = apply_function(call, function, [column(machine, frame, name)])
            columns[name] = replace(machine.data(made), place=call.place, form=Form.VALUE, index=())
        aggregates = isinstance(function, Const) and function.value in AGGREGATES
        changed = replace(
            frame, columns=columns, open=change_open(frame.open, Subtype.TRANSFORMATION)
        )
        return machine.new(replace(changed, library="series") if aggregates else changed)
    row: Value = machine.new(record_of(frame)) if isinstance(function, Function) else row_of(frame)
    extra = machine.items(call.get("args")) or Items()
    value = apply_function(call, function, [row, *extra.items])
    return _of_rows(call, frame, value)


def _of_rows(call: Call, frame: Frame, value: Value) -> Value:
    machine = call.machine
    cell = machine.cell(value)
    if isinstance(cell, DictCell):
        columns: dict[Key, Data] = {
            key: replace(machine.data(item), place=call.place)
            for key, item in cell.entries.items()
            if isinstance(key, str | int)
        }
        made = Frame(columns, cell.open, rows=frame.rows, order=frame.order, index=frame.index)
        return machine.new(made)
    if isinstance(cell, Frame):
        return machine.new(replace(cell, rows=frame.rows, index=frame.index, library="pandas"))
    items = machine.items(value)
    if items is not None and not items.rest and call.text("result_type") == "expand":
        columns = {at: machine.data(item) for at, item in enumerate(items.items)}
        return machine.new(Frame(columns, rows=frame.rows, index=frame.index))
    if items is not None and not items.rest:
        return Thing("tuples", {"items": Items((), items, frame.rows)})
    data = machine.data(value)
    rows = data.rows | frame.rows
    return replace(
        data, form=Form.SERIES, place=call.place, index=frame.index, rows=rows, name=None
    )


def _rows(call: Call) -> Value:
    frame = call.frame
    row: Value = row_of(
        frame, with_index=call.name == "itertuples" and call.flag("index", True) is not False
    )
    if call.name == "iterrows":
        index = frame.index[0][1] if frame.index else UNKNOWN
        row = Items((index, row_of(frame)))
    if call.name == "items":
        pairs = tuple(
            Items(
                (
                    Const(name) if isinstance(name, str) else UNKNOWN,
                    column(call.machine, frame, name),
                )
            )
            for name in frame.columns
        )
        return Items(pairs)
    return Items((), row, frame.rows)


def _array(call: Call) -> Value:
    frame = call.frame
    if call.name != "to_records":
        row = replace(row_of(frame), names=())
    else:
        row = row_of(frame, with_index=call.flag("index", True) is not False)
    return Thing("array", {"items": Items((), row, frame.rows)})


def _to_dict(call: Call) -> Value:
    machine, frame = call.machine, call.frame
    orient = call.text("orient", 0) or "dict"
    if orient in {"records", "index"} or call.name in {"to_dicts", "rows_named"}:
        record = machine.new(record_of(frame))
        if orient == "index":
            keys = frame.index[0][1] if frame.index else UNKNOWN
            return machine.new(DictCell({}, record, keys, (), frame.rows))
        return machine.new(Items((), record, frame.rows))
    columns: dict[object, Value] = {}
    for name, data in frame.columns.items():
        item = replace(data, form=Form.VALUE)
        if orient in {"list", "series"}:
            columns[name] = Items((), item, frame.rows)
        else:
            keys = frame.index[0][1] if frame.index else UNKNOWN
            columns[name] = machine.new(DictCell({}, item, keys))
    return machine.new(DictCell(columns))


def _select_types(call: Call) -> Value:
    frame = call.frame
    gap = call.gap("columns are selected by their types, which the code does not name")
    return call.machine.new(blurred(call, frame, [*frame.columns.values()], gap))


def _filter_names(call: Call) -> Value:
    frame = call.frame
    names = call.keys("items", 0)
    if names is not None:
        return call.machine.new(select(call.machine, frame, names))
    like = call.text("like")
    if like is not None and not frame.open and not frame.rest:
        chosen = [name for name in frame.columns if like in str(name)]
        return call.machine.new(select(call.machine, frame, list(chosen)))
    return _select_types(call)


def _where(call: Call) -> Value:
    frame = call.frame
    condition = call.machine.data(call.get("cond", 0))
    other = call.machine.data(call.get("other", 1))
    deciding = replace(condition, inputs=change(condition.inputs, Subtype.CONDITIONAL))
    return call.result(_map(call, frame, Subtype.TRANSFORMATION, [deciding, other]))


def _update(call: Call) -> Value:
    """`df.update(other)`: in place, by the index."""
    machine, frame = call.machine, call.frame
    other = as_frame(machine, call.get("other", 0))
    columns = dict(frame.columns)
    levels = [*frame.index, *(other.index if other is not None else ())]
    keys = Data(change(all_inputs(data for _, data in levels), Subtype.CONDITIONAL))
    for name in frame.columns if other is not None else ():
        if other is not None and name in other.columns:
            columns[name] = derive([columns[name], other.columns[name], keys], call.place)
    changed = replace(frame, columns=columns)
    if other is None or other.open or other.rest or frame.open:
        gap = machine.gap("which columns `update` changes is not known")
        changed = replace(changed, gaps=frame.gaps | {gap})
    if isinstance(call.owner, Ref):
        machine.put(call.owner, changed)
    return Const(None)


def _set_names(call: Call) -> Value:
    frame = call.frame
    if call.machine.key(call.get("axis", 1)) in {1, "columns"}:
        return call.result(name_columns(call.machine, frame, call.get("labels", 0) or UNKNOWN))
    return call.result(frame)


def _reindex(call: Call) -> Value:
    frame = call.frame
    machine, names = call.machine, call.keys("columns")
    labels = machine.data(call.get("labels", 0) or call.get("index"))
    if names or not labels.inputs:
        return call.result(select(machine, frame, names) if names else frame)
    keys = all_inputs([labels, *(data for _, data in frame.index)])
    columns = {
        name: replace(data, inputs=data.inputs | change(keys, Subtype.CONDITIONAL))
        for name, data in frame.columns.items()
    }
    level = frame.index[0][0] if frame.index else None
    rows = labels.rows
    return call.result(replace(frame, columns=columns, index=((level, labels),), rows=rows))


def _chosen_keys(call: Call, frame: Frame) -> list[Key]:
    names = call.keys("subset", 0)
    return as_keys(names or frame.columns)


def _counted(call: Call) -> Value:
    """`df.value_counts(names)`, `df.size`."""
    frame = call.frame
    keys = _chosen_keys(call, frame)
    index = tuple((name, find_column(call.machine, frame, name)) for name in keys)
    groups = change(all_inputs(data for _, data in index), Subtype.GROUP_BY)
    return Data(name="count", rows=frame.rows | groups, index=index, form=Form.SERIES)


def _mask_of_rows(call: Call) -> Value:
    """`df.duplicated(names)`: a condition."""
    frame = call.frame
    parts = find_columns(call.machine, frame, _chosen_keys(call, frame))
    return replace(derive(parts, call.place), form=Form.SERIES) if parts else Data(form=Form.SERIES)


_TABLE: Mapping[Callable[..., Value], str] = {
    same_frame: """copy head tail sample infer_objects convert_dtypes reindex_like squeeze
        sort_columns persist compute cache asfreq between_time truncate at_time view first last
        align to_pandas""",
    _changed: """fillna replace astype round abs clip apply_map applymap map add sub mul div
        truediv floordiv mod pow radd rsub rmul rdiv to_numeric tz_localize tz_convert isin eq ne
        gt ge lt le isna isnull notna notnull""",
    _windowed: """ffill bfill pad backfill shift diff cumsum cumprod cummax cummin pct_change
        interpolate""",
    _aggregated: """sum mean median min max count std var nunique any all quantile prod mode
        idxmax idxmin skew kurt sem""",
    _agg: "agg aggregate",
    _assign: "assign",
    _insert: "insert",
    _rename: "rename",
    _affixed: "add_prefix add_suffix",
    _drop: "drop",
    _pop: "pop",
    _eval: "eval",
    drop_missing: "dropna",
    unique_rows: "drop_duplicates",
    _sorted: "sort_values sort_index nlargest nsmallest",
    _explode: "explode",
    _set_index: "set_index",
    _reset_index: "reset_index",
    _apply: "apply",
    pipe: "pipe",
    _rows: "itertuples iterrows items",
    _array: "to_numpy to_records tolist",
    _to_dict: "to_dict",
    _select_types: "select_dtypes",
    _filter_names: "filter",
    _where: "where mask",
    _update: "update",
    _set_names: "set_axis",
    _reindex: "reindex",
    _counted: "value_counts",
    _mask_of_rows: "duplicated",
    lambda call: Thing("rolling", {"frame": call.owner}, call.owner): "rolling expanding ewm",
    resample: "resample",
    _described: "describe",
    lambda call: Const(None): "info memory_usage to_string to_markdown to_html equals",
}
PANDAS_METHODS: Mapping[str, Handler] = {
    **{name: handler for handler, names in _TABLE.items() for name in names.split()},
    **SHAPE_METHODS,
    **WRITE_METHODS,
    "get": lambda call: get_item(call.machine, call.owner, call.get("key", 0) or UNKNOWN),
    "groupby": lambda call: group_by(call, call.frame),
    "query": lambda call: call.result(filtered(call.frame, condition_of(call, call.frame))),
}
