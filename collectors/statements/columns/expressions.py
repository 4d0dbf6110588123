"""An expression -> the columns that have a part in its value, and which part.

Conditions of CASE and IF decide (CONDITIONAL), a window orders or groups (WINDOW), arguments of an
aggregate are aggregated; a column alone is itself, anything else changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from dbt_graft.collectors.statements.columns.input_columns import (
    NOTHING,
    SENT,
    InputColumns,
    sent_as,
    transformed,
)
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.lineage.records import Subtype

# Their result hides the value, but is the same for the same value.
MASKING = keywords(
    """AES_ENCRYPT BINARY_CHECKSUM CHECKSUM CRC32 ENCRYPTBYASYMKEY ENCRYPTBYCERT ENCRYPTBYKEY
    ENCRYPTBYPASSPHRASE HASH HASHBYTES MASK MD5 MD5_DIGEST SHA SHA1 SHA2 SHA1_DIGEST SHA2_DIGEST
    STANDARD_HASH XXHASH64"""
)
# Aggregates that sqlglot does not know.
_AGGREGATES = keywords(
    "APPROX_PERCENTILE_CONT APPROX_PERCENTILE_DISC CHECKSUM_AGG HISTOGRAM_NUMERIC"
)
# Functions that take the value of one row among many.
_OF_ONE_ROW = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)


def inputs(node: exp.Expr | None, scope: QueryScope) -> InputColumns:
    """The inputs of an expression's value; of a query, those of its rows and their values."""
    if node is None:
        return NOTHING
    rule = _RULES.get(type(node))
    if rule:
        return rule(node, scope)
    if isinstance(node, exp.Query):
        return _query(node, scope)
    return _function_inputs(node, node.iter_expressions(), scope)


def clause_inputs(node: exp.Expr | None, scope: QueryScope, subtype: Subtype) -> InputColumns:
    """The inputs that decide in a clause: the columns of WHERE with FILTER, of ON with JOIN…"""
    return transformed(inputs(node, scope), subtype)


def inputs_of_all(nodes: Iterable[exp.Expr], scope: QueryScope) -> InputColumns:
    """The inputs of several expressions."""
    return NOTHING.union(*(inputs(node, scope) for node in nodes))


def _function_inputs(
    node: exp.Expr, arguments: Iterable[exp.Expr], scope: QueryScope
) -> InputColumns:
    name = _function(node)
    aggregate = isinstance(node, exp.AggFunc) and not isinstance(node, _OF_ONE_ROW)
    subtype = Subtype.TRANSFORMATION
    if aggregate or name in _AGGREGATES:
        subtype = Subtype.AGGREGATION
    found = inputs_of_all(arguments, scope)
    if SENT in found and (len(found) > 1 or any(map(_is_made_by_server, node.walk()))):
        found -= {SENT}  # a + ?, DATEADD(day, ?, GETDATE())
    return transformed(found, subtype, masking=name in MASKING)


def _is_made_by_server(node: exp.Expr) -> bool:
    """A function without arguments: GETDATE(), NEWID()."""
    return isinstance(node, exp.Func) and not any(node.iter_expressions())


def _anonymous(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """A function that sqlglot does not know."""
    if _function(node) == "CHOOSE":
        return _branch_inputs(node.expressions[:1], node.expressions[1:], scope)
    if _function(node) == "IDENTITY":  # IDENTITY(int, 1, 1) numbers rows
        return NOTHING
    return _function_inputs(node, node.iter_expressions(), scope)


def _nothing(node: exp.Expr, scope: QueryScope) -> InputColumns:
    return NOTHING


def _function(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name() if isinstance(node, exp.Func) else ""


def _column(node: exp.Expr, scope: QueryScope) -> InputColumns:
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return NOTHING
    return scope.resolve(node)


def _inside(node: exp.Expr, scope: QueryScope) -> InputColumns:
    return inputs(node.this, scope)


def _query(node: exp.Expr, scope: QueryScope) -> InputColumns:
    rowset = scope.context.query(node, scope)
    return rowset.influences.union(*(column.inputs for column in rowset.columns))


def _case(node: exp.Expr, scope: QueryScope) -> InputColumns:
    branches = [branch for branch in node.args.get("ifs") or () if isinstance(branch, exp.If)]
    values = [branch.args.get("true") for branch in branches] + [node.args.get("default")]
    conditions = [node.this, *(branch.this for branch in branches)]
    return _branch_inputs(conditions, values, scope)


def _if(node: exp.Expr, scope: QueryScope) -> InputColumns:
    return _branch_inputs([node.this], [node.args.get("true"), node.args.get("false")], scope)


def _branch_inputs(
    conditions: Iterable[exp.Expr | None], values: Iterable[exp.Expr | None], scope: QueryScope
) -> InputColumns:
    deciding = inputs_of_all(filter(None, conditions), scope)
    chosen = inputs_of_all(filter(None, values), scope)
    return transformed(deciding, Subtype.CONDITIONAL) | transformed(chosen, Subtype.TRANSFORMATION)


def _window(node: exp.Expr, scope: QueryScope) -> InputColumns:
    value = transformed(inputs(node.this, scope), Subtype.TRANSFORMATION)
    return value | window_inputs(node, scope)


def window_inputs(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """The inputs of a window; for `OVER w`, those of its definition in the clause WINDOW too."""
    frame = [*(node.args.get("partition_by") or ()), node.args.get("order")]
    named = scope.windows.get(node.alias.casefold(), NOTHING)
    return named | transformed(inputs_of_all(filter(None, frame), scope), Subtype.WINDOW)


def _filtered(node: exp.Expr, scope: QueryScope) -> InputColumns:
    condition = clause_inputs(node.expression, scope, Subtype.CONDITIONAL)
    return inputs(node.this, scope) | condition


def _sent(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """A parameter, or a literal that was taken out."""
    return frozenset({SENT}) if scope.context.sends else NOTHING


def _equal(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`a = ?`: what the task sends is its `a`."""
    sides = (node.this, node.expression)
    found = inputs_of_all(sides, scope)
    if SENT in found:
        for side in sides:
            if isinstance(side, exp.Column):
                found = sent_as(found, side.name)
    return transformed(found, Subtype.TRANSFORMATION)


def _ordered_group(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b)`; PERCENTILE_CONT takes what it orders by."""
    value, order = inputs(node.this, scope), inputs(node.expression, scope)
    return value | transformed(order, Subtype.SORT if value else Subtype.AGGREGATION)


def _ordered_values(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """ORDER BY inside an aggregate's brackets; elsewhere, its columns alone."""
    value, order = inputs(node.this, scope), inputs_of_all(node.expressions, scope)
    return value | transformed(order, Subtype.SORT) if node.this else order


_RULES: Mapping[type[exp.Expr], Callable[[exp.Expr, QueryScope], InputColumns]] = {
    exp.Alias: _inside,
    exp.Anonymous: _anonymous,
    exp.Case: _case,
    exp.Column: _column,
    exp.EQ: _equal,
    exp.Filter: _filtered,
    exp.If: _if,
    exp.NextValueFor: _nothing,
    exp.Order: _ordered_values,
    exp.Paren: _inside,
    exp.Placeholder: _sent,
    exp.Window: _window,
    exp.WithinGroup: _ordered_group,
}
