"""PIVOT and UNPIVOT -> the columns that take the place of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlglot import exp

from dbt_graft.collectors.statements.columns.dialect_rules import VALUES_BEFORE_NAMES
from dbt_graft.collectors.statements.columns.expressions import inputs, inputs_of_all
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    Rowset,
    RowsetColumn,
    transform_inputs,
)
from dbt_graft.lineage.records import ANY_COLUMN, Subtype


def pivot_rowset(node: exp.Expr, rowset: Rowset, scope: QueryScope) -> Rowset:
    """The rows of a table after its PIVOT and UNPIVOT clauses."""
    for pivot in node.args.get("pivots") or ():
        inside = scope.inner(rowset)
        if pivot.args.get("unpivot"):
            groups = [_places(value) for field in _fields(pivot) for value in field.expressions]
            values = _unpivoted([c for v in pivot.expressions for c in _places(v)], groups, inside)
            named = [RowsetColumn(field.this.name, NOTHING) for field in _fields(pivot)]
            is_swapped = scope.context.dialect in VALUES_BEFORE_NAMES
            produced = [*values, *named] if is_swapped else [*named, *values]
            include_nulls = bool(pivot.args.get("include_nulls"))
            rowset = _taken_apart(rowset, groups, produced, inside, include_nulls)
        else:
            consumed = _names([*pivot.expressions, *(field.this for field in _fields(pivot))])
            rowset = _grouped(rowset, consumed, _pivot(pivot, inside), pivot, inside)
        alias = pivot.args.get("alias")
        if isinstance(alias, exp.TableAlias):
            names = [column.name for column in alias.args.get("columns") or ()]
            rowset = rowset.rename((alias.name.casefold(),), names)
    return rowset


def pivot_statement(node: exp.Expr, rowset: Rowset, scope: QueryScope) -> Rowset:
    """`PIVOT t ON a USING sum(b) GROUP BY c`, `UNPIVOT t ON a, b INTO NAME c VALUE d` of DuckDB."""
    inside = scope.inner(rowset)
    if node.args.get("unpivot"):
        into = node.args["into"]
        groups = [
            _places(column) for value in node.expressions for column in _spelled(value, rowset)
        ]
        produced = [
            RowsetColumn(into.this.name, NOTHING),
            *_unpivoted(into.expressions, groups, inside),
        ]
        return _taken_apart(rowset, groups, produced, inside)
    fields = [expression for expression in node.expressions if isinstance(expression, exp.In)]
    using = node.args.get("using") or []
    deciding = transform_inputs(
        inputs_of_all(
            [getattr(field, "this", field) for field in fields or node.expressions], inside
        ),
        Subtype.CONDITIONAL,
    )
    by_value = [(aggregate, inputs(aggregate, inside) | deciding) for aggregate in using]
    if len(fields) == 1 == len(node.expressions):
        columns = [
            RowsetColumn(_pivot_name(value.name, aggregate, len(using)), input_columns)
            for value in fields[0].expressions
            for aggregate, input_columns in by_value
        ]
    else:
        scope.context.gap(_NOT_KNOWN)
        columns = [
            RowsetColumn(
                ANY_COLUMN, deciding.union(*(input_columns for _, input_columns in by_value))
            )
        ]
    return _grouped(rowset, _names([*node.expressions, *using]), columns, node, inside)


def _grouped(
    rowset: Rowset,
    consumed: set[str],
    produced: Iterable[RowsetColumn],
    pivot: exp.Expr,
    scope: QueryScope,
) -> Rowset:
    """A row for each group: by GROUP BY, or by all columns that the pivot does not name."""
    group = pivot.args.get("group")
    if group is None or group.args.get("all"):
        keys = [column for column in rowset.columns if column.name.casefold() not in consumed]
    else:
        keys = [RowsetColumn(key.output_name, inputs(key, scope)) for key in group.expressions]
    grouping = transform_inputs(NOTHING.union(*(key.inputs for key in keys)), Subtype.GROUP_BY)
    return Rowset(rowset.path, [*keys, *produced], rowset.influences | grouping)


_NOT_KNOWN = "the columns of a pivot are not known"


def _pivot_name(value: str, aggregate: exp.Expr, aggregates: int) -> str:
    if aggregate.alias:
        return f"{value}_{aggregate.alias}"
    return value if aggregates == 1 else f"{value}_{aggregate.sql('duckdb').casefold()}"


def _taken_apart(
    rowset: Rowset,
    groups: Sequence[Sequence[exp.Expr]],
    produced: Iterable[RowsetColumn],
    scope: QueryScope,
    include_nulls: bool = False,
) -> Rowset:
    """A row for each group of columns, unless it has NULL in all of them."""
    columns = [column for group in groups for column in group]
    tested = NOTHING if include_nulls else inputs_of_all(columns, scope)
    consumed = _names(columns)
    remaining = [column for column in rowset.columns if column.name.casefold() not in consumed]
    deciding = rowset.influences | transform_inputs(tested, Subtype.FILTER)
    return Rowset(rowset.path, [*remaining, *produced], deciding)


def _spelled(node: exp.Expr, rowset: Rowset) -> Sequence[exp.Expr]:
    """The columns of `*` and `COLUMNS(*)` with EXCLUDE, of which the values have no other names."""
    star = node.this if isinstance(node, exp.Columns) else node
    if not isinstance(star, exp.Star):
        return [node]
    left_out = {column.name.casefold() for column in star.args.get("except_") or ()}
    names = [c.name for c in rowset.columns if c.name.casefold() not in left_out]
    return [exp.column(name, quoted=True) for name in names]


def _names(nodes: Iterable[exp.Expr]) -> set[str]:
    return {column.name.casefold() for node in nodes for column in node.find_all(exp.Column)}


def _pivot(pivot: exp.Expr, scope: QueryScope) -> list[RowsetColumn]:
    """A column for each value and aggregate; which they are, the parser knows by the dialect."""
    aggregates = [inputs(node, scope) for node in pivot.expressions]
    by = transform_inputs(
        inputs_of_all([field.this for field in _fields(pivot)], scope), Subtype.CONDITIONAL
    )
    # In Snowflake the quotes of a value are a part of the name.
    quotes = "" if pivot.args.get("identify_pivot_strings") else "'\""
    names = [column.name.strip(quotes) for column in pivot.args.get("columns") or ()]
    values = [value for field in _fields(pivot) for value in field.expressions]
    if not names or any(isinstance(value, exp.Placeholder | exp.Query) for value in values):
        scope.context.gap(_NOT_KNOWN)
        return [RowsetColumn(ANY_COLUMN, by.union(*aggregates))]
    return [
        RowsetColumn(name, aggregates[at % len(aggregates)] | by) for at, name in enumerate(names)
    ]


def _unpivoted(
    columns: Iterable[exp.Expr], groups: Sequence[Sequence[exp.Expr]], scope: QueryScope
) -> list[RowsetColumn]:
    """The columns of values: of each group, the one at their place."""
    return [
        RowsetColumn(
            column.name, inputs_of_all([group[at] for group in groups if at < len(group)], scope)
        )
        for at, column in enumerate(columns)
    ]


def _places(node: exp.Expr) -> Sequence[exp.Expr]:
    """`a`, `a AS x` or `(a, b)`, as the columns in it."""
    if isinstance(node, exp.PivotAlias | exp.Alias):
        node = node.this
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _fields(pivot: exp.Expr) -> list[Any]:
    return [field for field in pivot.args.get("fields") or () if isinstance(field, exp.In)]
