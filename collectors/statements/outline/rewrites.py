"""A query in other words, with the same result for every value: a tree in its plainest words.

`NOT (a OR b)` is `NOT a AND NOT b` with NULL, too. `NOT x > 1` is `x <= 1` where NaN has a place in
the order of numbers, or there is none. What is evaluated twice then is a column or a literal, never
a function.
"""

from __future__ import annotations

from sqlglot import exp

# Here `NULL IN (1)` is false, and NULL elsewhere.
_NULL_IN_NOTHING = ("clickhouse",)
# NaN is the largest number, or there is none.
_NUMBERS_ARE_ORDERED = (
    *("postgres", "snowflake", "duckdb", "spark", "spark2", "databricks"),
    *("tsql", "fabric", "mysql", "oracle"),
)
_OPPOSITES: dict[type[exp.Expr], type[exp.Expr]] = {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}
_OPPOSITES_IN_ORDER: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}


def plain_tree(tree: exp.Expr, dialect: str) -> exp.Expr:
    """A tree in its plainest words; the given one is changed."""
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
        return _negation(bare(node.this), dialect)
    if isinstance(node, exp.Between):
        return _between(node)
    if isinstance(node, exp.In) and dialect not in _NULL_IN_NOTHING:
        return _either(node)
    if isinstance(node, exp.Case) and isinstance(node.this, exp.Column):
        return _searched(node)
    if isinstance(node, exp.Fetch):
        return _limit(node)
    if isinstance(node, exp.Select):
        _begin_with_left(node)
        _select_distinct(node)
    return None


def bare(tree: exp.Expr) -> exp.Expr:
    """An expression without the brackets around it."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _negation(denied: exp.Expr, dialect: str) -> exp.Expr | None:
    if isinstance(denied, exp.And | exp.Or):
        other = exp.Or if isinstance(denied, exp.And) else exp.And
        return other(this=exp.Not(this=denied.this), expression=exp.Not(this=denied.expression))
    opposite = _OPPOSITES.get(type(denied))
    if dialect in _NUMBERS_ARE_ORDERED:
        opposite = opposite or _OPPOSITES_IN_ORDER.get(type(denied))
    # `NOT x = ANY (…)` is `x <> ALL (…)`.
    if opposite is None or any(map(_is_quantified, (denied.this, denied.args["expression"]))):
        return None
    return opposite(this=denied.this, expression=denied.expression)


def _is_quantified(side: exp.Expr) -> bool:
    """Whether a condition holds for ANY or ALL that a side stands for."""
    is_function = isinstance(side, exp.Anonymous) and side.name.upper() in ("ANY", "ALL", "SOME")
    return is_function or isinstance(side, exp.Any | exp.All)


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


def _begin_with_left(node: exp.Select) -> None:
    """`b LEFT JOIN a` for `a RIGHT JOIN b`, unless a `*` takes the columns in their order."""
    start, join = node.args.get("from_"), next(iter(node.args.get("joins") or ()), None)
    is_right = join is not None and str(join.args.get("side")).upper() == "RIGHT"
    if start and join and is_right and not (join.args.get("method") or node.is_star):
        first, second = start.this, join.this
        start.set("this", second)
        join.set("this", first)
        join.set("side", "LEFT")


def _select_distinct(node: exp.Select) -> None:
    """SELECT DISTINCT for a GROUP BY of all that is selected."""
    group, order = node.args.get("group"), node.args.get("order")
    if (
        not group
        or any(value for key, value in group.args.items() if key != "expressions")
        or any(node.args.get(key) for key in ("distinct", "having", "qualify"))
        or (order and order.find(exp.AggFunc))
    ):
        return
    selected = [bare(term.unalias()) for term in node.expressions]
    by_number = {str(at): term for at, term in enumerate(selected, 1)}
    keys = [bare(term) for term in group.expressions]
    keys = [by_number.get(term.name, term) if term.is_int else term for term in keys]
    if {*keys} == {*selected} and not any(
        term.is_star or term.find(exp.AggFunc, exp.Window) for term in selected
    ):
        node.set("group", None)
        node.set("distinct", exp.Distinct())
