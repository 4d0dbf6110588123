"""SQL over frames that it names: `spark.sql` of temporary views, `duckdb.sql` of variables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.frames import find_column
from dbt_graft.collectors.python_code.machine import Machine
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.sql_results import parse_sql, result_columns
from dbt_graft.collectors.python_code.values import (
    NO_GAPS,
    Data,
    Frame,
    Input,
    Key,
    LineGap,
    Value,
    all_gaps,
    change,
)
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType


def query_views(machine: Machine, text: str | None, library: str) -> Value | None:
    """The result of a query that reads frames of the script; None if it reads none of them."""
    if text is None or not machine.views:
        return None
    trees = parse_sql(text, Dialect.SPARK)
    tables = {table.name.casefold() for tree in trees for table in tree.find_all(exp.Table)}
    if not tables & machine.views.keys():
        return None
    schemas = {
        name: tuple(str(column) for column in frame.columns)
        for name, ref in machine.views.items()
        if (frame := machine.frame(ref)) is not None and not frame.open and not frame.rest
    }
    shapes = parse(
        text, Dialect.SPARK, lambda database, table: schemas.get(table[-1].casefold(), ())
    )
    shape = next((shape for shape in reversed(shapes) if shape.verb == "SELECT"), None)
    if shape is None:
        return None
    frame = _frame(machine, text, shape)
    return machine.new(replace(frame, library=library))


def _frame(machine: Machine, text: str, shape: ParsedShape) -> Frame:
    names = shape.result or result_columns(text, Dialect.SPARK).names
    inputs: dict[str, set[Input]] = {name: set() for name in names}
    rows: set[Input] = set()
    gaps: set[LineGap] = set()
    for edge in shape.column_edges:
        if edge.table:
            continue
        data = _source(machine, edge.from_table, edge.from_column)
        gaps |= all_gaps(data)
        made = change(data.inputs, edge.subtype, edge.masking)
        if edge.column != ANY_COLUMN:
            inputs.setdefault(edge.column, set()).update(made)
        elif edge.subtype.type is EdgeType.INDIRECT:
            rows |= made
        else:
            gaps.add(machine.gap("`*` of a view whose columns are not known"))
    for name in {part[-1].casefold() for part in _tables(shape)} & machine.views.keys():
        view = machine.frame(machine.views[name])
        rows |= view.rows if view is not None else frozenset()
    columns: dict[Key, Data] = {
        name: Data(frozenset(sources), place=machine.place) for name, sources in inputs.items()
    }
    return Frame(columns, rows=frozenset(rows), gaps=frozenset(gaps) or NO_GAPS)


def _tables(shape: ParsedShape) -> set[tuple[str, ...]]:
    return {access.name for access in shape.accesses}


def _source(machine: Machine, table: tuple[str, ...], column: str) -> Data:
    ref = machine.views.get(table[-1].casefold()) if table else None
    view = machine.frame(ref)
    if view is not None:
        return find_column(machine, view, column)
    if not table:
        return Data()
    source = machine.record.add_source(machine.place, Medium.TABLE, ".".join(table), Dialect.SPARK)
    return Data(frozenset({ColumnInput(source, column)}))
