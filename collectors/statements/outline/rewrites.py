"""Conditions in other words, with the same result for every value: a tree in its plainest words.

`NOT (a OR b)` is `NOT a AND NOT b` with NULL, too; `NOT x > 1` is not `x <= 1` where x is NaN.
What is evaluated twice then is a column or a literal, never a function.
"""

from __future__ import annotations

from sqlglot import exp

# Here `NULL IN (1)` is false, and NULL elsewhere.
_NULL_IN_NOTHING = ("clickhouse",)


def plain_tree(tree: exp.Expr, dialect: str) -> exp.Expr:
    """A tree with its conditions in their plainest words; the given one is changed."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        plain = _plain(node, dialect)
        while plain is not None:
            if node is tree:
                tree = plain
            else:
                node.replace(plain)
            node, plain = plain, _plain(plain, dialect)
        waiting += node.iter_expressions()
    return tree


def _plain(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A node in plainer words, if there are some."""
    if node.args.get("negate"):
        node.set("negate", None)
        return exp.Not(this=node.copy())
    if isinstance(node, exp.Not):
        return _negation(bare(node.this))
    if isinstance(node, exp.Between):
        return _between(node)
    if isinstance(node, exp.In) and dialect not in _NULL_IN_NOTHING:
        return _either(node)
    if isinstance(node, exp.Case) and isinstance(node.this, exp.Column):
        return _searched(node)
    if isinstance(node, exp.Fetch):
        return _limit(node)
    return None


def bare(tree: exp.Expr) -> exp.Expr:
    """An expression without the brackets around it."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _negation(denied: exp.Expr) -> exp.Expr | None:
    if isinstance(denied, exp.And | exp.Or):
        other = exp.Or if isinstance(denied, exp.And) else exp.And
        return other(this=exp.Not(this=denied.this), expression=exp.Not(this=denied.expression))
    if isinstance(denied, exp.EQ | exp.NEQ):
        other_sign = exp.NEQ if isinstance(denied, exp.EQ) else exp.EQ
        return other_sign(this=denied.this, expression=denied.expression)
    return None


def _between(node: exp.Between) -> exp.Expr | None:
    value = bare(node.this)
    if not isinstance(value, exp.Column) or node.args.get("symmetric"):
        return None
    return exp.And(
        this=exp.GTE(this=value, expression=node.args["low"]),
        expression=exp.LTE(this=value.copy(), expression=node.args["high"]),
    )


def _either(node: exp.In) -> exp.Expr | None:
    """OR of what a list of literals of one kind may be; the values of a PIVOT are no condition."""
    value, listed = bare(node.this), node.expressions
    kinds = {part.is_string if isinstance(part, exp.Literal) else None for part in listed}
    is_list = len(kinds) == 1 and None not in kinds and isinstance(value, exp.Column)
    if not is_list or isinstance(node.parent, exp.Pivot) or node.args.get("is_global"):
        return None
    made: exp.Expr | None = None
    for part in listed:
        equal = exp.EQ(this=value.copy(), expression=part)
        made = exp.Or(this=made, expression=equal) if made else equal
    return made


def _searched(node: exp.Case) -> exp.Expr:
    """`CASE WHEN x = 1` for `CASE x WHEN 1`."""
    branches = [
        exp.If(this=exp.EQ(this=node.this.copy(), expression=branch.this), true=branch.args["true"])
        for branch in node.args["ifs"]
    ]
    return exp.Case(ifs=branches, default=node.args.get("default"))


def _limit(node: exp.Fetch) -> exp.Expr | None:
    options = node.args.get("limit_options")
    if options and any(options.args.get(key) for key in ("percent", "with_ties")):
        return None
    return exp.Limit(expression=node.args.get("count") or exp.Literal.number(1))
