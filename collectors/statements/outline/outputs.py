"""The columns of a SELECT: each with the digest of its expression, `*` as what it stands for."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt_graft.analysis.review.node import OutlinedCast
from dbt_graft.collectors.statements.outline.expression import (
    expression_digest,
    value_digest,
)
from dbt_graft.collectors.statements.outline.keys import digest
from dbt_graft.collectors.statements.outline.scope import OutlineRows, OutlineScope, type_name


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
        elif expression.unalias().is_star or isinstance(expression.unalias(), exp.Columns):
            others.append(value_digest(expression, scope))
        elif isinstance(expression, exp.Aliases):
            made = expression_digest(expression.this, scope)
            for number, alias in enumerate(expression.aliases):
                scope.aliases[scope.key(alias)] = digest("at", str(number), made)
        else:
            name = _name(expression, scope) or f"_{index}"
            term = expression.unalias()
            value, cast = expression_digest(term, scope), _cast(term, scope)
            scope.aliases[name] = value
            if cast:
                casts[name] = cast
    return tuple(others), casts


def _name(expression: exp.Expr, scope: OutlineScope) -> str:
    if isinstance(expression, exp.Alias):
        return scope.key(expression.args.get("alias"))
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.Column | exp.Dot):
        name = expression.this if isinstance(expression, exp.Column) else expression.expression
        return scope.key(name)
    return str(expression.alias_or_name).casefold()


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
    expression: exp.Expr,
    star: exp.Expr,
    scope: OutlineScope,
    casts: dict[str, OutlinedCast],
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
    chosen = _like(pattern.name) if pattern else None
    others: list[str] = []
    explicit = {*replaced, *renamed} if any(source.others for source in sources) else set()
    for source in sources:
        names = [name for name in source.columns if not chosen or chosen.fullmatch(name.strip('"'))]
        for name in [*names, *(name for name in explicit if name not in names)]:
            if name in left_out or (name not in source.columns and not source.others):
                continue
            column = replaced.get(name) or (
                scope.column(name) if name in scope.merged else source.column(name) or ""
            )
            scope.aliases[renamed.get(name, name)] = column
            if name not in replaced and name in source.casts:
                casts[renamed.get(name, name)] = source.casts[name]
        others += _behind(source, {*left_out, *explicit}, chosen)
    return others


def _behind(source: OutlineRows, names: set[str], chosen: re.Pattern[str] | None) -> list[str]:
    marks = [chosen.pattern] if chosen else []
    if not names and not marks:
        return list(source.others)
    return [digest("without", other, *sorted(names), *marks) for other in source.others]


def _like(pattern: str) -> re.Pattern[str]:
    parts = [{"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern]
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)
