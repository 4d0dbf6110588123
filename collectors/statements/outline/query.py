"""A query -> its outline: digests of its columns and of what decides on its rows.

A column that a query only passes on has the digest of what it comes from, so that names of CTEs,
their number, aliases, comments and layout do not count. A name that could be one of several tables
has a digest of all of these: where it is not sure, two versions differ rather than agree. A clause
that is not understood counts as it is written, and is named.

Names are folded; so where a function or clause turns names of columns into text, in which the case
of letters counts (JSON, XML), those that are not written as the dialect folds them are a part of
the query.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.analysis.review.node import OutlinedCast, QueryOutline
from dbt_graft.collectors.statements.columns.tree import NoTreeError, like_pattern, parse_statements
from dbt_graft.collectors.statements.outline.clauses import (
    ORDERS,
    clause_marks,
    distinct_digest,
    group_digest,
    limit_digests,
    order_digest,
)
from dbt_graft.collectors.statements.outline.distinct_words import with_distinct_words
from dbt_graft.collectors.statements.outline.expression import (
    conjuncts,
    expression_digest,
    value_digest,
    window_parts,
)
from dbt_graft.collectors.statements.outline.keys import PLAIN_NAMES, digest, name_key
from dbt_graft.collectors.statements.outline.rewrites import bare, plain_tree
from dbt_graft.collectors.statements.outline.scope import (
    OutlineRows,
    OutlineScope,
    OutlineTables,
    add_column,
    has_own,
    rename_columns,
    type_name,
)
from dbt_graft.collectors.statements.outline.sources import (
    SelectSources,
    pivot_rows,
    select_digest,
    source_rows,
)


def add_outputs(
    tree: exp.Select, scope: OutlineScope
) -> tuple[tuple[str, ...], dict[str, OutlinedCast]]:
    """Add the columns to the scope.

    Returns:
        Digests of what stands behind a `*` that could not be followed, and the conversions.
    """
    others: list[str] = []
    casts: dict[str, OutlinedCast] = {}
    for index, expression in enumerate(tree.expressions):
        star = expression.this if isinstance(expression, exp.Column) else expression
        if isinstance(star, exp.Star):
            others += _add_star(expression, star, scope, casts)
        elif expression.unalias().is_star or expression.find(exp.Columns):
            others.append(value_digest(expression, scope))
        elif isinstance(expression, exp.Aliases):
            made = expression_digest(expression.this, scope)
            for number, alias in enumerate(expression.aliases):
                add_column(scope.aliases, scope.key(alias), digest("at", str(number), made))
        else:
            term = expression.unalias()
            value, cast = expression_digest(term, scope), _cast(term, scope)
            name = add_column(scope.aliases, _name(expression, scope) or f"_{index}", value)
            if cast:
                casts[name] = cast
    return tuple(others), casts


# Here `x::int` without a name is called `x`.
_NAMED_WITHOUT_CASTS = frozenset({"postgres", "redshift", "spark", "databricks"})


def _name(expression: exp.Expr, scope: OutlineScope) -> str:
    if isinstance(expression, exp.Alias):
        return scope.key(expression.args.get("alias"))
    expression = bare(expression)
    while isinstance(expression, exp.Cast) and scope.dialect in _NAMED_WITHOUT_CASTS:
        expression = bare(expression.this)
    if isinstance(expression, exp.Column | exp.Dot):
        name = expression.this if isinstance(expression, exp.Column) else expression.expression
        return scope.key(name)
    return ""


def _cast(term: exp.Expr, scope: OutlineScope) -> OutlinedCast | None:
    while isinstance(term, exp.Paren):
        term = term.this
    if isinstance(term, exp.Column):
        return scope.cast(scope.key(term.this), scope.key(term.args.get("table")))
    if not isinstance(term, exp.Cast) or not isinstance(term.args["to"], exp.DataType):
        return None
    if any(term.args.get(key) for key in ("format", "action", "default")):
        return None
    return OutlinedCast(
        type_name(term.args["to"], scope.dialect), expression_digest(term.this, scope)
    )


def _add_star(
    expression: exp.Expr, star: exp.Expr, scope: OutlineScope, casts: dict[str, OutlinedCast]
) -> list[str]:
    """Add the columns of a `*`; the rest is what could not be followed."""
    table = scope.key(expression.args.get("table")) if isinstance(expression, exp.Column) else ""
    sources = [source for key, source in scope.sources.items() if table in ("", key)]
    left_out = {
        scope.key(getattr(name, "this", None) if isinstance(name, exp.Column) else name)
        for name in star.args.get("except_") or star.args.get("except") or ()
    }
    replaced = {
        scope.key(term.args["alias"]): expression_digest(term.this, scope)
        for term in star.args.get("replace") or ()
        if isinstance(term, exp.Alias)
    }
    renamed = {
        scope.key(term.this.this if isinstance(term.this, exp.Column) else term.this): scope.key(
            term.args["alias"]
        )
        for term in star.args.get("rename") or ()
        if isinstance(term, exp.Alias)
    }
    listed = len(replaced) + len(renamed)
    written = sum(len(star.args.get(key) or ()) for key in ("replace", "rename"))
    pattern = star.args.get("ilike")
    is_literal = isinstance(pattern, exp.Literal) and pattern.is_string
    if not sources or listed != written or (pattern and not is_literal):
        return [digest("star", table, value_digest(expression, scope))]
    chosen = like_pattern(pattern.name) if pattern else None
    others: list[str] = []
    merged: set[str] = set()
    explicit = {*replaced, *renamed} if any(source.others for source in sources) else set()
    for source in sources:
        names = [name for name in source.columns if not chosen or chosen.fullmatch(name.strip('"'))]
        for name in [*names, *(name for name in explicit if name not in names)]:
            if name in left_out or (name not in source.columns and not source.others):
                continue
            if name in merged:  # USING makes one column of both
                continue
            is_merged = not table and name in scope.merged
            if is_merged or name not in source.columns:
                merged.add(name)
            column = replaced.get(name) or (
                scope.merged[name] if is_merged else source.column(name) or ""
            )
            shown = add_column(scope.aliases, renamed.get(name, name), column)
            if name not in replaced and name in source.casts:
                casts[shown] = source.casts[name]
        others += _behind(source, {*left_out, *explicit}, chosen)
    return others


def _behind(source: OutlineRows, names: set[str], chosen: re.Pattern[str] | None) -> list[str]:
    marks = [chosen.pattern] if chosen else []
    if not names and not marks:
        return list(source.others)
    return [digest("without", other, *sorted(names), *marks) for other in source.others]


_WRITERS = re.compile(
    r"to_?json|jsonb?_?(agg|array|build|format|group|object|to_record|populate)|object_construct|xml"
)
_WRITER_NODES = (exp.JSONFormat, exp.JSONObject, exp.JSONArrayAgg, exp.JSONObjectAgg, exp.StarMap)
_WRITTEN_TYPES = (exp.DType.JSON, exp.DType.JSONB, exp.DType.VARIANT, exp.DType.XML)


def spelled_names(tree: exp.Expr, dialect: str) -> list[str]:
    """The names that are not as they fold, where names become values; sorted, each once."""
    if not any(map(_writes_names, tree.walk())):
        return []
    identifiers = tree.find_all(exp.Identifier)
    if dialect not in PLAIN_NAMES:
        return sorted({each.name for each in identifiers if each.name != each.name.casefold()})
    quoted = ((each.name, bool(each.args.get("quoted"))) for each in identifiers)
    keys = {name_key(name, dialect, quoted=is_quoted) for name, is_quoted in quoted}
    return sorted(key for key in keys if key.startswith('"'))


def _writes_names(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return bool(_WRITERS.search(node.name.casefold()))
    if isinstance(node, exp.Cast):
        return node.to.this in _WRITTEN_TYPES
    if isinstance(node, exp.Pivot):
        return bool(node.args.get("unpivot"))
    return isinstance(node, _WRITER_NODES) or bool(node.args.get("for_"))


_ROW_MAKERS = (exp.UDTF, exp.Explode, exp.Posexplode, exp.Inline)
_CUTS = ("sample", "connect", "match")
_OF_SELECT = {
    *("with_", "expressions", "distinct", "from_", "joins", "laterals", "group", "windows"),
    *("limit", "offset", "pivots", "where", "prewhere", "having", "qualify", *ORDERS, *_CUTS),
}
_OF_SUBQUERY = {"this", "alias", "with_", "limit", "offset", "sample", "pivots", *ORDERS}
_OF_SET = {*_OF_SUBQUERY, "expression", "distinct", "by_name"}
FORMS = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)


def query_outline(text: str, dialect: str, tables: OutlineTables) -> QueryOutline:
    """The outline of a query.

    Args:
        tables: A table as the query names it, folded -> the name by which versions of the query
            agree on it, and its columns; none where they are not known.

    Raises:
        NoTreeError: sqlglot does not support it, or it is not one query.
    """
    try:
        trees = parse_statements(with_distinct_words(text, dialect), dialect)
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            raise NoTreeError("its SQL is not one query")
        tree = plain_tree(trees[0], dialect)
        return outline_of(tree, OutlineScope(tables, dialect, {}, query_rows))
    except (SqlglotError, *FORMS) as error:
        if isinstance(error, NoTreeError):
            raise
        raise NoTreeError("the SQL parser does not support its query") from error


def outline_of(tree: exp.Expr, scope: OutlineScope) -> QueryOutline:
    """The outline of a query's tree."""
    rows = _query(tree, scope, is_last=True)
    if names := spelled_names(tree, scope.dialect):
        rows = rows.with_marks(frozenset([("names as values", digest(*names))]), frozenset())
    return rows.outline()


def query_rows(tree: exp.Expr, outer: OutlineScope) -> OutlineRows:
    """The rows of a query within another."""
    return _query(tree, outer)


def _query(tree: exp.Expr, outer: OutlineScope, *, is_last: bool = False) -> OutlineRows:
    """The rows of a query.

    Args:
        is_last: Nothing reads it in the same statement, so that ORDER BY alone decides nothing.
    """
    ctes = dict(outer.ctes)
    clause = tree.args.get("with_")
    rest, costs = clause_marks(clause, {"expressions", "recursive"}, outer)
    is_recursive = bool(clause and clause.args.get("recursive"))
    waiting = [outer.key(cte.args["alias"].this) for cte in clause.expressions] if clause else []
    for cte in clause.expressions if clause else ():
        name, scope = waiting.pop(0), outer.inner(dict(ctes))
        if is_recursive:
            _assert_behind(cte, waiting, scope)
            itself = digest("recursive")
            rows = OutlineRows(itself, others=(itself,), sources=frozenset([itself]))
            scope.ctes = {**ctes, name: rename_columns(rows, cte.args["alias"], scope)}
        cte_rows = query_rows(cte.this, scope)
        cte_rows = cte_rows.with_marks(*clause_marks(cte, {"this", "alias"}, scope))
        ctes[name] = rename_columns(cte_rows, cte.args["alias"], scope)
    scope = outer.inner(ctes)
    if isinstance(tree, exp.Select):
        rows = _select(tree, scope, is_last=is_last)
    elif isinstance(tree, exp.Subquery):
        rows = _with_limits(tree, _subquery(tree, scope), scope, _OF_SUBQUERY, is_last=is_last)
    elif isinstance(tree, exp.SetOperation):
        rows = _with_limits(tree, _set_operation(tree, scope), scope, _OF_SET, is_last=is_last)
    else:
        rows = source_rows(tree, scope)
    return rows.with_marks(rest, costs)


def _assert_behind(cte: exp.CTE, later: Collection[str], scope: OutlineScope) -> None:
    """Of what stands behind it, WITH RECURSIVE lets a CTE read in some dialects."""
    for table in cte.find_all(exp.Table) if later else ():
        if len(table.parts) == 1 and scope.key(table.this) in later:
            raise NoTreeError("a recursive CTE reads another that stands behind it")


def _subquery(tree: exp.Expr, scope: OutlineScope) -> OutlineRows:
    if isinstance(tree.this, exp.Query):
        return query_rows(tree.this, scope)
    sources = SelectSources(scope.inner())
    sources.add(tree.this)
    return sources.all_rows()


def _set_operation(tree: exp.SetOperation, scope: OutlineScope) -> OutlineRows:
    """UNION takes its parts in any order, and one part after another; EXCEPT does not."""
    by_name, distinct = bool(tree.args.get("by_name")), bool(tree.args.get("distinct"))
    kind = f"{tree.key} {distinct} {by_name}"
    parts = [query_rows(arm, scope) for arm in _arms(tree)]
    order = list if isinstance(tree, exp.Except) else sorted
    names = dict.fromkeys(parts[0].columns)
    if by_name:
        names = dict.fromkeys(name for part in parts for name in part.columns)
    columns = {
        name: digest(
            kind,
            *order((part.column(name) or "") if by_name else _nth(part, index) for part in parts),
        )
        for index, name in enumerate(names)
    }
    unknown = tuple(order(other for part in parts for other in part.others))
    digests = [kind, *order(part.rows for part in parts)]
    if distinct or not isinstance(tree, exp.Union):
        digests += [*columns.values(), *unknown]  # equal rows decide
    ties = [digest(part.rows, *part.columns.values(), *part.others) for part in parts]
    made = OutlineRows(
        digest(*digests),
        columns,
        unknown,
        grain=frozenset([digest(kind, str(len(parts)))]),
        # The columns of each part stand together.
        ties=frozenset([digest(kind, *order(ties))]),
        casts={
            name: cast
            for name, cast in parts[0].casts.items()
            if all(part.casts.get(name) == cast for part in parts[1:])
        },
    )
    return made.with_parts(parts)


def _nth(rows: OutlineRows, index: int) -> str:
    columns = list(rows.columns.values())
    if index < len(columns) and not rows.others:
        return columns[index]
    return digest("at", str(index), *columns, *rows.others)


def _arms(tree: exp.SetOperation) -> list[exp.Expr]:
    """The parts of a chain of the same operation, which stands deeper on its left."""
    arms: list[exp.Expr] = []
    same = ("distinct", "by_name", "side", "kind", "on")
    parts = ("this", "expression", *same)
    node: exp.Expr = tree
    while True:
        arms.append(node.args["expression"])
        left = node.args["this"]
        if (
            isinstance(tree, exp.Except)
            or type(left) is not type(tree)
            or any(left.args.get(key) != tree.args.get(key) for key in same)
            or any(value and key not in parts for key, value in left.args.items())
        ):
            return [left, *reversed(arms)]
        node = left


def _select(tree: exp.Select, scope: OutlineScope, *, is_last: bool) -> OutlineRows:
    sources = SelectSources(scope)
    if start := tree.args.get("from_"):
        sources.add(start.this)
    for join in tree.args.get("joins") or ():
        sources.join(join)
    for lateral in tree.args.get("laterals") or ():
        sources.add(lateral)
    for pivot in tree.args.get("pivots") or ():
        sources.pivot(pivot)
    for window in tree.args.get("windows") or ():
        scope.windows[scope.key(window.this)] = window_parts(window, scope)
    others, casts = add_outputs(tree, scope)
    where = _conditions(tree, ("where", "prewhere"), scope)
    scope.is_clause = True
    cuts = {digest(key, value_digest(tree.args[key], scope)) for key in _CUTS if tree.args.get(key)}
    group = {group_digest(tree, scope)} if tree.args.get("group") else set()
    having = _conditions(tree, ("having",), scope)
    last = _conditions(tree, ("qualify",), scope).union(limits := limit_digests(tree, scope))
    grain = set(_grain(tree, scope, others))
    rest, costs = (
        {*first, *second, *third}
        for first, second, third in zip(
            sources.marks,
            clause_marks(tree, _OF_SELECT, scope),
            clause_marks(start, {"this"}, scope),
            strict=True,
        )
    )
    order = order_digest(tree, scope)
    if order and tree.args.get("for_"):
        rest.add(("ORDER BY", order))
    elif order and not limits and not _keeps_first(tree):
        (costs if is_last else rest).add(("ORDER BY", order))
    windows = {expression_digest(window, scope) for window in _windows(tree)}
    rows = sources.rows(where | cuts, group)
    if having:  # as WHERE of a query around it, like QUALIFY
        rows = select_digest([rows], having)
    seen = rows
    if last or grain or rest:
        rows = select_digest([rows], last, grain, frozenset(rest))
    is_plain = seen == rows and not (cuts or group or having or windows)
    made = OutlineRows(
        rows,
        scope.aliases,
        others,
        frozenset(where | cuts | having | last),
        frozenset(sources.joins),
        frozenset(group | grain),
        rest=frozenset(rest),
        costs=frozenset(costs),
        windows=frozenset((window, seen) for window in windows),
        casts=casts,
        plain=sources.plain(where) if is_plain else None,
    )
    return made.with_parts([*sources.parts, *scope.hidden])


def _conditions(tree: exp.Select, keys: Collection[str], scope: OutlineScope) -> set[str]:
    clauses = (tree.args[key] for key in keys if tree.args.get(key))
    return {term for clause in clauses for term in conjuncts(clause.this, scope)}


def _windows(tree: exp.Select) -> Iterator[exp.Expr]:
    for expression in tree.expressions:
        for node in expression.walk(prune=lambda node: isinstance(node, exp.Query)):
            if isinstance(node, exp.Window):
                yield node


def _keeps_first(tree: exp.Expr) -> bool:
    """Whether it is DISTINCT ON, of which the order is a part."""
    distinct = tree.args.get("distinct")
    return bool(distinct and distinct.args.get("on"))


def _grain(tree: exp.Select, scope: OutlineScope, others: tuple[str, ...]) -> Iterator[str]:
    if not tree.args.get("group") and any(
        has_own(expression, (exp.AggFunc,)) for expression in tree.expressions
    ):
        yield "aggregated"
    if tree.args.get("distinct"):
        yield distinct_digest(tree, scope, others)
    for expression in tree.expressions:
        if has_own(expression, _ROW_MAKERS):
            yield expression_digest(expression.unalias(), scope)


def _with_limits(
    tree: exp.Expr,
    rows: OutlineRows,
    scope: OutlineScope,
    handled: Collection[str],
    *,
    is_last: bool,
) -> OutlineRows:
    """The rows where clauses stand behind a set operation or a subquery."""
    inner = scope.inner()
    inner.sources["_"] = rows
    inner.aliases = dict(rows.columns)
    inner.is_clause = True
    limits = set(limit_digests(tree, inner))
    if sample := tree.args.get("sample"):
        limits.add(digest("sample", value_digest(sample, inner)))
    rest, costs = map(set, clause_marks(tree, handled, inner))
    if (order := order_digest(tree, inner)) and not limits:
        (costs if is_last else rest).add(("ORDER BY", order))
    if limits:
        cut = digest("limited", rows.rows, *sorted(limits))
        rows = replace(rows, rows=cut, filters=rows.filters | limits, plain=None)
        rows = rows.with_parts(inner.hidden)
    rows = rows.with_marks(frozenset(rest), frozenset(costs))
    for pivot in tree.args.get("pivots") or ():
        rows = pivot_rows(rows, pivot, scope)
    return rows
