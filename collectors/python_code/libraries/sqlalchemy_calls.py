"""SQLAlchemy: tables and the statements that are made of them by calls, and models.

A model is a class that is a table, read and written by a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.writing import write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import (
    filtered,
    frame_of_rows,
    row_of,
    with_rows,
    without_columns,
)
from dbt_graft.collectors.python_code.values.machine import Call, Handler, Machine
from dbt_graft.collectors.python_code.values.values import (
    NO_GAPS,
    NOTHING,
    UNKNOWN,
    Class,
    Const,
    Data,
    DictCell,
    Frame,
    Gaps,
    Inputs,
    Items,
    Key,
    ObjectCell,
    OpenPart,
    Thing,
    Value,
    all_inputs,
    combine,
    derive,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART, CodePlace
from dbt_graft.lineage.records import Subtype


def _table(call: Call) -> Value:
    """`Table("orders", metadata, Column("id"), schema="dbo")`."""
    name = call.text("name", 0) or UNKNOWN_PART
    metadata = call.get("metadata", 1)  # of `table("orders", column("id"))` a column
    default = metadata.traits.get("schema") if isinstance(metadata, Thing) else None
    schema = call.machine.text(call.get("schema") or default)
    columns = [
        value.traits["name"]
        for value in call.arguments.positional[1:]
        if isinstance(value, Thing) and value.role == "sa.column"
    ]
    traits: dict[str, Value] = {
        "<table>": Const(f"{schema}.{name}" if schema else name),
        "<line>": Const(call.place.line),
        "<file>": Const(call.place.file),
        "<columns>": Items(tuple(columns)),
    }
    return Thing("sa.table", traits)


def _metadata(call: Call) -> Value:
    """`MetaData(schema="dbo")`, of whose schema tables are that name none."""
    schema = call.get("schema", 1)
    return Thing("sa.metadata", {"schema": schema} if schema is not None else {})


def _column(call: Call) -> Value:
    return Thing("sa.column", {"name": call.get("name", 0) or UNKNOWN})


def table_name(table: Thing) -> str:
    """The name of a table, with its schema."""
    name = table.traits["<table>"]
    assert isinstance(name, Const)
    return str(name.value)


def table_frame(machine: Machine, table: Thing) -> Frame:
    """A table as a frame of what it holds."""
    line, file = (machine.key(table.traits[name]) for name in ("<line>", "<file>"))
    assert isinstance(line, int)
    place = CodePlace(str(file), line)
    source = machine.record.add_source(place, Medium.TABLE, table_name(table), Dialect.TSQL)
    names = machine.keys(table.traits["<columns>"]) or []
    columns: dict[Key, Data] = {
        name: Data(frozenset({ColumnInput(source, name)}), name=name)
        for name in names
        if isinstance(name, str)
    }
    opened = () if columns else (frozenset({OpenPart(source)}),)
    return Frame(columns, opened, library="query")


def _select(call: Call) -> Value:
    """`select(t.c.a, t.c.b.label("x"))`, `select(table)`."""
    machine = call.machine
    columns: dict[Key, Data] = {}
    frames: list[Frame] = []
    values: list[Value] = []
    for value in call.arguments.positional:
        items = machine.items(value)
        values += items.items if items is not None else [value]
    rows: Inputs = NOTHING
    gaps: Gaps = NO_GAPS
    for at, value in enumerate(values):
        frame = machine.frame(value)
        if isinstance(value, Thing) and value.role == "sa.table":
            frame = table_frame(machine, value)
        if frame is not None:
            frames.append(frame)
            columns.update(frame.columns)
            rows |= frame.rows
            continue
        data = machine.data(value)
        if data.name is None and not data.inputs:
            gaps |= {machine.gap("a column that is selected is not known")}
            continue
        columns[data.name if data.name is not None else at] = data
        rows |= data.rows
    opened = tuple(group for frame in frames for group in frame.open)
    return machine.new(Frame(columns, opened, rows=rows, gaps=gaps, library="query"))


def _where(call: Call) -> Value:
    frame = call.frame
    for value in call.arguments.positional:
        frame = filtered(frame, call.machine.data(value))
    for name in (call.arguments.named or {}) if call.name == "filter_by" else ():
        frame = filtered(frame, frame.columns.get(name, Data()))
    return call.machine.new(frame)


def _decided(subtype: Subtype) -> Callable[[Call], Value]:
    def decide(call: Call) -> Value:
        parts = call.data()
        frame = call.frame
        rows = frame.rows.union(*(part.rows for part in parts))
        return call.machine.new(with_rows(replace(frame, rows=rows), all_inputs(parts), subtype))

    return decide


def _join(call: Call) -> Value:
    """`select(…).join(other, condition)`: what is selected stays."""
    first, *rest = call.arguments.positional or (UNKNOWN,)
    if isinstance(first, Thing) and first.role == "sa.join":  # `select_from(a.join(b, …))`
        rest.append(first)
    inputs = all_inputs(call.machine.all_parts(rest))
    return call.machine.new(with_rows(call.frame, inputs, Subtype.JOIN))


def _add_columns(call: Call) -> Value:
    frame = call.frame
    for at, value in enumerate(call.arguments.positional):
        data = call.machine.data(value)
        frame = frame.with_column(data.name if data.name is not None else at, data)
    return call.machine.new(frame)


def _only_columns(call: Call) -> Value:
    made = call.machine.frame(_select(call)) or Frame()
    frame = call.frame
    return call.machine.new(replace(frame, columns=made.columns, open=()))


def _united(call: Call) -> Value:
    frame = call.frame
    other = call.machine.frame(call.get("", 0))
    if other is None or len(other.columns) != len(frame.columns):
        return call.machine.new(frame)
    columns = {
        name: combine([data, second])
        for (name, data), second in zip(frame.columns.items(), other.columns.values(), strict=True)
    }
    return call.machine.new(replace(frame, columns=columns, rows=frame.rows | other.rows))


def _rows(call: Call) -> Value:
    """`session.query(Order).all()`."""
    frame = call.frame
    row = row_of(frame)
    return row if call.name in {"first", "one", "one_or_none"} else Items((), row, frame.rows)


QUERY_METHODS: Mapping[str, Handler] = {
    **dict.fromkeys(("all", "first", "one", "one_or_none", "yield_per"), _rows),
    **dict.fromkeys(("where", "filter", "filter_by", "having"), _where),
    **dict.fromkeys(("join", "outerjoin", "select_from", "join_from"), _join),
    **dict.fromkeys(
        words("""limit offset distinct subquery cte alias with_for_update options
            execution_options fetch correlate"""),
        lambda call: call.machine.new(call.frame),
    ),
    **dict.fromkeys(("union", "union_all"), _united),
    "add_columns": _add_columns,
    "group_by": _decided(Subtype.GROUP_BY),
    "order_by": _decided(Subtype.SORT),
    "with_only_columns": _only_columns,
}


# -- statements that write


def _statement(kind: str) -> Callable[[Call], Value]:
    def make(call: Call) -> Value:
        table = call.owner if isinstance(call.owner, Thing) else call.get("table", 0)
        if not isinstance(table, Thing) or table.role != "sa.table":
            return UNKNOWN
        return Thing(f"sa.{kind}", dict(table.traits))

    return make


def call_table_method(call: Call) -> Value:
    """A method of a table or of a statement that writes it."""
    owner = call.owner
    assert isinstance(owner, Thing)
    if owner.role == "sa.table":
        if call.name in {"insert", "update", "delete"}:
            return _statement(call.name)(call)
        if call.name in {"join", "outerjoin"}:
            return Thing("sa.join", {"on": call.get("onclause", 1) or UNKNOWN})
        if call.name == "select":
            return call.machine.new(table_frame(call.machine, owner))
        return owner
    traits = dict(owner.traits)
    if call.name == "values":
        row = call.get("", 0)
        traits["<rows>"] = row or call.machine.new(DictCell(dict(call.arguments.named or {})))
    elif call.name == "from_select":
        traits["<names>"] = call.get("names", 0) or UNKNOWN
        traits["<select>"] = call.get("select", 1) or UNKNOWN
    elif call.name in {"where", "filter"}:
        traits["<where>"] = derive(call.data(), call.place)
    elif call.name in {"on_conflict_do_update", "on_duplicate_key_update"}:
        traits["<set>"] = call.get("set_") or UNKNOWN
    return Thing(owner.role, traits)


def execute_built(call: Call, statement: Thing, rows: Value | None) -> None:
    """Record a statement that was made by calls."""
    machine = call.machine
    frame = _written(machine, statement, rows)
    where = statement.traits.get("<where>")
    if where is not None:
        frame = with_rows(frame, machine.data(where).inputs, Subtype.FILTER)
    write_frame(machine, frame, Medium.TABLE, table_name(statement))


def _written(machine: Machine, statement: Thing, rows: Value | None) -> Frame:
    selected = machine.frame(statement.traits.get("<select>"))
    names = machine.keys(statement.traits.get("<names>"))
    if selected is not None and names is not None:
        if selected.open:
            gap = machine.gap("columns go by their places, and those of the query are not known")
            return Frame(gaps=frozenset({gap}), rows=selected.rows)
        pairs = zip(names, selected.columns.values(), strict=False)
        columns: dict[Key, Data] = {str(name): data for name, data in pairs}
        return replace(selected, columns=columns)
    if statement.role == "sa.delete":
        return Frame()
    value = statement.traits.get("<rows>") if rows is None else rows
    items = machine.items(value) if not isinstance(machine.cell(value), DictCell) else None
    frame = frame_of_rows(machine, items or Items((value or UNKNOWN,)), None)
    if frame is None:
        return Frame(rest=machine.unknown("the rows that are written are not known"))
    return _without_binds(statement, frame)


def _without_binds(statement: Thing, frame: Frame) -> Frame:
    """Without parameters of conditions, which scripts name `b_id`."""
    if statement.role != "sa.update" or "<where>" not in statement.traits:
        return frame
    binds = [name for name in frame.columns if isinstance(name, str) and name.startswith("b_")]
    inputs = all_inputs(frame.columns[name] for name in binds)
    return with_rows(without_columns(frame, binds), inputs, Subtype.FILTER)


SQLALCHEMY_FUNCTIONS: Mapping[str, Handler] = {
    "sqlalchemy.Column": _column,
    "sqlalchemy.MetaData": _metadata,
    "sqlalchemy.Table": _table,
    "sqlalchemy.column": _column,
    "sqlalchemy.delete": _statement("delete"),
    "sqlalchemy.insert": _statement("insert"),
    "sqlalchemy.dialects.postgresql.insert": _statement("insert"),
    "sqlalchemy.dialects.mysql.insert": _statement("insert"),
    "sqlalchemy.schema.Column": _column,
    "sqlalchemy.schema.Table": _table,
    "sqlalchemy.select": _select,
    "sqlalchemy.table": _table,
    "sqlalchemy.sql.select": _select,
    "sqlalchemy.update": _statement("update"),
}


def model_table(machine: Machine, value: Value | None) -> str | None:
    """The table of a model; None for other values."""
    if not isinstance(value, Class):
        return None
    names = machine.names(value.scope)
    table = machine.text(names.get("__tablename__"))
    arguments = names.get("__table_args__")
    schema = None
    several = machine.items(arguments) or Items()
    for item in [arguments, *several.items]:
        cell = machine.cell(item)
        if isinstance(cell, DictCell):
            schema = machine.text(cell.entries.get("schema"))
    return f"{schema}.{table}" if schema and table else table


def read_model(machine: Machine, value: Value | None) -> Frame | None:
    """The rows of a model's table; None for other values."""
    table = model_table(machine, value)
    if table is None or not isinstance(value, Class):
        return None
    source = machine.record.add_source(machine.place, Medium.TABLE, table, Dialect.TSQL)
    columns: dict[Key, Data] = {
        attribute: Data(frozenset({ColumnInput(source, name)}), name=attribute)
        for attribute, name in _column_names(machine, value).items()
    }
    opened = () if columns else (frozenset({OpenPart(source)}),)
    return Frame(columns, opened, library="query")


def _column_names(machine: Machine, model: Class) -> dict[object, str]:
    """The attributes of a model that are columns, with the names that these have in its table."""
    return {
        attribute: machine.text(item.traits["name"]) or attribute
        for attribute, item in machine.names(model.scope).items()
        if isinstance(item, Thing) and item.role == "sa.column"
    }


def model_column(machine: Machine, model: Class, name: str, value: Value) -> Value:
    """`Order.id`: a column of the model's table; else the value."""
    if not isinstance(value, Thing) or value.role != "sa.column":
        return value
    frame = read_model(machine, model)
    return frame.columns.get(name, value) if frame is not None else value


def write_objects(call: Call) -> Value:
    """`session.add(Order(…))`, `session.bulk_insert_mappings(Order, rows)`."""
    machine = call.machine
    mapper = call.get("mapper", 0)
    if isinstance(mapper, Class) and model_table(machine, mapper) is not None:
        rows = machine.items(call.get("mappings", 1)) or Items()
        _write(machine, mapper, rows)
        return UNKNOWN
    value = call.get("instance", 0) or call.get("instances", 0) or call.get("objects", 0)
    items = machine.items(value) or Items((value,) if value is not None else ())
    for item in [*items.items, items.rest]:
        cell = machine.cell(item)
        if isinstance(cell, ObjectCell):
            fields = {name: field for name, field in cell.names.items() if name[:1] != "_"}
            if cell.of is not None and model_table(machine, cell.of) is not None:
                row = machine.new(DictCell(fields))
                _write(machine, cell.of, Items((row,), rows=items.rows))
    return UNKNOWN


def _write(machine: Machine, model: Class, rows: Items) -> None:
    frame = frame_of_rows(machine, rows, None)
    if frame is None:
        frame = Frame(rest=machine.unknown("the rows that are written are not known"))
    names = _column_names(machine, model)
    columns = {names.get(attribute, attribute): data for attribute, data in frame.columns.items()}
    named = replace(frame, columns=columns)
    write_frame(machine, named, Medium.TABLE, model_table(machine, model))
