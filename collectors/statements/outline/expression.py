"""The digest of an expression by its syntax tree: equal logic has one digest.

Each argument of each node counts, whatever it is, so that nothing is lost but what is named here:
brackets, the order in which AND, OR, IN and `=` have their operands, other spellings of one
function or type, and what a CASE says twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from dbt_graft.collectors.statements.outline.keys import digest
from dbt_graft.collectors.statements.outline.rewrites import bare
from dbt_graft.collectors.statements.outline.scope import OutlineRows, OutlineScope, type_name

_FLIPPED: dict[type[exp.Expr], str] = {exp.GT: "lt", exp.GTE: "lte"}
_ORDERED: dict[type[exp.Expr], str] = {exp.LT: "lt", exp.LTE: "lte"}
_SYMMETRIC = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
# Nodes whose text is a value, of which the case of letters counts.
_TEXTS = (
    *(exp.Literal, exp.RawString, exp.National, exp.ByteString, exp.UnicodeString, exp.Heredoc),
    exp.JSONPathPart,
)
# Here fields of JSON are named like columns, by names of which the case of letters counts.
_JSON_FIELDS = frozenset({"bigquery", "oracle"})
# Arguments that say how something was written, or what is so without them.
_SPELLING = {"is_nvl", "big_int", "comments"}
_DEFAULTS = {"desc": False, "nulls_first": False, "safe": False, "quoted": False}


def expression_digest(tree: exp.Expr, scope: OutlineScope) -> str:
    """The digest of an expression; that of a column is the column's own."""
    tree = bare(tree)
    special = _SPECIAL.get(type(tree))
    if special:
        return special(tree, scope)
    if isinstance(tree, exp.Query):
        return _query(tree, scope)
    if isinstance(tree, _SYMMETRIC):
        sides = (expression_digest(side, scope) for side in (tree.this, tree.expression))
        return digest(tree.key, *sorted(sides))
    if isinstance(tree, exp.Binary) and type(bare(tree.this)) is type(tree):
        return digest(tree.key, *(expression_digest(part, scope) for part in _chain(tree)))
    return digest(tree.key, *_arguments(tree, scope))


def clause_digest(tree: exp.Expr, scope: OutlineScope, *omitted: str) -> str:
    """The digest of a node as it is written, without some of its arguments."""
    return digest(tree.key, *_arguments(tree, scope, omitted))


def value_digest(value: Any, scope: OutlineScope) -> str:
    """The digest of an argument: a node, a list of these, or a word."""
    return digest(*_value(value, scope))


def conjuncts(tree: exp.Expr | None, scope: OutlineScope) -> frozenset[str]:
    """The digests of the conditions that AND joins, without those that always hold."""
    return frozenset(_operands(tree, exp.And, scope)) if tree else frozenset()


def _arguments(tree: exp.Expr, scope: OutlineScope, omitted: tuple[str, ...] = ()) -> Iterator[str]:
    for name, value in sorted(tree.args.items()):
        if value is None or value == [] or name in _SPELLING or name in omitted:
            continue
        if name in _DEFAULTS and value is _DEFAULTS[name]:
            continue
        yield name
        yield from _value(value, scope, exact=isinstance(tree, _TEXTS))


def _value(value: Any, scope: OutlineScope, *, exact: bool = False) -> Iterator[str]:
    if isinstance(value, exp.Expr):
        yield expression_digest(value, scope)
    elif isinstance(value, list | tuple):
        yield f"[{len(value)}"
        for part in value:
            yield from _value(part, scope)
    else:
        yield str(value) if exact else str(value).casefold()


def _chain(tree: exp.Expr) -> list[exp.Expr]:
    """The operands of `a - b - c`, which stands deeper on its left the longer it is."""
    kind, operands = type(tree), []
    while type(tree) is kind:
        operands.append(tree.args["expression"])
        tree = bare(tree.args["this"])
    return [tree, *reversed(operands)]


def _operands(tree: exp.Expr, kind: type[exp.Expr], scope: OutlineScope) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        part = bare(waiting.pop())
        if type(part) is kind:
            waiting += [part.args["this"], part.args["expression"]]
        elif not _is_neutral(part, kind):
            yield expression_digest(part, scope)


def _is_neutral(tree: exp.Expr, kind: type[exp.Expr]) -> bool:
    """Whether AND with it, or OR with it, changes nothing: `1 = 1`, `true`; `false`."""
    if isinstance(tree, exp.Boolean):
        return bool(tree.this) is (kind is exp.And)
    if kind is exp.And and isinstance(tree, exp.EQ):
        left, right = tree.this, tree.expression
        return isinstance(left, exp.Literal) and left == right
    return False


def _connector(tree: exp.Expr, scope: OutlineScope) -> str:
    operands = set(_operands(tree, type(tree), scope))
    if len(operands) == 1:
        return operands.pop()
    return digest(tree.key, *sorted(operands))


def _less(tree: exp.Expr, scope: OutlineScope) -> str:
    sides = [expression_digest(side, scope) for side in (tree.this, tree.args["expression"])]
    if type(tree) in _FLIPPED:
        return digest(_FLIPPED[type(tree)], sides[1], sides[0])
    return digest(_ORDERED[type(tree)], *sides)


def _column(tree: exp.Column, scope: OutlineScope) -> str:
    if isinstance(tree.this, exp.Star):
        return _star(tree.this, scope, scope.key(tree.args.get("table")))
    table = tree.args.get("table")
    column = scope.column(scope.key(tree.this), scope.key(table))
    path = [tree.text(part).casefold() for part in ("catalog", "db") if tree.text(part)]
    if path and not scope.has_source(scope.key(table)):
        column = digest("path", *path, column)
    if table and scope.dialect in _JSON_FIELDS and not scope.has_source(scope.key(table)):
        column = digest("field", tree.name, column)
    if tree.args.get("join_mark"):
        column = digest("join mark", column)
    return column


def _star(tree: exp.Star, scope: OutlineScope, table: str = "") -> str:
    """The columns of all sources, or of one, as the value of a function: `to_json(struct(*))`."""
    return digest("star", *scope.star(table), *_arguments(tree, scope))


def _dot(tree: exp.Dot, scope: OutlineScope) -> str:
    name = tree.expression
    if scope.dialect in _JSON_FIELDS and isinstance(name, exp.Identifier):
        return digest("field", name.name, expression_digest(tree.this, scope))
    return digest(tree.key, *_arguments(tree, scope))


def _struct(tree: exp.Struct, scope: OutlineScope) -> str:
    """A struct, of which JSON has the names of the fields as they are written."""
    fields = (
        digest(field.name, expression_digest(field.expression, scope))
        if isinstance(field, exp.PropertyEQ)
        else digest(field.alias, expression_digest(field.unalias(), scope))
        for field in tree.expressions
    )
    return digest(tree.key, *fields, *_arguments(tree, scope, ("expressions",)))


def followed(tree: exp.Expr, scope: OutlineScope) -> OutlineRows:
    """The rows of a query that may name columns of the query around it.

    Where it does, its own columns that are like those of that query are others.
    """
    around = scope.inner()
    rows = scope.follow(tree, around)
    if around.is_named:
        around = scope.inner()
        around.others = scope.visible_sources()
        rows = scope.follow(tree, around)
    return rows


def _query(tree: exp.Expr, scope: OutlineScope) -> str:
    rows = followed(tree, scope)
    scope.hidden.append(rows)
    # FOR JSON and SELECT AS STRUCT give names, too.
    select = tree.unnest()
    named = select.args.get("for_") or select.args.get("kind")
    columns = rows.named_columns() if named else [*rows.columns.values(), *rows.others]
    return digest("query", rows.rows, *columns)


def _exists(tree: exp.Expr, scope: OutlineScope) -> str:
    """EXISTS asks for rows, whatever they have."""
    if not isinstance(tree.this, exp.Query) or tree.args.get("expression"):
        return digest(tree.key, *_arguments(tree, scope))
    rows = followed(tree.this, scope)
    scope.hidden.append(rows)
    return digest("exists", rows.rows)


def _table(tree: exp.Table, scope: OutlineScope) -> str:
    if not isinstance(tree.this, exp.Identifier):
        return digest(tree.key, *_arguments(tree, scope))
    rows = scope.table(tree)
    scope.hidden.append(rows)
    return digest(rows.rows, *_arguments(tree, scope, ("this", "db", "catalog", "alias")))


def _in(tree: exp.Expr, scope: OutlineScope) -> str:
    values = sorted({expression_digest(value, scope) for value in tree.expressions})
    return digest("in", *values, *_arguments(tree, scope, ("expressions",)))


def _count(tree: exp.Expr, scope: OutlineScope) -> str:
    """`count(1)` counts rows like `count(*)`; so does `count(?)`, where literals are left out."""
    counted = tree.this
    is_number = isinstance(counted, exp.Literal) and not counted.is_string
    if not tree.expressions and (is_number or isinstance(counted, exp.Star | exp.Placeholder)):
        return digest("count", "rows")
    return digest("count", *_arguments(tree, scope))


def _case(tree: exp.Expr, scope: OutlineScope) -> str:
    """CASE and IF, without branches that say nothing; where it is COALESCE, as this."""
    branches: list[exp.Expr] = []
    default: exp.Expr | None = tree
    base = tree.this if isinstance(tree, exp.Case) else None
    while isinstance(default, exp.Case | exp.If | exp.Paren):
        if isinstance(default, exp.Paren):
            default = default.this
        elif isinstance(default, exp.If) and base is None:
            branches.append(default)
            default = default.args.get("false")
        elif isinstance(default, exp.Case) and (default is tree or not (base or default.this)):
            branches += default.args["ifs"]
            default = default.args.get("default")
        else:
            break
    default = None if isinstance(default, exp.Null) else default
    if base is None and len(branches) == 1 and (parts := _coalesced(branches[0], default)):
        return _coalesce_parts(list(parts), scope)
    parts_digests = [expression_digest(base, scope)] if base else []
    for branch in branches:
        parts_digests += [
            expression_digest(branch.this, scope),
            expression_digest(branch.args["true"], scope),
        ]
    ending = expression_digest(default, scope) if default else ""
    return digest("case", str(base is not None), *parts_digests, "else", ending)


def _coalesced(branch: exp.Expr, default: exp.Expr | None) -> tuple[exp.Expr, ...] | None:
    """The arguments of COALESCE that a CASE with one branch stands for."""
    condition, value = bare(branch.this), bare(branch.args["true"])
    if isinstance(value, exp.Boolean) and value.this and isinstance(default, exp.Boolean):
        is_boolean = isinstance(condition, exp.Predicate | exp.Connector | exp.Not)
        return (condition, default) if is_boolean and not default.this else None
    is_not = isinstance(condition, exp.Not)
    test = bare(condition.this) if is_not else condition
    if not (isinstance(test, exp.Is) and isinstance(test.expression, exp.Null)):
        return None
    tested, other = bare(test.this), bare(default) if default else None
    value_of, instead = (value, other) if is_not else (other, value)
    if value_of != tested:
        return None
    is_null = instead is None or isinstance(instead, exp.Null)
    return (tested,) if is_null else (tested, instead)  # type: ignore[return-value]


def _coalesce(tree: exp.Expr, scope: OutlineScope) -> str:
    if tree.args.get("is_null"):
        return digest("isnull", *_arguments(tree, scope))
    return _coalesce_parts([tree.this, *tree.expressions], scope)


def _coalesce_parts(parts: list[exp.Expr], scope: OutlineScope) -> str:
    digests = [expression_digest(part, scope) for part in parts]
    return digests[0] if len(digests) == 1 else digest("coalesce", *digests)


def _type(tree: exp.Expr, scope: OutlineScope) -> str:
    return digest("type", type_name(tree, scope.dialect))


def _convert(tree: exp.Expr, scope: OutlineScope) -> str:
    """T-SQL's `CONVERT(int, x)` is a CAST unless it has a style."""
    kind, value = tree.this, tree.args["expression"]
    if tree.args.get("style") or not isinstance(kind, exp.DataType):
        return digest(tree.key, *_arguments(tree, scope))
    key = exp.TryCast.key if tree.args.get("safe") else exp.Cast.key
    return digest(key, "this", expression_digest(value, scope), "to", _type(kind, scope))


def _window(tree: exp.Expr, scope: OutlineScope) -> str:
    """A function over a window; a named window stands for its definition."""
    parts = [part for pair in sorted(window_parts(tree, scope).items()) for part in pair]
    return digest("window", expression_digest(tree.this, scope), *parts)


def window_parts(tree: exp.Expr, scope: OutlineScope) -> dict[str, str]:
    """The parts of a window, without the function or the name in front of it."""
    name = tree.args.get("alias")
    known = scope.windows.get(scope.key(name), {"alias": scope.key(name)}) if name else {}
    own = {
        key: value_digest(value, scope)
        for key, value in tree.args.items()
        if key not in ("this", "alias", "over") and value is not None and value != []
    }
    if parts := tree.args.get("partition_by"):
        own["partition_by"] = digest(*sorted({expression_digest(part, scope) for part in parts}))
    return {**known, **own}


_SPECIAL: dict[type[exp.Expr], Callable[[Any, OutlineScope], str]] = {
    exp.Column: _column,
    exp.Star: _star,
    exp.Dot: _dot,
    exp.Struct: _struct,
    exp.Identifier: lambda tree, scope: digest("name", scope.key(tree)),
    exp.Table: _table,
    exp.And: _connector,
    exp.Or: _connector,
    exp.LT: _less,
    exp.LTE: _less,
    exp.GT: _less,
    exp.GTE: _less,
    exp.In: _in,
    exp.Exists: _exists,
    exp.Count: _count,
    exp.Case: _case,
    exp.If: _case,
    exp.Coalesce: _coalesce,
    exp.DataType: _type,
    exp.Convert: _convert,
    exp.Window: _window,
}
