"""Polars: readers, frames and writers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.column_expressions import all_of
from dbt_graft.collectors.python_code.libraries.pandas_frames import (
    PANDAS_METHODS,
    drop_missing,
    rename_by,
    same_frame,
    unique_rows,
)
from dbt_graft.collectors.python_code.libraries.pandas_reads import PANDAS_READS
from dbt_graft.collectors.python_code.libraries.pandas_shapes import (
    SHAPE_FUNCTIONS,
    Sides,
    merge_sides,
)
from dbt_graft.collectors.python_code.libraries.reading import read_file, read_query
from dbt_graft.collectors.python_code.libraries.spark_calls import (
    changed,
    drop_columns,
    filter_rows,
    group_rows,
    rows,
    select_columns,
    sort_rows,
    to_pandas,
    with_columns,
)
from dbt_graft.collectors.python_code.libraries.writing import write_frame, write_to_file
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    as_keys,
    column,
    find_column,
    rename,
)
from dbt_graft.collectors.python_code.values.machine import Call, Handler
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Frame,
    Items,
    Value,
    change,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Subtype


def _read_database(call: Call) -> Value:
    return read_query(call.machine, call.get("query", 0), Dialect.TSQL, "polars")


def _read_file(call: Call) -> Value:
    columns = call.keys("columns")
    path = call.machine.text(call.get("source", 0))
    if columns is not None and not all(isinstance(name, str) for name in columns):
        columns = None
    return call.machine.new(read_file(call.machine, path, "polars", columns))


def _of_pandas(name: str) -> Handler:
    """A function that is as pandas' of another name."""
    handler = {**PANDAS_READS, **SHAPE_FUNCTIONS}[name]

    def make(call: Call) -> Value:
        value = handler(call)
        frame = call.machine.frame(value)
        return value if frame is None else call.result(replace(frame, library="polars"))

    return make


def _concat(call: Call) -> Value:
    how = call.text("how") or "vertical"
    named = dict(call.arguments.named or {})
    if how == "horizontal":
        named["axis"] = Const(1)
    named["ignore_index"] = Const(True)
    inner = replace(call, arguments=replace(call.arguments, named=named))
    return _of_pandas("pandas.concat")(inner)


def _join(call: Call) -> Value:
    machine, left = call.machine, call.frame
    right = as_frame(machine, call.get("other", 0))
    if right is None:
        gap = machine.gap("a frame that is joined is not known")
        return call.result(left.with_more(gap))
    how = call.text("how", 2) or "inner"
    on = call.get("on", 1)
    lefts = _keys(call, left, call.get("left_on") or on)
    rights = _keys(call, right, call.get("right_on") or on)
    sides = Sides(left, right, how, ("", call.text("suffix") or "_right"))
    merged = merge_sides(sides, lefts, rights)
    if how not in {"full", "outer", "cross"}:  # the right's key is left out
        shared = {name for name, _ in lefts}
        gone = [name for name, _ in rights if name not in shared and name not in left.columns]
        columns = {name: data for name, data in merged.columns.items() if name not in gone}
        merged = replace(merged, columns=columns)
    return call.result(merged)


def _keys(call: Call, frame: Frame, value: Value | None) -> list[tuple[str, Data]]:
    pairs = all_of(call, frame, [value] if value is not None else [])
    return [(str(name), data) for name, data in pairs]


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
    names = call.keys("name", 0) or [None]
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
    frame = call.frame
    for name in as_keys([k for v in call.arguments.positional for k in call.machine.keys(v) or []]):
        data = find_column(call.machine, frame, name)
        inputs = change(data.inputs)
        frame = frame.with_column(name, replace(data, inputs=inputs, place=call.place))
    return call.result(frame)


def _unpivot(call: Call) -> Value:
    named = dict(call.arguments.named or {})
    on, index = call.get("on", 0), named.get("index")
    melted = {
        **{k: v for k, v in (("value_vars", on), ("id_vars", index)) if v is not None},
        **{
            new: named[old]
            for old, new in (("variable_name", "var_name"), ("value_name", "value_name"))
            if old in named
        },
        **{k: v for k, v in named.items() if k in {"id_vars", "value_vars"}},
    }
    inner = replace(call, arguments=replace(call.arguments, positional=(), named=melted))
    return PANDAS_METHODS["melt"](inner)


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


def _write_database(call: Call) -> Value:
    write_frame(call.machine, call.frame, Medium.TABLE, call.get("table_name", 0))
    return UNKNOWN


def _stacked(call: Call) -> Value:
    frames = Items((call.owner, call.get("other", 0) or UNKNOWN))
    arguments = replace(call.arguments, positional=(frames,), named={})
    return _concat(replace(call, arguments=arguments))


_TABLE: Mapping[Callable[..., Value], str] = {
    same_frame: """lazy collect clone head tail limit sample slice rechunk cache shrink_to_fit fetch
        set_sorted reverse gather_every""",
    select_columns: "select",
    with_columns: "with_columns",
    filter_rows: "filter remove",
    drop_columns: "drop",
    drop_missing: "drop_nulls drop_nans",
    unique_rows: "unique",
    changed: "cast fill_nan",
    _filled: "fill_null interpolate shift",
    group_rows: "group_by groupby group_by_dynamic",
    _join: "join join_asof",
    sort_rows: "sort top_k bottom_k",
    _rename: "rename",
    _with_number: "with_row_index with_row_count",
    _series: "get_column to_series",
    _explode: "explode",
    _unpivot: "melt unpivot",
    _pivot: "pivot",
    to_pandas: "to_pandas",
    rows: "rows iter_rows to_dicts row",
    _stacked: "vstack extend",
    _write_database: "write_database",
    write_to_file: """write_csv write_parquet write_json write_ndjson write_excel write_ipc
        write_delta sink_csv sink_parquet sink_ipc sink_ndjson""",
}
POLARS_METHODS: Mapping[str, Handler] = {
    **{
        name: PANDAS_METHODS[name]
        for name in words("pipe sum mean median min max std var quantile to_dict")
    },
    **{name: handler for handler, names in _TABLE.items() for name in names.split()},
}
POLARS_FUNCTIONS: Mapping[str, Handler] = {
    "polars.DataFrame": _of_pandas("pandas.DataFrame"),
    "polars.LazyFrame": _of_pandas("pandas.DataFrame"),
    "polars.concat": _concat,
    "polars.from_dicts": _of_pandas("pandas.DataFrame"),
    "polars.from_pandas": _of_pandas("pandas.DataFrame"),
    "polars.read_database": _read_database,
    "polars.read_database_uri": _read_database,
    **dict.fromkeys(
        (
            f"polars.{verb}_{kind}"
            for verb in ("read", "scan")
            for kind in words("csv parquet json ndjson excel ipc delta avro")
        ),
        _read_file,
    ),
}


def is_function(name: str) -> bool:
    """Whether a name of a library is a function of columns."""
    first, _, last = name.partition(".")
    return first == "polars" and last.islower() and "." not in last
