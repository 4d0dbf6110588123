"""SQL over frames that it names: `spark.sql` of temporary views, `duckdb.sql` of variables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.libraries.reading import read_query, read_table
from dbt_graft.collectors.python_code.libraries.sql_columns import parse_sql, result_columns
from dbt_graft.collectors.python_code.libraries.writing import write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import find_column, inputs_of_rows
from dbt_graft.collectors.python_code.values.machine import Machine
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    Const,
    Data,
    Frame,
    Input,
    Inputs,
    Key,
    LineGap,
    Ref,
    Value,
    all_gaps,
    change,
)
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import ANY_COLUMN, Direction, EdgeType, Outcome


def run_on_views(
    machine: Machine, text: str, library: str = "spark", deciding: Inputs = NOTHING
) -> Value | None:
    """Run a statement that reads frames of the script, or that makes one; None for others.

    Args:
        deciding: What its parameters are made of.
    """
    trees = parse_sql(text, Dialect.SPARK)
    view = next((name for tree in trees if (name := _made_view(tree))), None)
    tables = {table.name.casefold() for tree in trees for table in tree.find_all(exp.Table)}
    if view is not None:
        query = trees[0].expression.sql(Dialect.SPARK.value)
        made = run_on_views(machine, query, library, deciding) or read_query(
            machine, Const(query), Dialect.SPARK, "spark", Data(deciding)
        )
        if isinstance(made, Ref):
            machine.views[view] = made
        return made
    if not tables & machine.views.keys():
        return None
    schemas = {
        name: tuple(str(column) for column in of_view.columns)
        for name, ref in machine.views.items()
        if (of_view := machine.frame(ref)) is not None and not of_view.open and not of_view.rest
    }
    shapes = parse(
        text, Dialect.SPARK, lambda database, table: schemas.get(table[-1].casefold(), ())
    )
    if not shapes:
        return None
    frame = _frame(machine, text, shapes[-1])
    frame = replace(frame, rows=frame.rows | deciding)
    if shapes[-1].outcome is not Outcome.PARSED:
        frame = frame.with_gap(machine.gap(shapes[-1].reason or "the statement is not read"))
    target = next((edge.table for edge in shapes[-1].column_edges if edge.table), None)
    if target is not None:
        write_frame(machine, frame, Medium.TABLE, ".".join(target), Dialect.SPARK)
    return machine.new(replace(frame, library=library))


def _made_view(tree: exp.Expr) -> str | None:
    """The name of a temporary view that a statement makes."""
    if not isinstance(tree, exp.Create) or tree.kind != "VIEW" or tree.expression is None:
        return None
    properties = tree.args.get("properties")
    is_temporary = properties is not None and properties.find(exp.TemporaryProperty) is not None
    return tree.this.name.casefold() if is_temporary else None


def _frame(machine: Machine, text: str, shape: ParsedShape) -> Frame:
    names = shape.result
    if not names and any(edge.table for edge in shape.column_edges):
        # Those too that it sets to a constant.
        writes = (access for access in shape.accesses if access.direction is Direction.WRITE)
        names = tuple(column for access in writes for column, _ in access.columns)
    elif not names:
        names = result_columns(text, Dialect.SPARK).names
    inputs: dict[str, set[Input]] = {name: set() for name in names}
    starred: list[Frame] = []
    rows: set[Input] = set()
    gaps: set[LineGap] = set()
    for edge in shape.column_edges:
        if UNKNOWN_PART in edge.from_column:  # a value of the script's, or a name
            if edge.subtype.type is EdgeType.DIRECT:
                gaps.add(machine.gap("columns of its query are made at run time"))
            continue
        data = _source(machine, edge.from_table, edge.from_column)
        gaps |= all_gaps(data)
        made = change(data.inputs, edge.subtype, edge.masking)
        if edge.column != ANY_COLUMN:
            inputs.setdefault(edge.column, set()).update(made)
        elif edge.subtype.type is EdgeType.INDIRECT:
            rows |= made
        elif edge.from_column == ANY_COLUMN:
            starred.append(_all_of(machine, edge.from_table))
        else:
            gaps.add(machine.gap("a column of a view has no name"))
    for name in {access.name[-1].casefold() for access in shape.accesses} & machine.views.keys():
        view = machine.frame(machine.views[name])
        rows |= view.rows if view is not None else frozenset()
    columns: dict[Key, Data] = {
        name: Data(frozenset(sources), place=machine.place) for name, sources in inputs.items()
    }
    passed_on = {name: data for frame in starred for name, data in frame.columns.items()}
    return Frame(
        {**passed_on, **columns},
        tuple(group for frame in starred for group in frame.open),
        next((frame.rest for frame in starred if frame.rest), None),
        rows=frozenset(rows),
        gaps=frozenset(gaps).union(*(frame.gaps for frame in starred)),
        library="spark",
    )


def _all_of(machine: Machine, table: tuple[str, ...]) -> Frame:
    """The frame behind `*` of a view, or of a table."""
    view = machine.frame(machine.views.get(table[-1].casefold()))
    name = ".".join(table)
    return view if view is not None else read_table(machine, name, Dialect.SPARK, "spark")


def _source(machine: Machine, table: tuple[str, ...], column: str) -> Data:
    ref = machine.views.get(table[-1].casefold()) if table else None
    view = machine.frame(ref)
    if view is not None and column == ANY_COLUMN:
        return Data(inputs_of_rows(view))
    if view is not None:
        return find_column(machine, view, column)
    if not table:
        return Data()
    source = machine.record.add_source(machine.place, Medium.TABLE, ".".join(table), Dialect.SPARK)
    return Data(frozenset({ColumnInput(source, column)}))
