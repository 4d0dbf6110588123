"""Methods of pandas' frames that write."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.writing import with_index, write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import as_frame, name_columns, select
from dbt_graft.collectors.python_code.values.machine import Call, Handler
from dbt_graft.collectors.python_code.values.texts import concatenate
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    Frame,
    Ref,
    Value,
    derive,
)


def _to_sql(call: Call) -> Value:
    machine = call.machine
    frame = as_frame(machine, call.owner)
    assert frame
    name = call.get("name", 0) or UNKNOWN
    schema = call.get("schema", 2)
    if schema is not None and schema != Const(None):
        name = concatenate(machine, [schema, Const("."), name])
    if call.flag("index", True) is not False:
        frame = with_index(frame, call.keys("index_label"), is_table=True)
    write_frame(machine, frame, Medium.TABLE, name)
    return UNKNOWN


def write_to_file(call: Call) -> Value:
    """`df.to_csv(path)`, `df.write_csv(path)`."""
    machine = call.machine
    frame = as_frame(machine, call.owner)
    assert frame
    path = (
        call.get("path_or_buf", 0)
        or call.get("path", 0)
        or call.get("file", 0)
        or call.get("excel_writer", 0)
    )
    columns = call.keys("columns")
    if columns and columns != [None]:
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
    name = call.get("table_name") or call.get("table") or call.get("path") or call.get("name")
    if name is None:
        name = next((v for v in call.arguments.positional if machine.texts(v)), None)
    frame = frames[0] if frames else as_frame(machine, data[0]) if data else None
    if frame is not None:
        is_file = call.get("path") is not None or call.name not in _TABLE_WRITERS
        write_frame(machine, frame, Medium.FILE if is_file else Medium.TABLE, name)
    return UNKNOWN


_TABLE_WRITERS = words("write_pandas to_sql fast_to_sql to_gbq insert_df copy insert_dataframe")
WRITE_FUNCTIONS: Mapping[str, Handler] = dict.fromkeys(
    words("""
        *.write_pandas *.fast_to_sql *.insert_df bcpandas.to_sql pandas_gbq.to_gbq
        pandas.io.sql.to_sql awswrangler.s3.to_parquet awswrangler.s3.to_csv
        awswrangler.s3.to_json awswrangler.redshift.copy awswrangler.redshift.to_sql
        awswrangler.postgresql.to_sql awswrangler.mysql.to_sql awswrangler.sqlserver.to_sql"""),
    _write_function,
)
