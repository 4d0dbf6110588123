"""An expression -> the columns that have a part in its value, and which part.

Conditions of CASE and IF decide (CONDITIONAL), what a window is made of orders or groups
(WINDOW), arguments of an aggregate are aggregated; a column alone is itself, anything else
changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from dbt_graft.collectors.statements.columns.relations import NOTHING, Scope, Uses, changed
from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.lineage.records import Subtype

# Their result does not tell the value, but is the same for the same one.
MASKING = keywords(
    """AES_ENCRYPT BINARY_CHECKSUM CHECKSUM CRC32 ENCRYPTBYASYMKEY ENCRYPTBYCERT ENCRYPTBYKEY
    ENCRYPTBYPASSPHRASE HASH HASHBYTES MASK MD5 MD5_DIGEST SHA SHA1 SHA2 SHA1_DIGEST SHA2_DIGEST
    STANDARD_HASH XXHASH64"""
)
# Aggregates that sqlglot does not know.
_AGGREGATES = keywords(
    "APPROX_PERCENTILE_CONT APPROX_PERCENTILE_DISC CHECKSUM_AGG HISTOGRAM_NUMERIC"
)
# Of many rows these give the value of one.
_OF_ONE_ROW = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)


def uses(node: exp.Expr | None, scope: Scope) -> Uses:
    """What has a part in an expression's value; of a query, in its rows and their values."""
    if node is None:
        return NOTHING
    rule = _RULES.get(type(node))
    if rule:
        return rule(node, scope)
    if isinstance(node, exp.Query):
        return _query(node, scope)
    return _made(node, node.iter_expressions(), scope)


def influences(node: exp.Expr | None, scope: Scope, subtype: Subtype) -> Uses:
    """What decides in a clause: the columns of WHERE with FILTER, of ON with JOIN…"""
    return changed(uses(node, scope), subtype)


def of_all(nodes: Iterable[exp.Expr], scope: Scope) -> Uses:
    """What has a part in any of these."""
    return NOTHING.union(*(uses(node, scope) for node in nodes))


def _made(node: exp.Expr, arguments: Iterable[exp.Expr], scope: Scope) -> Uses:
    name = _function(node)
    aggregate = isinstance(node, exp.AggFunc) and not isinstance(node, _OF_ONE_ROW)
    subtype = Subtype.TRANSFORMATION
    if aggregate or name in _AGGREGATES:
        subtype = Subtype.AGGREGATION
    return changed(of_all(arguments, scope), subtype, masking=name in MASKING)


def _function(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name() if isinstance(node, exp.Func) else ""


def _column(node: exp.Expr, scope: Scope) -> Uses:
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return NOTHING
    return scope.resolve(node)


def _inside(node: exp.Expr, scope: Scope) -> Uses:
    return uses(node.this, scope)


def _query(node: exp.Expr, scope: Scope) -> Uses:
    relation = scope.context.query(node, scope)
    return relation.influences.union(*(column.uses for column in relation.columns))


def _case(node: exp.Expr, scope: Scope) -> Uses:
    branches = [branch for branch in node.args.get("ifs") or () if isinstance(branch, exp.If)]
    values = [branch.args.get("true") for branch in branches] + [node.args.get("default")]
    conditions = [node.this, *(branch.this for branch in branches)]
    return _chosen(conditions, values, scope)


def _if(node: exp.Expr, scope: Scope) -> Uses:
    return _chosen([node.this], [node.args.get("true"), node.args.get("false")], scope)


def _chosen(
    conditions: Iterable[exp.Expr | None], values: Iterable[exp.Expr | None], scope: Scope
) -> Uses:
    deciding = of_all(filter(None, conditions), scope)
    chosen = of_all(filter(None, values), scope)
    return changed(deciding, Subtype.CONDITIONAL) | changed(chosen, Subtype.TRANSFORMATION)


def _window(node: exp.Expr, scope: Scope) -> Uses:
    value = changed(uses(node.this, scope), Subtype.TRANSFORMATION)
    return value | window_uses(node, scope)


def window_uses(node: exp.Expr, scope: Scope) -> Uses:
    """What a window is made of, where it has a name (OVER w) in the clause WINDOW."""
    frame = [*(node.args.get("partition_by") or ()), node.args.get("order")]
    named = scope.windows.get(node.alias.casefold(), NOTHING)
    return named | changed(of_all(filter(None, frame), scope), Subtype.WINDOW)


def _filtered(node: exp.Expr, scope: Scope) -> Uses:
    condition = influences(node.expression, scope, Subtype.CONDITIONAL)
    return uses(node.this, scope) | condition


def _ordered_group(node: exp.Expr, scope: Scope) -> Uses:
    """`STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b)`; PERCENTILE_CONT takes what it orders by."""
    value, order = uses(node.this, scope), uses(node.expression, scope)
    return value | changed(order, Subtype.SORT if value else Subtype.AGGREGATION)


def _ordered_values(node: exp.Expr, scope: Scope) -> Uses:
    """ORDER BY inside an aggregate's brackets; elsewhere, its columns alone."""
    value, order = uses(node.this, scope), of_all(node.expressions, scope)
    return value | changed(order, Subtype.SORT) if node.this else order


_RULES: Mapping[type[exp.Expr], Callable[[exp.Expr, Scope], Uses]] = {
    exp.Alias: _inside,
    exp.Case: _case,
    exp.Column: _column,
    exp.Filter: _filtered,
    exp.If: _if,
    exp.Order: _ordered_values,
    exp.Paren: _inside,
    exp.Window: _window,
    exp.WithinGroup: _ordered_group,
}
