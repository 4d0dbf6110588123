"""A compiled query -> its outline: digests of its columns and of what decides on its rows.

A column that a query only passes on has the digest of what it comes from, so that names of CTEs,
their number, aliases, comments and layout do not count. A name that could be one of several tables
has a digest of all of these: where it is not sure, two versions differ rather than agree.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.analysis.review.node import QueryOutline
from dbt_graft.collectors.dbt.outline_scope import (
    OutlineRows,
    OutlineScope,
    OutlineTables,
    digest,
    has_own,
    rename_columns,
)
from dbt_graft.collectors.statements.columns.tree import NoTreeError

_ROW_MAKERS = (exp.UDTF, exp.Explode, exp.Posexplode, exp.Inline)
_FILTERS = ("where", "having", "qualify", "limit", "offset", "sample", "connect", "match", "top")
_UNFOLLOWED = ("sample", "when", "version", "pivots", "joins", "partition")
_FORMS = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)


def query_outline(text: str, dialect: str, tables: OutlineTables) -> QueryOutline:
    """The outline of a query.

    Args:
        dialect: By its name in sqlglot: `snowflake`.
        tables: A table as the query names it, folded -> the name by which versions of the query
            agree on it, and its columns, folded; none where they are not known.

    Raises:
        NoTreeError: sqlglot does not support it, or it is not one query.
    """
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        parsed = sqlglot.parse(text, read=dialect)
        trees = [tree for tree in parsed if tree and not isinstance(tree, exp.Semicolon)]
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            raise NoTreeError("its SQL is not one query")
        rows = _query(trees[0], OutlineScope(tables, dialect, {}))
    except (SqlglotError, *_FORMS) as error:
        raise NoTreeError("the SQL parser does not support its query") from error
    return QueryOutline(
        columns=rows.columns,
        is_open=bool(rows.others),
        rows=rows.rows,
        filters=rows.filters,
        joins=rows.joins,
        grain=rows.grain,
        sources=rows.sources,
    )


def _query(tree: exp.Expr, outer: OutlineScope) -> OutlineRows:
    ctes = dict(outer.ctes)
    clause = tree.args.get("with_") or tree.args.get("with")
    is_recursive = bool(clause and clause.args.get("recursive"))
    for cte in clause.expressions if clause else ():
        name = cte.alias.casefold()
        if is_recursive:
            itself = digest("recursive", name)
            ctes[name] = OutlineRows(itself, others=(itself,))
        cte_rows = _query(cte.this, outer.inner(dict(ctes)))
        ctes[name] = rename_columns(cte_rows, cte.args.get("alias"))
    scope = outer.inner(ctes)
    if isinstance(tree, exp.Select):
        return _select(tree, scope)
    if isinstance(tree, exp.Subquery):
        rows = _query(tree.this, scope)
    elif isinstance(tree, exp.SetOperation):
        rows = _set_operation(tree, scope)
    else:
        rows = _unfollowed_rows(tree, scope)
    return _limit_rows(tree, rows, scope)


def _set_operation(tree: exp.SetOperation, scope: OutlineScope) -> OutlineRows:
    left, right = _query(tree.left, scope), _query(tree.right, scope)
    kind = f"{tree.key} {bool(tree.args.get('distinct'))} {bool(tree.args.get('by_name'))}"
    others = list(right.columns.values())
    columns = {
        name: digest(kind, column, others[index] if index < len(others) else "", *right.others)
        for index, (name, column) in enumerate(left.columns.items())
    }
    unknown = left.others + right.others
    parts = [kind, left.rows, right.rows]
    if tree.args.get("distinct") or not isinstance(tree, exp.Union):
        parts += [*columns.values(), *unknown]  # equal rows decide
    rows = digest(*parts)
    return OutlineRows(rows, columns, unknown, grain=frozenset([rows])).with_parts([left, right])


def _select(tree: exp.Select, scope: OutlineScope) -> OutlineRows:
    start = tree.args.get("from_") or tree.args.get("from")
    parts = [_source(start.this, scope)] if start else []
    joins = []
    for join in tree.args.get("joins") or ():
        parts.append(_source(join.this, scope))
        kind = [str(join.args.get(key) or "").upper() for key in ("method", "side", "kind")]
        kind = ["" if word in ("INNER", "OUTER") else word for word in kind]
        conditions = [join.args.get("on"), join.args.get("match_condition")]
        keys = [_expression(condition, scope) for condition in conditions if condition]
        keys += [column.name.casefold() for column in join.args.get("using") or ()]
        joins.append(digest(*kind, parts[-1].rows, *keys))
    parts += [_source(lateral, scope) for lateral in tree.args.get("laterals") or ()]
    columns, others = _outputs(tree, scope)
    filters = [_clause(tree, key, scope) for key in _FILTERS if tree.args.get(key)]
    if tree.args.get("limit") and tree.args.get("order"):
        filters.append(_clause(tree, "order", scope))
    grain = [_clause(tree, "group", scope)] if tree.args.get("group") else []
    if tree.args.get("distinct"):
        grain.append(digest("distinct", *columns.values(), *others))
    grain += [
        _expression(expression, scope)
        for expression in tree.expressions
        if has_own(expression, _ROW_MAKERS)
    ]
    if not tree.args.get("group") and any(
        has_own(expression, (exp.AggFunc,)) for expression in tree.expressions
    ):
        grain.append("aggregated")
    part_rows = [part.rows for part in parts]
    clauses = [*joins, *filters, *grain]
    rows = (
        part_rows[0]
        if len(part_rows) == 1 and not clauses
        else digest("select", *part_rows, *clauses)
    )
    outline = OutlineRows(
        rows, columns, others, frozenset(filters), frozenset(joins), frozenset(grain)
    )
    return outline.with_parts([*parts, *scope.hidden])


def _outputs(tree: exp.Select, scope: OutlineScope) -> tuple[dict[str, str], tuple[str, ...]]:
    """The columns of a SELECT, and the tables behind a `*` that could not be followed."""
    columns = scope.aliases
    others: list[str] = []
    for index, expression in enumerate(tree.expressions):
        star = expression.this if isinstance(expression, exp.Column) else expression
        if not isinstance(star, exp.Star):
            columns[(expression.alias_or_name or f"_{index}").casefold()] = _expression(
                expression.unalias(), scope
            )
            continue
        table = expression.table.casefold() if isinstance(expression, exp.Column) else ""
        sources = [source for key, source in scope.sources.items() if table in ("", key)]
        left_out = star.args.get("except_") or star.args.get("except") or []
        names = {name.name.casefold() for name in left_out}
        for source in sources:
            columns |= {
                name: column for name, column in source.columns.items() if name not in names
            }
        unknown = [other for source in sources for other in source.others]
        unknown = (
            [digest("without", other, *sorted(names)) for other in unknown] if names else unknown
        )
        if star.args.get("replace") or star.args.get("rename") or not sources:
            unknown = [_expression(star, scope), table, *unknown]
        others += unknown
    return columns, tuple(others)


def _source(tree: exp.Expr, scope: OutlineScope) -> OutlineRows:
    """A table, CTE, subquery or function of FROM or JOIN, which can be named from then on."""
    plain = not any(tree.args.get(key) for key in _UNFOLLOWED)
    if plain and isinstance(tree, exp.Table) and isinstance(tree.this, exp.Identifier):
        rows = scope.table(tree)
    elif plain and isinstance(tree, exp.Subquery):
        rows = _query(tree, scope)
    else:
        rows = _unfollowed_rows(tree, scope)
    twin = sum(source.rows == rows.rows for source in scope.sources.values())
    if twin:  # of a table that is joined to itself, the two sides differ
        columns = {name: digest("twin", str(twin), column) for name, column in rows.columns.items()}
        others = tuple(digest("twin", str(twin), other) for other in rows.others)
        rows = replace(rows, columns=columns, others=others)
    rows = rename_columns(rows, tree.args.get("alias"))
    scope.sources[tree.alias_or_name.casefold() or f"_{len(scope.sources)}"] = rows
    return rows


def _unfollowed_rows(tree: exp.Expr, scope: OutlineScope) -> OutlineRows:
    """Something that makes rows in a way that is not followed: it counts as it is written."""
    rows = _expression(tree, scope)
    return OutlineRows(rows, others=(rows,), grain=frozenset([rows]))


def _limit_rows(tree: exp.Expr, query_rows: OutlineRows, scope: OutlineScope) -> OutlineRows:
    """The rows where LIMIT stands behind a set operation or a subquery."""
    scope.sources["_"] = query_rows
    limits = [_clause(tree, key, scope) for key in ("limit", "offset") if tree.args.get(key)]
    if limits and tree.args.get("order"):
        limits.append(_clause(tree, "order", scope))
    if not limits:
        return query_rows
    rows = digest(query_rows.rows, *limits)
    limited = OutlineRows(rows, query_rows.columns, query_rows.others, frozenset(limits))
    return limited.with_parts([query_rows])


def _clause(tree: exp.Expr, key: str, scope: OutlineScope) -> str:
    """The digest of a clause; a number in it that stands for a column counts as this."""
    value = tree.args[key]
    columns = list(scope.aliases.values())
    parts = [key]
    for part in value if isinstance(value, list) else [value]:
        if key != "group":
            condition = part.this if key in ("where", "having", "qualify") else part
            parts.append(_expression(condition, scope))
            parts += columns if key == "order" else []
            continue
        for column in part.expressions:
            number = int(column.name) if column.is_int else 0
            parts.append(
                columns[number - 1] if 0 < number <= len(columns) else _expression(column, scope)
            )
        for name, arg in part.args.items():
            if name != "expressions" and arg:
                others = arg if isinstance(arg, list) else [arg]
                parts.append(name)
                parts += [
                    _expression(term, scope) if isinstance(term, exp.Expr) else str(term)
                    for term in others
                ]
    return digest(*parts)


def _expression(tree: exp.Expr, scope: OutlineScope) -> str:
    """The digest of an expression; that of a column is the column's own."""
    if isinstance(tree, exp.Paren):
        return _expression(tree.this, scope)
    if isinstance(tree, exp.Column) and not tree.is_star:
        return scope.column(tree.name.casefold(), tree.table.casefold())
    root = tree.copy()

    def resolve(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.is_star:
            return exp.var(scope.column(node.name.casefold(), node.table.casefold()))
        if isinstance(node, exp.Query):
            rows = _query(node, scope)
            scope.hidden.append(rows)
            return exp.var(digest("query", rows.rows, *rows.columns.values(), *rows.others))
        if (
            node is not root
            and isinstance(node, exp.Table)
            and isinstance(node.this, exp.Identifier)
        ):
            rows = scope.table(node)
            scope.hidden.append(rows)
            return exp.var(rows.rows)
        return node

    changed = root.transform(resolve, copy=False)
    return digest(changed.sql(dialect=scope.dialect, comments=False, normalize=True))
