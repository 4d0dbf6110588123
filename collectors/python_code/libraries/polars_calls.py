"""Polars: readers, frames and writers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.builtin_calls import first_argument
from dbt_graft.collectors.python_code.libraries.column_groups import group_rows, key_pairs
from dbt_graft.collectors.python_code.libraries.evaluated_columns import all_of, condition
from dbt_graft.collectors.python_code.libraries.iteration import column_names, iterate
from dbt_graft.collectors.python_code.libraries.pandas_frames import (
    PANDAS_METHODS,
    drop_missing,
    rename_by,
    same_frame,
    unique_rows,
    unknown_method,
)
from dbt_graft.collectors.python_code.libraries.pandas_reads import PANDAS_READS
from dbt_graft.collectors.python_code.libraries.pandas_shapes import (
    SHAPE_FUNCTIONS,
    Sides,
    merge_sides,
)
from dbt_graft.collectors.python_code.libraries.reading import read_file, read_query
from dbt_graft.collectors.python_code.libraries.spark_frames import (
    changed,
    drop_columns,
    filter_rows,
    rows,
    select_columns,
    sort_rows,
    to_pandas,
    with_columns,
)
from dbt_graft.collectors.python_code.libraries.sql_views import run_on_views
from dbt_graft.collectors.python_code.libraries.writing import POLARS_WRITES
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    as_keys,
    column,
    find_column,
    name_columns,
    rename,
    rest_of,
    with_rows,
    without_columns,
)
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Handler, nothing
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Items,
    Key,
    Ref,
    Thing,
    Value,
    all_inputs,
    change,
    combine,
    derive,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Subtype


def _read_database(call: Call) -> Value:
    frame = read_query(call.machine, call.get("query", 0), Dialect.TSQL, "polars")
    return Items((), frame) if call.flag("iter_batches") else frame


def _read_file(call: Call) -> Value:
    columns, names = call.keys("columns"), call.get("new_columns")
    if names is not None and call.flag("has_header") is False:
        columns, names = call.machine.keys(names), None
    is_named = columns is None or all(isinstance(name, str) for name in columns)
    path = call.machine.text(call.get("source", 0))
    frame = read_file(call.machine, path, "polars", columns if is_named else None)
    if not is_named:
        frame = frame.with_gap(call.gap("columns are read by their places"))
    if names is not None:
        frame = name_columns(call.machine, frame, names)
    if call.get("with_column_names") is not None:
        rest = call.machine.unknown("columns get names that are not known")
        frame = Frame(rest=rest, library="polars")
    return call.machine.new(frame)


def _of_pandas(handler: Handler) -> Handler:
    """A function or method that is as one of pandas, and makes a frame of Polars."""

    def make(call: Call) -> Value:
        value = handler(call)
        frame = call.machine.frame(value)
        return value if frame is None else call.result(replace(frame, library="polars"))

    return make


_FUNCTIONS = {**PANDAS_READS, **SHAPE_FUNCTIONS}


def _data_frame(call: Call) -> Value:
    """`pl.DataFrame(rows, schema=["a", "b"])`."""
    named = dict(call.arguments.named or {})
    schema = call.get("schema", 1)
    if schema is not None:
        named["columns"] = schema
    arguments = replace(call.arguments, positional=call.arguments.positional[:1], named=named)
    return _of_pandas(_FUNCTIONS["pandas.DataFrame"])(replace(call, arguments=arguments))


def _made_series(call: Call) -> Value:
    """`pl.Series("a", values)`."""
    name, values = call.get("name", 0) or Const(None), call.get("values", 1)
    named = {"data": name} if values is None else {"data": values, "name": name}
    return _FUNCTIONS["pandas.Series"](replace(call, arguments=Arguments((), named)))


def _concat(call: Call) -> Value:
    how = call.text("how") or "vertical"
    named = dict(call.arguments.named or {})
    if how == "horizontal":
        named["axis"] = Const(1)
    named["ignore_index"] = Const(True)
    inner = replace(call, arguments=replace(call.arguments, named=named))
    value = _of_pandas(_FUNCTIONS["pandas.concat"])(inner)
    frame = call.machine.frame(value)
    if frame is None or not how.startswith("align"):
        return value
    gap = call.gap("the rows of frames are aligned by the columns that they share")
    return call.result(frame.with_gap(gap))


def _join(call: Call) -> Value:
    """`left.join(right, on=…)`, `left.join_asof(right, left_on=…, right_on=…, by=…)`."""
    machine, left = call.machine, call.frame
    right = as_frame(machine, call.get("other", 0))
    if right is None:
        gap = machine.gap("a frame that is joined is not known")
        return call.result(left.with_more(gap))
    is_asof = call.name == "join_asof"
    how = "left" if is_asof else call.text("how", 2) or "inner"
    on, by = call.get("on", None if is_asof else 1), call.get("by")
    lefts = _keys(call, left, call.get("left_on") or on)
    rights = _keys(call, right, call.get("right_on") or on)
    coalesce = call.flag("coalesce", how not in {"full", "outer"}) is not False
    # The nearest row's own time stays, under a name of its own.
    is_one = [
        coalesce and (a == b or not is_asof) for (a, _), (b, _) in zip(lefts, rights, strict=False)
    ]
    lefts += _keys(call, left, call.get("by_left") or by)
    rights += _keys(call, right, call.get("by_right") or by)
    is_one += [coalesce] * (len(lefts) - len(is_one))
    left_keys: list[tuple[Key, Data]] = []
    right_keys: list[tuple[Key, Data]] = []
    for (a, data), (b, other), is_key in zip(lefts, rights, is_one, strict=False):
        sides_of_key = ((left, a, data), (right, b, other))
        is_plain = is_key and all(
            find_column(machine, f, n).inputs == d.inputs for f, n, d in sides_of_key
        )
        key = b if how == "right" else a
        left_keys.append((key if is_plain else a, data))
        right_keys.append((key if is_plain else None, other))
        if is_plain and a != b and how == "right":
            left = without_columns(left, [a])
        elif is_plain and a != b:
            right = without_columns(right, [b])
    sides = Sides(left, right, how, ("", call.text("suffix") or "_right"))
    merged = merge_sides(sides, left_keys, right_keys)
    if left.open and right.open and len(merged.open) > len(left.open):
        merged = merged.with_gap(call.gap("columns that both frames have get another name"))
    return call.result(merged)


def _join_where(call: Call) -> Value:
    """`left.join_where(right, pl.col("a") > pl.col("b"))`."""
    right = as_frame(call.machine, call.get("other", 0))
    if right is None:
        return unknown_method(call)
    sides = Sides(call.frame, right, "inner", ("", call.text("suffix") or "_right"))
    frame = merge_sides(sides, [], [])
    for value in call.arguments.positional[1:]:
        deciding = condition(call, frame, value)
        frame = with_rows(frame, deciding.inputs, Subtype.JOIN)
        frame = replace(frame, gaps=frame.gaps | deciding.gaps)
    return call.result(frame)


def _keys(call: Call, frame: Frame, value: Value | None) -> list[tuple[Key, Data]]:
    return all_of(call, frame, [value] if value is not None else [])


def _rename(call: Call) -> Value:
    frame = call.frame
    value = call.get("mapping", 0) or UNKNOWN
    cell = call.machine.cell(value)
    if isinstance(cell, DictCell) and cell.rest is None:
        names: dict[object, object] = {
            old: call.machine.key(new) for old, new in cell.entries.items()
        }
        return call.result(rename(call.machine, frame, names))
    return call.result(rename_by(call, frame, value))


def _with_number(call: Call) -> Value:
    frame = call.frame
    name = call.text("name", 0) or "index"
    return call.result(replace(frame, columns={name: Data(), **frame.columns}))


def _series(call: Call) -> Value:
    names = call.keys("index" if call.name == "to_series" else "name", 0) or [0]
    columns = list(call.frame.columns)
    if isinstance(at := names[0], int) and not call.frame.open and at < len(columns):
        names = columns[at:]
    return column(call.machine, call.frame, as_keys(names)[0])


def _filled(call: Call) -> Value:
    frame = call.frame
    windows = call.name in {"interpolate", "shift"}
    inner = changed(call)
    made = call.machine.frame(inner)
    if not windows or made is None:
        return inner
    order = change(frame.order, Subtype.WINDOW)
    columns = {
        name: replace(data, inputs=data.inputs | order) for name, data in made.columns.items()
    }
    return call.result(replace(made, columns=columns))


def _explode(call: Call) -> Value:
    """Rows for the items of lists, as many as each has."""
    frame = call.frame
    columns = call.get("columns")
    values = (*call.arguments.positional, *([columns] if columns is not None else []))
    for name, data in all_of(call, frame, values):
        frame = with_rows(frame, data.inputs, Subtype.JOIN)
        made = replace(data, inputs=change(data.inputs), place=call.place, form=Form.SERIES)
        frame = frame.with_column(name, made)
    return call.result(frame)


def _unnest(call: Call) -> Value:
    """A column for each field of structs, whose names are not known."""
    frame = call.frame
    pairs = all_of(call, frame, call.arguments.positional)
    gap = call.gap("the fields of a struct are not known")
    rest = rest_of(derive([data for _, data in pairs], call.place), gap)
    return call.result(replace(without_columns(frame, [name for name, _ in pairs]), rest=rest))


def _of_subset(handler: Handler) -> Handler:
    """A method of rows by some columns, the first argument: names, expressions, selectors."""

    def make(call: Call) -> Value:
        subset = call.get("subset", 0)
        if subset is None or subset == Const(None):
            return handler(call)
        pairs = all_of(call, call.frame, [subset])
        frame = Frame(dict(pairs), rows=call.frame.rows, library="polars")
        arguments = Arguments(named={"maintain_order": Const(True)})
        made = handler(replace(call, owner=call.machine.new(frame), arguments=arguments))
        rows = call.machine.frame(made)
        gaps = call.frame.gaps.union(*(data.gaps for _, data in pairs))
        return call.result(replace(call.frame, rows=rows.rows if rows else frame.rows, gaps=gaps))

    return make


def _dynamic(call: Call) -> Value:
    """`df.group_by_dynamic("day", every="1mo")`, `df.rolling("day", period="7d")`."""
    frame = call.frame
    index = all_of(call, frame, [call.get("index_column", 0) or UNKNOWN])
    keys = _keys(call, frame, call.get("group_by") or call.get("by"))
    if call.name != "rolling":  # the beginning of a period
        index = [(name, derive([data], call.place)) for name, data in index]
        if call.flag("include_boundaries"):
            index += [
                (f"_{side}_boundary", data) for side in ("lower", "upper") for _, data in index
            ]
    traits: dict[str, Value] = {"keys": key_pairs([*keys, *index])}
    if call.name == "rolling":
        traits["is_rolling"] = Const(True)
    return Thing("column groups", traits, call.owner)


def _upsample(call: Call) -> Value:
    """Rows for each step of time; where none was, the other columns are empty."""
    frame = call.frame
    ((name, data), *_) = all_of(call, frame, [call.get("time_column", 0) or UNKNOWN])
    keys = _keys(call, frame, call.get("group_by"))
    deciding = all_inputs([data, *(key for _, key in keys)])
    made = frame.with_column(name, derive([data], call.place))
    return call.result(with_rows(made, deciding, Subtype.JOIN))


def _parts(call: Call) -> Value:
    """`df.partition_by("k")`: a frame for each group, with `as_dict=True` by its key."""
    machine, frame = call.machine, call.frame
    values = [v for v in (call.get("by", 0), *call.arguments.positional[1:]) if v is not None]
    keys = [data for _, data in all_of(call, frame, values)]
    part = machine.new(with_rows(frame, all_inputs(keys), Subtype.GROUP_BY))
    if call.flag("as_dict"):
        return machine.new(DictCell({}, part, Items(tuple(keys)), rows=frame.rows))
    return machine.new(Items((), part, frame.rows))


def _item(call: Call) -> Value:
    """The value of a frame of one, or in a row and a column."""
    frame = call.frame
    name = call.get("column", 1)
    keys = [] if name is None else as_keys(call.machine.keys(name) or [])
    values = [find_column(call.machine, frame, key) for key in keys] or frame.values
    data = replace(combine(values), form=Form.VALUE, rows=frame.rows, name=None)
    return data.with_gap(call.gap("which column is taken is not known")) if frame.open else data


def _schema(call: Call) -> Value:
    """`df.collect_schema()`: types by the names of columns."""
    rest = UNKNOWN if call.frame.open or call.frame.rest else None
    return call.machine.new(DictCell(dict.fromkeys(call.frame.columns, UNKNOWN), rest, rest))


def _to_dict(call: Call) -> Value:
    """`df.to_dict()`: a series, or a list, for each name."""
    machine, frame = call.machine, call.frame
    series: dict[Key, Value] = {name: column(machine, frame, name) for name in frame.columns}
    return machine.new(DictCell(series, frame.rest, open=frame.open))


def _without_first(call: Call) -> Arguments:
    """The arguments behind the first, a number of rows."""
    return replace(call.arguments, positional=call.arguments.positional[1:])


def sql_context(call: Call) -> Value:
    """`pl.SQLContext(frames, orders=df)`."""
    cell = call.machine.cell(call.get("frames", 0))
    entries = dict(cell.entries) if isinstance(cell, DictCell) else {}
    options = {"frames", "eager", "register_globals"}
    named = {k: v for k, v in (call.arguments.named or {}).items() if k not in options}
    return Thing("sql context", {"frames": call.machine.new(DictCell({**entries, **named}))})


def call_sql_context(call: Call) -> Value:
    """A method of a context of SQL: `register`, `execute`."""
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    ref = owner.traits["frames"]
    cell = machine.cell(ref)
    frames = dict(cell.entries) if isinstance(cell, DictCell) else {}
    if call.name == "execute":
        return _query(call, frames)
    added = machine.cell(call.get("frames", 0))
    if call.name == "register":
        frames[call.text("name", 0)] = call.get("frame", 1) or UNKNOWN
    elif isinstance(added, DictCell):
        frames.update(added.entries)
    frames.update({k: v for k, v in (call.arguments.named or {}).items() if k not in _REGISTERS})
    if isinstance(ref, Ref):
        machine.put(ref, DictCell(frames))
    return owner


_REGISTERS = words("name frame frames")


def _query(call: Call, frames: Mapping[Key, Value]) -> Value:
    machine = call.machine
    views = {str(k).casefold(): v for k, v in frames.items() if isinstance(v, Ref)}
    text, before = call.text("query", 0), machine.views
    text = _QUOTED.sub(_in_backticks, text) if text else text
    machine.views = views
    made = run_on_views(machine, text, "polars") if text is not None else None
    machine.views = before
    if made is None:
        rest = machine.unknown("a query of frames is not followed")
        made = machine.new(Frame(rest=rest, library="polars"))
    return made


def _in_backticks(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == "'" else f"`{match[0][1:-1]}`"


# A literal, or a name in quotes, which stand in Spark's SQL for a literal.
_QUOTED = re.compile(r"'[^']*'|" + '"[^"`]*"')


def _unpivot(call: Call) -> Value:
    """`df.unpivot(["a", "b"], index="id")`, as pandas' `melt`."""
    frame = call.frame
    named = {
        new: value
        for new, old in (("var_name", "variable_name"), ("value_name", "value_name"))
        if (value := call.get(old)) is not None
    }
    gaps = frame.gaps
    for new, value in (
        ("value_vars", call.get("on", 0) or call.get("value_vars", 1)),
        ("id_vars", call.get("index") or call.get("id_vars")),
    ):
        pairs = [] if value in (None, Const(None)) else _keys(call, frame, value)
        gaps = gaps.union(*(data.gaps for name, data in pairs if name is None))
        named[new] = call.machine.new_list([Const(name) for name, _ in pairs if name is not None])
    owner = call.machine.new(replace(frame, gaps=gaps))
    return PANDAS_METHODS["melt"](replace(call, owner=owner, arguments=Arguments((), named)))


def _pivot(call: Call) -> Value:
    named = dict(call.arguments.named or {})
    on = call.get("on", 0) or named.get("columns")
    pivoted = {**named, **({"columns": on} if on is not None else {})}
    arguments = replace(call.arguments, positional=(), named=pivoted)
    value = PANDAS_METHODS["pivot_table"](replace(call, arguments=arguments, name="pivot_table"))
    frame = call.machine.frame(value)
    if frame is None:
        return value
    columns = {**dict(frame.index), **frame.columns}
    return call.result(replace(frame, columns=columns, index=(), library="polars"))


def _stacked(call: Call) -> Value:
    """`df.vstack(other)`; `df.extend(other)` changes the frame."""
    frames = Items((call.owner, call.get("other", 0) or UNKNOWN))
    arguments = replace(call.arguments, positional=(frames,), named={})
    value = _concat(replace(call, arguments=arguments))
    return _in_place(call, value) if call.name == "extend" or call.flag("in_place") else value


def _in_place(call: Call, value: Value) -> Value:
    """A frame that is changed to another."""
    frame = call.machine.frame(value)
    if frame is None or not isinstance(call.owner, Ref):
        return value
    call.machine.put(call.owner, frame)
    return call.owner


def _with_series(call: Call) -> Value:
    """`df.hstack([series])`, `df.insert_column(0, series)`, `df.replace_column(0, series)`."""
    machine, frame = call.machine, call.frame
    for value in call.arguments.values():
        items = machine.items(value)
        for item in items.values if items is not None else [value]:
            beside = machine.frame(item)
            if beside is not None:
                merged = merge_sides(Sides(frame, beside, "cross", ("", "")), [], [])
                frame = replace(merged, rows=frame.rows, order=frame.order)
            elif isinstance(item, Data) and item.name is not None:
                frame = frame.with_column(item.name, replace(item, form=Form.SERIES))
            elif not isinstance(item, Const) or call.name == "replace_column":
                frame = frame.with_gap(call.gap("a column is set whose name is not known"))
    value = machine.new(frame)
    return value if call.name == "hstack" and not call.flag("in_place") else _in_place(call, value)


_TABLE: Mapping[Callable[..., Value], str] = {
    same_frame: """lazy collect clone head tail limit sample slice rechunk cache shrink_to_fit fetch
        set_sorted reverse gather_every to_arrow""",
    _schema: "collect_schema",
    lambda call: column_names(call.frame): "names",
    lambda call: Const(False): "is_empty",
    lambda call: Items((), call.owner): "iter_slices collect_batches",
    select_columns: "select select_seq",
    with_columns: "with_columns with_columns_seq",
    lambda call: call.machine.new(iterate(call.machine, call.owner)): "get_columns iter_columns",
    _to_dict: "to_dict",
    filter_rows: "filter remove",
    drop_columns: "drop",
    _of_subset(drop_missing): "drop_nulls drop_nans",
    _of_subset(unique_rows): "unique",
    changed: "cast fill_nan",
    _filled: "fill_null interpolate shift",
    group_rows: "group_by groupby",
    _dynamic: "group_by_dynamic rolling",
    _upsample: "upsample",
    _parts: "partition_by",
    _item: "item",
    lambda call: _query(call, {call.text("table_name") or "self": call.owner}): "sql",
    _join: "join join_asof",
    _join_where: "join_where",
    sort_rows: "sort",
    lambda call: sort_rows(replace(call, arguments=_without_first(call))): "top_k bottom_k",
    _rename: "rename",
    _with_number: "with_row_index with_row_count",
    _series: "get_column to_series",
    _explode: "explode",
    _unnest: "unnest",
    _unpivot: "melt unpivot",
    _pivot: "pivot",
    to_pandas: "to_pandas",
    rows: "rows iter_rows to_dicts row",
    _stacked: "vstack extend merge_sorted",
    _with_series: "hstack insert_column replace_column",
}
POLARS_METHODS: Mapping[str, Handler] = {
    **POLARS_WRITES,
    "pipe": PANDAS_METHODS["pipe"],
    "drop_in_place": PANDAS_METHODS["pop"],
    **{
        name: _of_pandas(PANDAS_METHODS[name])
        for name in words("sum mean median min max std var quantile")
    },
    **{name: handler for handler, names in _TABLE.items() for name in names.split()},
}
POLARS_FUNCTIONS: Mapping[str, Handler] = {
    "polars.Series": _made_series,
    "polars.SQLContext": sql_context,
    "polars.collect_all": first_argument,
    "polars.concat": _concat,
    "polars.union": _concat,
    **dict.fromkeys(
        (
            f"polars.{name}"
            for name in words("""DataFrame LazyFrame from_arrow from_dict from_dicts from_pandas
                from_records""")
        ),
        _data_frame,
    ),
    "polars.read_database": _read_database,
    "polars.read_database_uri": _read_database,
    **dict.fromkeys(
        (
            f"polars.{name}"
            for name in words("""Array Categorical Categories Datetime Decimal Duration Enum Field
                List Object Schema Struct""")
        ),
        nothing,
    ),
    **dict.fromkeys(
        (
            f"polars.{verb}_{kind}"
            for verb in ("read", "scan")
            for kind in words("csv parquet json ndjson excel ipc delta avro")
        ),
        _read_file,
    ),
}


_FRAMES = re.compile(
    r"align_frames|concat|json_normalize|(?:from(?!_epoch)|read|scan)_\w+|select|sql|union"
)


def is_function(name: str) -> bool:
    """Whether a name of a library is a function of columns; else it makes frames."""
    first, _, last = name.partition(".")
    is_plain = first == "polars" and last.islower() and "." not in last
    return is_plain and not _FRAMES.fullmatch(last)
