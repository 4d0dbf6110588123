"""PySpark's sessions, readers and writers, and tables of Delta."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.reading import read_file, read_query, read_table
from dbt_graft.collectors.python_code.libraries.sql_views import run_on_views
from dbt_graft.collectors.python_code.libraries.writing import write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    blurred,
    frame_of_rows,
    name_columns,
)
from dbt_graft.collectors.python_code.values.machine import Call
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    Frame,
    Ref,
    Thing,
    Value,
    change,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import Subtype


def call_spark_method(call: Call) -> Value:
    """A method of a session, a reader or a writer."""
    assert isinstance(call.owner, Thing)
    if call.owner.role == "spark":
        return _of_session(call)
    return _of_reader(call) if call.owner.role == "spark.reader" else _of_writer(call)


def _of_session(call: Call) -> Value:
    machine = call.machine
    if call.name == "sql":
        return _sql(call, call.get("sqlQuery", 0))
    if call.name == "table":
        return read_spark_table(call, call.get("tableName", 0))
    if call.name == "createDataFrame":
        return _created(call)
    if call.name == "range":
        return machine.new(Frame({"id": Data()}, library="spark"))
    return call.owner


def _sql(call: Call, query: Value | None) -> Value:
    machine = call.machine
    text = machine.text(query)
    named = {k: v for k, v in (call.arguments.named or {}).items() if k not in {"sqlQuery", "args"}}
    if text is not None and named:
        return _of_template(call, text, named)
    parameters = call.get("args", 1)
    deciding = change(machine.condition(machine.derived([query, parameters])), Subtype.FILTER)
    made = run_on_views(machine, text, deciding=deciding) if text is not None else None
    if made is not None:
        return made
    if text is not None and _CHANGES.match(text):
        place = machine.place
        target = machine.record.add_target(place, Medium.STATEMENT, text, Dialect.SPARK)
        machine.record.add_edges(target, "*", machine.control, place)
        return machine.new(Frame(library="spark"))
    return read_query(machine, query, Dialect.SPARK, "spark", parameters)


def _of_template(call: Call, text: str, named: Mapping[str, Value]) -> Value:
    """`spark.sql("SELECT a FROM {t}", t=df)`."""
    machine, before = call.machine, call.machine.views
    frames = {k.casefold(): v for k, v in named.items() if machine.frame(v) is not None}
    added = {name: v for name, v in frames.items() if isinstance(v, Ref)}
    machine.views = {**before, **added}
    query = _FIELDS.sub(lambda field: _text_of_field(call, field[1], named), text)
    options = {k: v for k, v in (call.arguments.named or {}).items() if k == "args"}
    arguments = replace(call.arguments, named=options)
    made = _sql(replace(call, arguments=arguments), Const(query))
    others = {name: view for name, view in machine.views.items() if name not in added}
    machine.views = {**before, **others}
    return made


_FIELDS = re.compile(r"\{(\w+)\}")


def _text_of_field(call: Call, name: str, named: Mapping[str, Value]) -> str:
    """The SQL for `{name}`: a view of a frame, a column, a literal."""
    value = named.get(name)
    if call.machine.frame(value) is not None:
        return name
    if isinstance(value, Data) and value.name and len(value.inputs) == 1:
        (column,) = value.inputs
        is_plain = column.column == value.name and column.subtype is Subtype.IDENTITY
        return str(value.name) if is_plain else UNKNOWN_PART
    return "0" if isinstance(value, Const) else UNKNOWN_PART


_CHANGES = re.compile(
    r"\s*(?:--[^\n]*\n\s*)*(INSERT|MERGE|UPDATE|DELETE|CREATE|REPLACE|TRUNCATE|DROP|ALTER|WITH\b.*\bINSERT)\b",
    re.IGNORECASE | re.DOTALL,
)


def read_spark_table(call: Call, value: Value | None) -> Value:
    name = call.machine.text(value) or UNKNOWN_PART
    frame = call.machine.frame(call.machine.views.get(name.casefold()))
    if frame is None:
        frame = read_table(call.machine, name, Dialect.SPARK, "spark")
    alias = name.rpartition(".")[2].strip("`")
    return call.machine.new(replace(frame, aliases=((alias, frame),)))


def _created(call: Call) -> Value:
    machine = call.machine
    data = call.get("data", 0)
    names = call.keys("schema", 1)
    if names is not None and not all(isinstance(n, str) for n in names):
        names = None
    if names is not None and len(names) == 1 and isinstance(names[0], str) and " " in names[0]:
        names = [part.split(":")[0].split()[0] for part in names[0].split(",")]
    frame = as_frame(machine, data)
    if frame is not None:
        named = name_columns(machine, frame, call.get("schema", 1) or UNKNOWN) if names else frame
        return machine.new(replace(named, library="spark", index=()))
    rows = iterate(machine, data)
    made = frame_of_rows(machine, rows, names)
    if made is None:
        made = Frame(rest=machine.unknown("rows of unknown columns become a frame"))
    elif any(isinstance(name, int) for name in made.columns):  # without names
        if call.get("schema", 1) is not None:
            made = blurred(call, made, made.values, call.gap("a schema's names are not known"))
        else:
            made = replace(made, columns={f"_{k + 1}": made.columns[k] for k in made.columns})
    return machine.new(replace(made, library="spark"))


def _of_reader(call: Call) -> Value:
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    options = _options(call, owner)
    if call.name == "table":
        return read_spark_table(call, call.get("tableName", 0))
    if call.name == "jdbc":
        return _jdbc(call, call.get("table", 1))
    if call.name in {"load", *_FILES}:
        if "query" in options:
            return read_query(machine, options["query"], Dialect.TSQL, "spark")
        if "dbtable" in options:
            return _jdbc(call, options["dbtable"])
        path = machine.text(call.get("path", 0) or options.get("path"))
        return machine.new(read_file(machine, path, "spark", dialect=Dialect.SPARK))
    return Thing("spark.reader", options)


def _options(call: Call, owner: Thing) -> dict[str, Value]:
    """The options of a reader or writer after a call."""
    options = dict(owner.traits)
    if call.name == "option":
        options[(call.text("key", 0) or "").casefold()] = call.get("value", 1) or UNKNOWN
    elif call.name == "options":
        options.update({k.casefold(): v for k, v in (call.arguments.named or {}).items()})
    elif call.name == "format":
        options["format"] = call.get("source", 0) or UNKNOWN
    return options


def _jdbc(call: Call, value: Value | None) -> Value:
    text = call.machine.text(value)
    if text is not None and text.lstrip().startswith("("):
        inner = text.strip()
        query = inner[1 : inner.rindex(")")] if ")" in inner else inner[1:]
        return read_query(call.machine, Const(query), Dialect.TSQL, "spark")
    name = text or UNKNOWN_PART
    return call.machine.new(read_table(call.machine, name, Dialect.TSQL, "spark"))


_FILES = words("parquet csv json orc text delta avro load")


def _of_writer(call: Call) -> Value:
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    frame = as_frame(machine, owner.owner)
    options = _options(call, owner)
    if call.name == "foreachBatch" and owner.owner is not None:
        function = call.get("func", 0)
        if function is not None:
            machine.call(function, owner.owner, UNKNOWN)
        options["foreachbatch"] = UNKNOWN
    elif call.name == "start" and "foreachbatch" in options:
        return UNKNOWN  # the function writes
    elif frame is not None and call.name in {"save", "start", "toTable", *_WRITES, *_FILES}:
        _write(call, frame, options)
        return UNKNOWN
    return Thing("spark.writer", options, owner.owner)


_WRITES = words(
    "saveAsTable insertInto jdbc append overwrite createOrReplace create overwritePartitions"
)


def _write(call: Call, frame: Frame, options: dict[str, Value]) -> None:
    machine = call.machine
    if call.name in {"saveAsTable", "toTable"}:
        write_frame(machine, frame, Medium.TABLE, call.get("name", 0), Dialect.SPARK)
    elif call.name == "insertInto":
        gap = machine.gap(
            "`insertInto` fills columns by their places, which the code does not name"
        )
        placed = Frame(rows=frame.rows, gaps=frame.gaps | {gap})
        write_frame(machine, placed, Medium.TABLE, call.get("tableName", 0), Dialect.SPARK)
    elif call.name == "jdbc":
        write_frame(machine, frame, Medium.TABLE, call.get("table", 1))
    elif "table" in options:  # writeTo
        write_frame(machine, frame, Medium.TABLE, options["table"], Dialect.SPARK)
    elif "dbtable" in options:
        write_frame(machine, frame, Medium.TABLE, options["dbtable"])
    else:
        path = call.get("path", 0) or options.get("path")
        write_frame(machine, frame, Medium.FILE, path, Dialect.SPARK)


def delta_table(call: Call) -> Value:
    """`DeltaTable.forName(spark, "mart.o")`, `DeltaTable.forPath(spark, "/lake/o")`."""
    name = call.get("tableOrViewName", 1) if call.name == "forName" else call.get("path", 1)
    return Thing("delta table", {"name": name or UNKNOWN, "kind": Const(call.name)})


def call_delta_method(call: Call) -> Value:
    """A method of a table of Delta, or of what builds a MERGE into one."""
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    if not owner.traits:
        return owner
    if call.name == "toDF":
        if owner.traits["kind"] == Const("forName"):
            return read_spark_table(call, owner.traits["name"])
        path = machine.text(owner.traits["name"])
        return machine.new(read_file(machine, path, "spark", dialect=Dialect.SPARK))
    return merge_into(call) if call.name in {"merge", "update"} else owner


def merge_into(call: Call) -> Value:
    """A MERGE or UPDATE of Delta, built by methods: `df.mergeInto("mart.o", condition)`."""
    gap = call.gap(f"the columns that `{call.name}` of Delta sets are not followed")
    call.machine.record.add_gap(gap)
    return Thing("delta table")


def is_session(name: str) -> bool:
    """Whether a name of a library is a session, or what builds one."""
    return name.startswith(("pyspark.sql.SparkSession", "pyspark.sql.session.SparkSession"))
