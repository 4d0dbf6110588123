"""Writes of a script: frames and rows into tables and files, by pandas and functions like its."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import as_frame, exclude, name_columns, select
from dbt_graft.collectors.python_code.values.machine import Call, Handler, Machine
from dbt_graft.collectors.python_code.values.texts import concatenate
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    Frame,
    Key,
    Ref,
    Value,
    all_gaps,
    decided,
    derive,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import ANY_COLUMN


def write_frame(
    machine: Machine,
    frame: Frame,
    medium: Medium,
    name: Value | str | None,
    dialect: Dialect = Dialect.TSQL,
) -> None:
    """Record that a frame is written; where the name is one of several, to each."""
    names = [name] if isinstance(name, str) else machine.texts(name)
    for text in names or [UNKNOWN_PART]:
        target = machine.record.add_target(machine.place, medium, text, dialect)
        write_columns(machine, frame, target)


def write_columns(machine: Machine, frame: Frame, target: int) -> None:
    """Record the columns of a frame as those of a target."""
    record = machine.record
    names = {name: column_name(name) for name in frame.columns}
    record.add_columns(target, names.values())
    for name, data in frame.columns.items():
        _write_column(machine, target, names[name], decided(data, frame.rows | machine.control))
    record.add_edges(target, ANY_COLUMN, frame.rows | machine.control, machine.place)
    if frame.open:
        record.open_target(target)
    for group in exclude(frame.open, list(names.values())):
        for part in group:
            inputs = frozenset({ColumnInput(part.source, ANY_COLUMN, part.subtype)})
            without = tuple(sorted(part.without))
            record.add_edges(target, ANY_COLUMN, inputs, machine.place, without)
    gaps = set(frame.gaps)
    if not (frame.columns or frame.open or frame.rest or gaps):
        gaps.add(machine.gap("no column of what is written is known"))
    if frame.rest is not None:
        record.open_target(target)
        unnamed = machine.gap("the columns that are written are not known")
        gaps |= all_gaps(frame.rest) or {unnamed}
    for gap in sorted(gaps):
        record.add_gap(gap, target, ANY_COLUMN)


def _write_column(machine: Machine, target: int, name: str, data: Data) -> None:
    place = data.place or machine.place
    machine.record.add_edges(target, name, data.inputs, place)
    for gap in sorted(all_gaps(data)):
        machine.record.add_gap(gap, target, name)


def column_name(name: Key) -> str:
    """The name of a column as text; of several levels, these with `_` between."""
    if isinstance(name, tuple):
        return "_".join(str(part) for part in name if part != "")
    return str(name)


def with_index(frame: Frame, label: list[object] | None, *, is_table: bool) -> Frame:
    """The frame with its index as columns in front."""
    index: dict[Key, Data] = {}
    levels = frame.index or ((None, Data()),)
    for at, (level, data) in enumerate(levels):
        name = label[at] if label and at < len(label) else level
        if name is None:
            if not is_table:
                continue
            name = "index" if len(levels) == 1 else f"level_{at}"
        if isinstance(name, str | int | float | tuple):
            index[name] = data
    return replace(frame, columns={**index, **frame.columns})


def _to_sql(call: Call) -> Value:
    machine = call.machine
    frame = as_frame(machine, call.owner)
    assert frame
    name = call.get("name", 0) or UNKNOWN
    schema = call.get("schema", 2)
    if schema is not None and schema != Const(None):
        name = concatenate(machine, [schema, Const("."), name])
    frame = _with_named_levels(frame)
    if call.flag("index", True) is not False:
        frame = with_index(frame, call.keys("index_label"), is_table=True)
    write_frame(machine, frame, Medium.TABLE, name)
    return UNKNOWN


def _with_named_levels(frame: Frame) -> Frame:
    """The frame with the names that a table gets for columns of several levels: `('a', 'sum')`."""
    depth = max((len(name) for name in frame.columns if isinstance(name, tuple)), default=0)
    if not depth:
        return frame
    levels = {
        name if isinstance(name, tuple) else (name, *[""] * (depth - 1)): data
        for name, data in frame.columns.items()
    }
    return replace(frame, columns={str(name): data for name, data in levels.items()})


def write_to_file(call: Call) -> Value:
    """`df.to_csv(path)`, `df.write_csv(path)`."""
    machine = call.machine
    frame = as_frame(machine, call.owner)
    assert frame
    names = ("path_or_buf", "path", "file", "excel_writer", "target", "workbook")
    path = next((value for name in names if (value := call.get(name, 0))), None)
    columns = call.keys("columns")
    if columns:
        frame = select(machine, frame, columns)
    if call.name in _WITH_INDEX and call.flag("index", True) is not False:
        frame = with_index(frame, call.keys("index_label"), is_table=False)
    header = call.keys("header")
    if header and len(header) == len(frame.columns) > 1:
        frame = name_columns(machine, frame, call.get("header") or UNKNOWN)
    if path is None or path == Const(None):
        return derive([*frame.columns.values()], call.place)
    if isinstance(path, Data | Ref) and not machine.texts(path):
        inner = machine.cell(path)
        if isinstance(inner, Frame):
            return UNKNOWN
    write_frame(machine, frame, Medium.FILE, path)
    return UNKNOWN


_WITH_INDEX = frozenset({"to_csv", "to_excel", "to_parquet_index", "to_html"})


def _write_database(call: Call) -> Value:
    frame = as_frame(call.machine, call.owner)
    assert frame
    write_frame(call.machine, frame, Medium.TABLE, call.get("table_name", 0))
    return UNKNOWN


POLARS_WRITES: Mapping[str, Handler] = {
    "write_database": _write_database,
    **dict.fromkeys(
        words("""write_avro write_csv write_delta write_excel write_ipc write_json write_ndjson
            write_parquet sink_csv sink_delta sink_ipc sink_ndjson sink_parquet"""),
        write_to_file,
    ),
}
WRITE_METHODS: Mapping[str, Handler] = {
    "to_sql": _to_sql,
    **dict.fromkeys(
        words("""to_csv to_excel to_parquet to_json to_feather to_pickle to_orc to_stata to_hdf
            to_xml to_gbq"""),
        write_to_file,
    ),
}


def _write_function(call: Call) -> Value:
    """A function that gets a frame and the name of a table, or a path: `write_pandas(…)`."""
    machine = call.machine
    frames = [frame for v in call.arguments.values() if (frame := machine.frame(v)) is not None]
    data = [v for v in call.arguments.values() if isinstance(v, Data) and v.origin]
    names = [call.get(name) for name in ("table_name", "table", "path", "name", "where", "dest")]
    name = next((v for v in (*names, *call.arguments.positional) if machine.texts(v)), None)
    frame = frames[0] if frames else as_frame(machine, data[0]) if data else None
    if frame is not None:
        is_file = call.get("path") is not None or call.name not in _TABLE_WRITERS
        write_frame(machine, frame, Medium.FILE if is_file else Medium.TABLE, name)
    return UNKNOWN


_TABLE_WRITERS = words("write_pandas to_sql fast_to_sql to_gbq insert_df copy insert_dataframe")
WRITE_FUNCTIONS: Mapping[str, Handler] = dict.fromkeys(
    words("""
        *.write_pandas *.fast_to_sql *.insert_df bcpandas.to_sql pandas_gbq.to_gbq
        deltalake.write_deltalake pyarrow.csv.write_csv pyarrow.feather.write_feather
        pyarrow.parquet.write_table pandas.io.sql.to_sql awswrangler.s3.to_parquet
        awswrangler.s3.to_csv awswrangler.s3.to_json awswrangler.redshift.copy
        awswrangler.redshift.to_sql awswrangler.postgresql.to_sql awswrangler.mysql.to_sql
        awswrangler.sqlserver.to_sql"""),
    _write_function,
)
