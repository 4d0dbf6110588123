"""pandas' functions that read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.reading import (
    one_text,
    read_file,
    read_query,
    read_table,
)
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    as_keys,
    find_column,
    frame_of_rows,
    opaque_frame,
    select,
    without_columns,
)
from dbt_graft.collectors.python_code.values.machine import Call, Handler
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
    Value,
    combine,
    derive,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART


def _read_sql(call: Call) -> Value:
    machine = call.machine
    query = call.get("sql", 0)
    if isinstance(query, Ref) and machine.frame(query) is not None:
        frame = machine.frame(query)
        assert frame
        return _finish(call, machine.new(replace(frame, library="pandas")))
    value = read_query(machine, query, Dialect.TSQL, "pandas", call.get("params"))
    columns = call.keys("columns")
    frame = machine.frame(value)
    if columns and frame and frame.open:
        machine.put(value, select(machine, frame, columns)) if isinstance(value, Ref) else None
    return _finish(call, value)


def _finish(call: Call, value: Value) -> Value:
    """The frame with its index; in pieces if it is read by `chunksize`."""
    machine = call.machine
    frame = machine.frame(value)
    names = call.keys("index_col")
    if frame is not None and names and isinstance(value, Ref):
        machine.put(value, set_index(call, frame, names, drop=True))
    chunks = call.get("chunksize") or call.get("iterator")
    if chunks is not None and chunks not in (Const(None), Const(False)):
        return Items((), value)
    return value


def set_index(call: Call, frame: Frame, names: list[object], *, drop: bool) -> Frame:
    """The frame with columns as its index."""
    keys = [name for name in as_keys(names) if not isinstance(name, int)]
    index = tuple((name, find_column(call.machine, frame, name)) for name in keys)
    if drop:
        frame = without_columns(replace(frame, index=()), keys)
    return replace(frame, index=index)


def _read_sql_table(call: Call) -> Value:
    machine = call.machine
    name = call.text("table_name", 0) or UNKNOWN_PART
    schema = call.text("schema", 2)
    columns = call.keys("columns")
    if columns:
        columns = list(dict.fromkeys([*(call.keys("index_col") or ()), *columns]))
    full = f"{schema}.{name}" if schema else name
    frame = read_table(machine, full, Dialect.TSQL, "pandas", columns or None)
    return _finish(call, machine.new(frame))


def _read_file(call: Call) -> Value:
    machine = call.machine
    path = call.get("filepath_or_buffer", 0) or call.get("path", 0) or call.get("io", 0)
    names, columns = call.keys("names"), call.keys("usecols") or call.keys("columns")
    if columns is not None and names is not None and all(isinstance(c, int) for c in columns):
        columns = names
    chosen = columns if columns is not None else names
    if chosen is not None and any(isinstance(c, int) for c in chosen):
        chosen = None
    text = one_text(machine, path)
    value: Value = machine.new(read_file(machine, text, "pandas", chosen))
    if call.name == "read_excel" and call.get("sheet_name") == Const(None):
        return machine.new(DictCell({}, value, UNKNOWN))
    return _finish(call, value)


def _data_frame(call: Call) -> Value:
    """`pd.DataFrame(rows, columns=names)`."""
    cell = call.machine.cell(call.get("data", 0))
    if call.text("orient", 1) == "index" and isinstance(cell, DictCell):
        rows = Items((*cell.entries.values(),), cell.rest, cell.rows)
        frame = _made_of(call, rows, call.keys("columns"))
        index = ((None, call.machine.data(cell.keys)),)
        return call.machine.new(replace(frame, index=index))
    return call.machine.new(_made_of(call, call.get("data", 0), call.keys("columns", 2)))


def _made_of(call: Call, data: Value | None, names: list[object] | None) -> Frame:
    machine = call.machine
    frame = as_frame(machine, data) if not isinstance(data, Data) or data.form else None
    if frame is not None and isinstance(data, Ref):
        return select(machine, frame, names) if names else replace(frame, library="pandas")
    cell = machine.cell(data)
    if isinstance(cell, DictCell):
        columns: dict[Key, Data] = {
            key: _of_items(call, value)
            for key, value in cell.entries.items()
            if isinstance(key, str | int | tuple)
        }
        rest = None
        if cell.rest is not None:
            gap = machine.gap("names of columns are not known")
            rest = replace(_of_items(call, cell.rest), origin=gap)
        rows = cell.rows.union(*(column.rows for column in columns.values()))
        series = (column for column in columns.values() if column.form is Form.SERIES)
        index = next((column.index for column in series if column.index), ())
        made = Frame(columns, rest=rest, rows=rows, index=index)
        return select(machine, made, names) if names else made
    rows_of = machine.items(data)
    if rows_of is not None:
        made_of_rows = frame_of_rows(machine, rows_of, names)
        if made_of_rows is not None:
            return made_of_rows
    if data is None or data == Const(None):
        return Frame(dict.fromkeys(as_keys(names or []), UNKNOWN))
    if frame is not None and not names:
        return frame
    if frame is not None and names and len(names) == 1:
        return replace(frame, columns={as_keys(names)[0]: machine.data(data)})
    return _of_values(call, machine.data(data), names)


def _of_values(call: Call, values: Data, names: list[object] | None) -> Frame:
    """A frame of values whose places are not known: a column of several is of any of them."""
    if names:
        column = derive([values], call.place)
        if len(names) > 1 and len({(item.source, item.column) for item in values.inputs}) > 1:
            column = column.with_gap(call.gap("which value goes into which column is not known"))
        return Frame(dict.fromkeys(as_keys(names), column), rows=values.rows)
    gap = values.origin or call.gap("rows of unknown columns become a frame")
    return opaque_frame(replace(values, origin=gap))


def _of_items(call: Call, value: Value) -> Data:
    items = call.machine.items(value)
    if items is None:
        return call.machine.data(value)
    parts = [call.machine.data(item) for item in items.items]
    if items.rest is not None:
        parts.append(call.machine.data(items.rest))
    data = combine(parts)
    return replace(data, rows=data.rows | items.rows, form=Form.SERIES)


def _series(call: Call) -> Value:
    value = call.get("data", 0)
    data = _of_items(call, value) if value is not None else UNKNOWN
    cell = call.machine.cell(value)
    if isinstance(cell, DictCell):
        data = combine([call.machine.data(item) for item in cell.entries.values()] or [UNKNOWN])
        columns = {
            key: call.machine.data(item)
            for key, item in cell.entries.items()
            if isinstance(key, str | int | tuple)
        }
        return call.machine.new(Frame(dict(columns), library="series"))
    named = _named_values(call, value)
    if named is not None:
        return call.machine.new(Frame(named, library="series"))
    name = call.text("name")
    return replace(data, form=Form.SERIES, name=name if name else data.name)


def _named_values(call: Call, value: Value | None) -> dict[Key, Data] | None:
    """`pd.Series([a, b], index=["x", "y"])` of values of a row; None for other series."""
    items = call.machine.items(value)
    if items is None or items.rest is not None or items.names:
        return None
    parts = [call.machine.data(item) for item in items.items]
    if not any(part.inputs for part in parts) or any(part.form is Form.SERIES for part in parts):
        return None
    index = call.get("index", 1)
    names = call.keys("index", 1) if index is not None else list(range(len(parts)))
    if names is None or len(names) != len(parts):
        return None
    return dict(zip(as_keys(names), parts, strict=True))


PANDAS_READS: Mapping[str, Handler] = {
    "pandas.DataFrame": _data_frame,
    "pandas.DataFrame.from_dict": _data_frame,
    "pandas.DataFrame.from_records": _data_frame,
    "pandas.Index": _series,
    "pandas.Series": _series,
    "pandas.io.sql.read_sql": _read_sql,
    "pandas.json_normalize": _data_frame,
    **dict.fromkeys(
        (
            f"pandas.read_{kind}"
            for kind in words("""
                csv excel parquet json feather orc pickle fwf table xml html stata sas spss hdf gbq
                clipboard""")
        ),
        _read_file,
    ),
    "pandas.read_sql": _read_sql,
    "pandas.read_sql_query": _read_sql,
    "pandas.read_sql_table": _read_sql_table,
}
