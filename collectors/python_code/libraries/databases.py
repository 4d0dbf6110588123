"""Connections and cursors: statements that are executed, the rows that come and go."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.reading import read_query
from dbt_graft.collectors.python_code.libraries.sql_columns import (
    Slot,
    find_slots,
    with_question_marks,
)
from dbt_graft.collectors.python_code.libraries.sqlalchemy_calls import (
    execute_built,
    read_model,
    write_objects,
)
from dbt_graft.collectors.python_code.libraries.writing import write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.containers import get_entry, row_entries
from dbt_graft.collectors.python_code.values.frames import frame_of_rows, row_of
from dbt_graft.collectors.python_code.values.machine import Call, Handler, Machine, owner_of
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Frame,
    Inputs,
    Items,
    Method,
    ObjectCell,
    Ref,
    Text,
    Thing,
    Value,
    all_gaps,
    alternatives,
    change,
    decided,
    derive,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType

RESULT = "<result>"
ROLE = "<role>"
# The name of any column of a result, as its `description` has it.
COLUMN_NAME = Thing("column name")
# What may stand before the first word of a statement.
_BLANK = re.compile(r"[\s(]+|--[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
_WORD = re.compile(r"\w*")
_QUERIES = words("SELECT WITH SHOW DESCRIBE VALUES")
_SETTINGS = words(
    """
    SET USE BEGIN COMMIT ROLLBACK PRAGMA GO DECLARE LOCK UNLOCK ANALYZE VACUUM GRANT PRINT
    """
)
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE|INTO|REPLACE)\b", re.I)


def _new_connection(machine: Machine, role: str, result: Value) -> Ref:
    """A connection, or a cursor of it, that may be at a result."""
    return machine.new(ObjectCell({ROLE: Const(role), RESULT: result}))


def is_connection(machine: Machine, value: Value) -> bool:
    """Whether a value is a connection or a cursor that the script made."""
    cell = machine.cell(value)
    return isinstance(cell, ObjectCell) and ROLE in cell.names


def call_database_method(call: Call) -> Value | None:
    """A method of a connection or cursor; None if the value can be none of them."""
    machine, owner = call.machine, call.owner
    is_known = is_connection(machine, owner)
    if not is_known and not _can_be_connection(owner):
        return None
    handler = _METHODS.get(call.name)
    if handler is None:
        if is_known and call.name in _SAME:
            return owner
        return UNKNOWN if is_known else None
    if not is_known and call.name in _ONLY_KNOWN:
        return None
    return handler(call)


def _can_be_connection(value: Value) -> bool:
    """Whether a value that is not known can be a connection: `self.db.cursor`."""
    if isinstance(value, Method):
        return _can_be_connection(value.owner)
    return isinstance(value, Data) and not value.inputs and not value.form.value


def is_statement(call: Call) -> bool:
    """Whether a call of a library that is not followed executes a statement."""
    texts = call.machine.texts(call.get("", 0))
    return call.name in {"execute", "executemany"} and any(
        _verb(text) in _QUERIES or _WRITES.search(text) for text in texts
    )


def _verb(text: str) -> str:
    """The first word of a statement, behind comments and brackets."""
    at = 0
    while blank := _BLANK.match(text, at):
        at = blank.end()
    word = _WORD.match(text, at)
    return word[0].upper() if word else ""


def _connect(call: Call) -> Value:
    role = "cursor" if call.name == "cursor" else "connection"
    return _new_connection(call.machine, role, Const(None))


def set_result(call: Call, result: Value) -> Value:
    """Keep the rows that a statement returned."""
    cell = call.machine.cell(call.owner)
    if isinstance(cell, ObjectCell) and isinstance(call.owner, Ref):
        call.machine.put(call.owner, replace(cell, names={**cell.names, RESULT: result}))
    call.machine.last_result = result
    return _new_connection(call.machine, "cursor", result)


def result_of(machine: Machine, owner: Value) -> Frame | None:
    """The rows that a cursor is at."""
    cell = machine.cell(owner)
    result: Value | None = machine.last_result
    if isinstance(cell, ObjectCell):
        result = cell.names.get(RESULT)
    return machine.frame(result)


def execute(call: Call) -> Value:
    """`cursor.execute(text, parameters)`."""
    statement = call.get("statement", 0) or call.get("sql", 0) or call.get("query", 0)
    if call.machine.frame(statement) is not None and statement is not None:
        return set_result(call, statement)
    if isinstance(statement, Thing) and statement.role.startswith("sa."):
        execute_built(call, statement, call.get("parameters", 1))
        return set_result(call, UNKNOWN)
    results = [
        execute_text(call, text, *_parameters(call))
        for text in alternatives(statement) or (UNKNOWN,)
    ]
    return call.machine.join_all(results) or UNKNOWN


def execute_text(
    call: Call, statement: Value, rows: list[Value], deciding: Inputs = NOTHING
) -> Value:
    """Execute a statement, once for each of the rows."""
    machine = call.machine
    text = machine.text(statement)
    if text is None:
        machine.record.add_gap(machine.gap("the text of a statement is not known"))
        return set_result(call, UNKNOWN)
    if _verb(text) in _QUERIES and not _WRITES.search(text):
        return set_result(call, read_query(machine, statement, Dialect.TSQL, "query", *rows))
    if _verb(text) in _SETTINGS and not _WRITES.search(text):
        return set_result(call, UNKNOWN)
    if _verb(text) == "COPY" and re.search(r"\bTO\b", text, re.I):
        machine.record.add_gap(machine.gap("the file that `COPY` writes is not followed"))
    send(call, statement, rows, deciding)
    return set_result(call, UNKNOWN)


def _parameters(call: Call) -> tuple[list[Value], Inputs]:
    """The rows of parameters of a call, and what decides on them."""
    machine = call.machine
    given = list(call.arguments.positional[1:])
    for name in ("parameters", "params", "args", "vars", "seq_of_parameters", "argslist"):
        value = call.arguments.get(name)
        given += [value] if value is not None else []
    if len(given) != 1:
        return ([Items(tuple(given))] if given else []), NOTHING
    (value,) = given
    items = machine.items(value)
    is_many = call.name in {"executemany", "execute_batch", "execute_values"} or (
        items is not None
        and not isinstance(machine.cell(value), DictCell)
        and any(_is_row(machine, item) for item in [*items.items, items.rest])
    )
    if is_many and items is not None:
        machine_rows = items.values
        row = machine.join_all(machine_rows)
        if row is None:  # an empty list, as far as the code tells
            row = Data(origin=machine.gap("the rows that are sent are not known"))
        return [row], items.rows
    if items is None and not isinstance(value, Data | Ref):
        return [Items((value,))], NOTHING
    if isinstance(value, Data) and call.name == "execute":
        return [Items((value,)) if not value.origin else value], NOTHING
    return [value], NOTHING


def _is_row(machine: Machine, value: Value | None) -> bool:
    return isinstance(value, Items) or isinstance(machine.cell(value), DictCell)


def send(call: Call, statement: Value, rows: list[Value], deciding: Inputs) -> None:
    """Record a statement that writes, and the columns of its parameters."""
    machine = call.machine
    text = machine.text(statement) or ""
    slots = find_slots(text)
    target = machine.record.add_target(
        machine.place, Medium.STATEMENT, with_question_marks(text), Dialect.TSQL
    )
    carried = machine.all_parts(rows)
    if slots.reason and any(part.inputs for part in carried):
        machine.record.add_gap(machine.gap(slots.reason), target, ANY_COLUMN)
        return
    if any(part.inputs or part.origin for part in carried) and not slots.slots:
        gap = machine.gap("where the parameters of the statement go is not known")
        machine.record.add_gap(gap, target, ANY_COLUMN)
    machine.record.add_columns(target, slots.columns if slots.slots else ())
    deciding |= machine.control
    for row in rows:
        for slot in slots.slots:
            data = decided(_value_for(machine, row, slot), deciding)
            _send_slot(machine, target, slot, data)
    if isinstance(statement, Text):
        _send_parts(machine, target, statement)
    machine.record.add_edges(target, ANY_COLUMN, deciding, machine.place)


def _send_parts(machine: Machine, target: int, statement: Text) -> None:
    """Record the columns that parts of a statement's text go into."""
    inside = find_slots(statement.text, counts_parts=True)
    placed = {slot.marker for slot in inside.slots}
    for at, part in enumerate(statement.parts):
        if part.inputs and at not in placed:
            gap = machine.gap("a part of the statement that is made of data is not known")
            machine.record.add_gap(gap, target, ANY_COLUMN)
    for slot in inside.slots:
        if isinstance(slot.marker, int) and slot.marker < len(statement.parts):
            part = statement.parts[slot.marker]
            if part.inputs:
                machine.record.add_columns(
                    target, [slot.column] if slot.column != ANY_COLUMN else []
                )
                _send_slot(machine, target, slot, part)


def _value_for(machine: Machine, row: Value, slot: Slot) -> Data:
    if isinstance(row, Data):
        gap = machine.gap("the values of a row are not known one by one")
        return replace(derive([row], machine.place), gaps=all_gaps(row) | {gap})
    cell = machine.cell(row)
    if isinstance(slot.marker, str):
        entries = cell if isinstance(cell, DictCell) else None
        if isinstance(row, Items) and (row.names or row.open):
            entries = row_entries(row)
        if entries is not None:
            return machine.data(get_entry(machine, entries, Const(slot.marker)))
        return machine.data(row)
    items = machine.items(row)
    if isinstance(cell, DictCell):
        return machine.data(row)
    if items is None:
        return machine.data(row)
    if slot.marker < len(items.items):
        return machine.data(items.items[slot.marker])
    if items.rest is not None or items.open:
        gap = machine.gap("the values of a row go by their places, and those are not known")
        data = machine.data(items.rest)
        return replace(data, gaps=all_gaps(data) | {gap})
    return UNKNOWN


def _send_slot(machine: Machine, target: int, slot: Slot, data: Data) -> None:
    record = machine.record
    inputs = change(data.inputs, slot.subtype, slot.masking)
    if slot.column == ANY_COLUMN:
        inputs = frozenset(item for item in inputs if item.subtype.type is EdgeType.INDIRECT)
    record.add_edges(target, slot.column, inputs, data.place or machine.place)
    for gap in sorted(all_gaps(data)):
        record.add_gap(gap, target, slot.column)


def _fetch(call: Call) -> Value:
    """The rows of a result, its first row, or values of its first column."""
    frame = result_of(call.machine, call.owner)
    if frame is None:
        gap = call.gap("rows are fetched of a statement that is not known")
        return replace(call.machine.data(call.owner), origin=gap)
    if call.name in {"fetchone", "first", "one"}:
        return call.machine.chosen(row_of(frame), frame.rows)
    value: Value = row_of(frame)
    if call.name in {"fetchval", "scalar", "scalars"}:
        value = next(iter(frame.columns.values()), UNKNOWN)
    if call.name in {"fetchval", "scalar"}:
        return call.machine.chosen(value, frame.rows)
    return call.machine.new(Items((), value, frame.rows))


def _get_records(call: Call) -> Value:
    """`hook.get_pandas_df(sql)`, `hook.get_records(sql)`, `hook.get_first(sql)` of Airflow."""
    library = "pandas" if call.name in {"get_pandas_df", "get_df"} else "query"
    query, parameters = call.get("sql", 0), call.get("parameters", 1)
    value = read_query(call.machine, query, Dialect.TSQL, library, parameters)
    if library == "pandas":
        return value
    frame = call.machine.frame(value)
    if frame is None:
        return UNKNOWN
    row = row_of(frame)
    if call.name == "get_first":
        return call.machine.chosen(row, frame.rows)
    return call.machine.new(Items((), row, frame.rows))


def _insert_rows(call: Call) -> Value:
    """`hook.insert_rows(table, rows, target_fields)` of Airflow."""
    machine = call.machine
    rows = machine.items(call.get("rows", 1)) or Items((), machine.data(call.get("rows", 1)))
    frame = frame_of_rows(machine, rows, call.keys("target_fields", 2))
    if frame is None:
        gap = machine.gap("the rows that are inserted are not known")
        frame = Frame(rest=Data(origin=gap))
    write_frame(machine, frame, Medium.TABLE, call.get("table", 0))
    return UNKNOWN


def _execute_values(call: Call) -> Value:
    """`psycopg2.extras.execute_values(cursor, sql, rows)`."""
    rest = call.arguments.positional[1:]
    inner = replace(
        call,
        owner=call.arguments.positional[0] if call.arguments.positional else UNKNOWN,
        arguments=replace(call.arguments, positional=rest),
    )
    statement = inner.get("sql", 0) or UNKNOWN
    text = call.machine.text(statement)
    rows, deciding = _parameters(inner)
    if text is not None and call.name == "execute_values":
        items = call.machine.items(rows[0]) if rows else None
        count = max(1, len(items.items) if items is not None else 1)
        marks = ", ".join(["%s"] * count)
        statement = Const(re.sub(r"VALUES\s*%s", f"VALUES ({marks})", text, flags=re.I))
    return execute_text(inner, statement, rows, deciding)


def _of_duckdb(call: Call) -> Value:
    """`duckdb.sql(text)`: a query of the script's frames and of files, or a statement."""
    text = call.text("query", 0)
    if text is not None and _verb(text) not in _QUERIES | {"FROM"}:
        return execute(call)
    return Data(origin=call.gap("a query of DuckDB is not followed"))


def _copy(call: Call) -> Value:
    """`cursor.copy_expert("COPY o FROM STDIN", file)`, by which rows go past all statements."""
    call.machine.record.add_gap(call.gap(f"the columns that `{call.name}` sends are not followed"))
    return UNKNOWN


def _query(call: Call) -> Value:
    """`session.query(Order)`."""
    frame = read_model(call.machine, call.get("", 0))
    if frame is not None:
        return call.machine.new(frame)
    data = [part for part in call.data() if part.inputs]
    if data and len(data) == len(call.arguments.positional):
        columns = {part.name: part for part in data}
        return call.machine.new(Frame(columns, library="query"))
    return Data(origin=call.gap("what a session is asked for is not known"))


_SAME = frozenset(
    {"begin", "connect", "execution_options", "__enter__", "raw_connection", "get_conn", "session"}
)
# Methods that other objects have as well.
_ONLY_KNOWN = words(
    "add add_all copy merge query all first one run fetch mappings scalars scalar sql"
)
_METHODS: Mapping[str, Handler] = {
    **dict.fromkeys(
        ("add", "add_all", "bulk_insert_mappings", "bulk_save_objects", "merge"), write_objects
    ),
    **dict.fromkeys(
        words("all fetch fetchall fetchmany fetchone fetchval first one scalar scalars"), _fetch
    ),
    **dict.fromkeys(
        words("""
            bulkcopy copy copy_expert copy_from copy_records_to_table copy_to copy_to_table"""),
        _copy,
    ),
    "cursor": _connect,
    "execute": execute,
    "exec_driver_sql": execute,
    "executemany": execute,
    "get_conn": _connect,
    "get_first": _get_records,
    "get_pandas_df": _get_records,
    "get_df": _get_records,
    "get_records": _get_records,
    "insert_rows": _insert_rows,
    "mappings": owner_of,
    "query": _query,
    "run": execute,
    "sql": _of_duckdb,
}
DATABASE_FUNCTIONS: Mapping[str, Handler] = {
    "*.connect": _connect,
    "*.create_engine": _connect,
    **dict.fromkeys(words("duckdb.execute duckdb.query duckdb.sql"), _of_duckdb),
    "psycopg2.extras.execute_batch": _execute_values,
    "psycopg2.extras.execute_values": _execute_values,
    **dict.fromkeys(
        words("""
            *.MsSqlHook *.OdbcHook *.PostgresHook *.MySqlHook *.SnowflakeHook *.JdbcHook
            *.Session *.sessionmaker *.scoped_session *.create_async_engine *.SqliteHook"""),
        _connect,
    ),
}
