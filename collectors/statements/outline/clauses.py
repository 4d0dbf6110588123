"""Clauses of a query that decide on its rows, and those that are not understood, as digests."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from dbt_graft.collectors.statements.outline.expression import expression_digest, value_digest
from dbt_graft.collectors.statements.outline.keys import digest
from dbt_graft.collectors.statements.outline.scope import Marks, OutlineScope, has_own

_GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
# ORDER BY, and those of Spark that order the rows of each part.
ORDERS = ("order", "sort", "cluster", "distribute")
# Clauses and hints that decide on how a query runs, and not on what it gives; so do locks, but for
# SKIP LOCKED, whose `wait` is False.
_NEUTRAL = {"indexed", "materialized"}
_HINTS = {"hint", "hints", "options"}
_NEUTRAL_WORDS = """
    broadcast broadcastjoin mapjoin merge shuffle_merge mergejoin shuffle_hash shuffle_replicate_nl
    coalesce repartition repartition_by_range rebalance skew range_join recompile maxdop optimize
    fast force loop hash concat keep plan robust parallel no_parallel full index leading use_hash
    use_nl use_merge ordered all_rows first_rows append no_merge push_pred materialize inline
    cardinality dynamic_sampling result_cache forceseek forcescan tablock tablockx rowlock paglock
    holdlock updlock xlock noexpand keepplan keepfixed label min_grant_percent max_grant_percent
    use_index ignore_index force_index straight_join max_execution_time no_index bka no_bka"""
_NEUTRAL_HINTS = frozenset(_NEUTRAL_WORDS.split())
_PLACES = {
    "kind": "SELECT AS",
    "for_": "FOR",
    "options": "OPTION",
    "hint": "a hint",
    "hints": "a table hint",
    "exclude": "EXCLUDE",
    "search": "SEARCH of a recursive CTE",
    "cycle": "CYCLE of a recursive CTE",
    "ordinality": "WITH ORDINALITY",
    "expressions": "a list",
}


def clause_marks(
    tree: exp.Expr | None, handled: Collection[str], scope: OutlineScope
) -> tuple[Marks, Marks]:
    """The arguments of a node that nothing else looks at.

    Returns:
        Those that may decide on rows, and those that decide on how alone.
    """
    rest: set[tuple[str, str]] = set()
    costs: set[tuple[str, str]] = set()
    for name, value in tree.args.items() if tree else ():
        if name in handled or value is None or value is False or value == []:
            continue
        place = _PLACES.get(name) or name.strip("_").replace("_", " ").upper()
        neutral = name in _NEUTRAL or (name in _HINTS and _is_neutral(value))
        neutral |= name == "locks" and not any(lock.args.get("wait") is False for lock in value)
        (costs if neutral else rest).add((place, digest(name, value_digest(value, scope))))
    return frozenset(rest), frozenset(costs)


def flat(marks: Marks) -> list[str]:
    """Marks as parts of a digest."""
    return [part for mark in sorted(marks) for part in mark]


def _is_neutral(value: object) -> bool:
    """Whether each hint is one that changes no rows."""
    names = {name.casefold() for name in _hint_names(value)}
    return bool(names) and names <= _NEUTRAL_HINTS


def _hint_names(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _hint_names(part)
    elif isinstance(value, exp.Hint | exp.WithTableHint | exp.QueryOption | exp.IndexTableHint):
        if value.expressions:
            yield from _hint_names(value.expressions)
        elif value.this is not None:
            yield from _hint_names(value.this)
    elif isinstance(value, exp.Anonymous):
        yield str(value.name)
    elif isinstance(value, exp.Expr):
        yield str(value.name or value.key).split()[0]


def limit_digests(tree: exp.Expr, scope: OutlineScope) -> list[str]:
    """LIMIT and OFFSET, and the order by which they cut."""
    digests = [
        digest(key, value_digest(tree.args[key], scope))
        for key in ("limit", "offset")
        if tree.args.get(key)
    ]
    order = order_digest(tree, scope) if digests else ""
    return [*digests, order] if order else digests


def order_digest(tree: exp.Expr, scope: OutlineScope) -> str:
    """The orders of a query, in which a number stands for a column; empty without one."""
    orders = [
        digest(name, *_order_terms(tree.args[name], scope))
        for name in ORDERS
        if tree.args.get(name)
    ]
    return digest(*orders) if orders else ""


def _order_terms(order: exp.Expr, scope: OutlineScope) -> Iterator[str]:
    yield str(bool(order.args.get("siblings")))
    for part in order.expressions:
        term = part.this if isinstance(part, exp.Ordered) else part
        how = [
            str(bool(part.args.get("desc"))),
            str(bool(part.args.get("nulls_first"))),
            value_digest(part.args.get("with_fill"), scope),
        ]
        yield digest(_numbered(term, scope), *how)


def distinct_digest(tree: exp.Expr, scope: OutlineScope, others: Collection[str]) -> str:
    """DISTINCT, by all columns; DISTINCT ON by its own, of which ORDER BY says which row stays."""
    first_of = tree.args["distinct"].args.get("on")
    if not first_of:
        return digest("distinct", *sorted(scope.aliases.values()), *sorted(others))
    terms = first_of.expressions or [first_of]
    keys = {_numbered(term, scope) for term in terms}
    return digest("distinct on", *sorted(keys), order_digest(tree, scope))


def group_digest(tree: exp.Expr, scope: OutlineScope) -> str:
    """GROUP BY, in any order; ALL stands for what is not aggregated."""
    group = tree.args["group"]
    rest = [
        digest(name, value_digest(value, scope))
        for name, value in sorted(group.args.items())
        if name not in ("expressions", "all") and value
    ]
    if group.args.get("all") and not group.expressions:
        return digest("group", *sorted(_plain_outputs(tree, scope)), *rest)
    keys, sets = set(), []
    for term in group.expressions:
        if isinstance(term, _GROUPING_SETS):  # twice the same makes each group twice
            sets.append(expression_digest(term, scope))
        for key in term.expressions if isinstance(term, exp.Tuple) else [term]:
            keys.add(_numbered(key, scope))
    return digest("group", *sorted(keys), *sorted(sets), *rest)


def _plain_outputs(tree: exp.Expr, scope: OutlineScope) -> set[str]:
    """The keys of GROUP BY ALL: outputs without aggregates, and columns beside aggregates.

    What may be either, such as a function over a window, counts: another grain is then claimed of
    the same groups, and never the same of other ones.
    """
    keys, explicit = set(), set()
    for expression in tree.expressions:
        term = expression.unalias()
        if term.is_star:
            continue
        explicit.add(made := expression_digest(term, scope))
        if term.find(exp.Window) or not has_own(term, (exp.AggFunc,)):
            keys.add(made)
        else:
            beside = (column for column in term.find_all(exp.Column) if not _aggregated(column))
            keys.update(expression_digest(column, scope) for column in beside)
    if tree.is_star:
        keys.update({*scope.aliases.values()} - explicit)
    return keys


def _aggregated(column: exp.Column) -> bool:
    """Whether it stands in an aggregate, in its order or in its filter."""
    return column.find_ancestor(exp.AggFunc, exp.WithinGroup, exp.Filter) is not None


def _numbered(term: exp.Expr, scope: OutlineScope) -> str:
    """The digest of a term; a number is a column of the output."""
    if not (isinstance(term, exp.Literal) and not term.is_string and term.name.isdigit()):
        return expression_digest(term, scope)
    columns = list(scope.aliases.values())
    number = int(term.name)
    return columns[number - 1] if 0 < number <= len(columns) else digest("at", term.name, *columns)
