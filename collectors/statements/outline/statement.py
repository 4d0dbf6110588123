"""A captured statement -> its outline, as that of a model's query: its columns, filters and joins.

Literals are not in it, and were not in the text: `amount > 10` and `amount > 5` have one outline.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import SqlglotError, TokenError

from dbt_graft.analysis.review.node import QueryOutline
from dbt_graft.collectors.statements.columns.rewrites import left_out, make_readable
from dbt_graft.collectors.statements.columns.statement_tokens import StatementTokens
from dbt_graft.collectors.statements.columns.tree import NoTreeError, syntax_tree
from dbt_graft.collectors.statements.outline.clauses import clause_marks, flat
from dbt_graft.collectors.statements.outline.distinct_words import with_distinct_words
from dbt_graft.collectors.statements.outline.expression import (
    conjuncts,
    expression_digest,
    value_digest,
)
from dbt_graft.collectors.statements.outline.keys import digest
from dbt_graft.collectors.statements.outline.query import FORMS, outline_of, query_rows
from dbt_graft.collectors.statements.outline.rewrites import plain_tree
from dbt_graft.collectors.statements.outline.scope import Marks, OutlineRows, OutlineScope
from dbt_graft.collectors.statements.outline.sources import SelectSources
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.tokens import tokenise

# Dates and random ids in the names of tables that live as long as a run.
_OF_A_RUN = re.compile(
    r"\d{4}_?\d\d_?\d\d(?:_?\d)*|\d{6,}|[0-9a-f]{8}_?[0-9a-f]{4}_?[0-9a-f]{4}(?:_?[0-9a-f])*"
)
_SETTING = {"this", "expression", "properties", "exists", "replace", "with_", "kind"}


def statement_outline(text: str, dialect: Dialect) -> QueryOutline:
    """The outline of a statement without its literals.

    Its columns are sorted where their order says nothing.

    Raises:
        NoTreeError: sqlglot does not support it.
    """
    try:
        tree, omitted = _tree(with_distinct_words(text, dialect.value), dialect)
        tree = plain_tree(tree, dialect.value)
        scope = OutlineScope(_table, dialect.value, {}, query_rows)
        outline = _FORMS.get(type(tree), _other)(tree, scope)
    except (SqlglotError, TokenError, *FORMS) as error:
        if isinstance(error, NoTreeError):
            raise
        raise NoTreeError("the SQL parser does not support this statement") from error
    if not _goes_by_place(tree):
        outline = replace(outline, columns=dict(sorted(outline.columns.items())))
    return _marked(outline, omitted) if omitted else outline


def _goes_by_place(tree: exp.Expr) -> bool:
    """Whether the order of its columns says which goes where: INSERT without their names."""
    return (
        isinstance(tree, exp.Insert)
        and not isinstance(tree.this, exp.Schema)
        and not tree.args.get("by_name")
    )


def _tree(text: str, dialect: Dialect) -> tuple[exp.Expr, Marks]:
    """The tree, and what had to be left out of the text."""
    tokens = tokenise(text, dialect)
    try:
        return syntax_tree(text, tokens, dialect), frozenset()
    except NoTreeError:
        if dialect is not Dialect.TSQL:
            raise
    omitted = [
        " ".join(token.word for token in tokens[first:behind])
        for first, behind, _ in left_out(StatementTokens(text, tokens))
    ]
    tree = syntax_tree(make_readable(text, tokens), tokens, dialect)
    return tree, frozenset((words.split(" ")[0], digest(words)) for words in omitted if words)


def _table(name: Name) -> tuple[str, tuple[str, ...]]:
    return ".".join(_OF_A_RUN.sub("0", part) for part in name), ()


def _marked(outline: QueryOutline, rest: Marks) -> QueryOutline:
    return replace(outline, rows=digest(outline.rows, *flat(rest)), rest=outline.rest | rest)


def _query(tree: exp.Expr, scope: OutlineScope) -> QueryOutline:
    tree.set("into", None)
    return outline_of(tree, scope)


def _writing(tree: exp.Expr, scope: OutlineScope) -> QueryOutline:
    """INSERT or CREATE … AS SELECT; the columns that INSERT names are those of the output."""
    if not isinstance(tree.expression, exp.Query):
        return _other(tree, scope)
    if clause := tree.args.get("with_"):
        tree.expression.set("with_", clause)
    outline = outline_of(tree.expression, scope)
    rest, _ = clause_marks(tree, _SETTING, scope)
    names = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    columns: Mapping[str, str] = outline.columns
    if names and not outline.is_open:
        keys = [scope.key(getattr(name, "this", name)) for name in names]
        columns = dict(zip(keys, columns.values(), strict=False))
    costs = outline.costs
    if stored := tree.args.get("properties"):
        costs |= {("how the table is stored", value_digest(stored, scope))}
    return _marked(replace(outline, columns=columns, casts={}, costs=costs), rest)


def _update(tree: exp.Expr, scope: OutlineScope) -> QueryOutline:
    sources = SelectSources(scope)
    if start := tree.args.get("from_"):
        sources.add(start.this)
    place = _source_of_name(tree.this, scope)
    if place is None:
        sources.add(tree.this)
    elif place:  # of several that are one table
        sources.joins.append(digest("target", str(place)))
    columns = dict(_assigned(tree.expressions, "", scope))
    handled = {"this", "expressions", "from_", "where"}
    return _changed(tree, sources, columns, handled, scope)


def _source_of_name(target: exp.Expr, scope: OutlineScope) -> int | None:
    """The place of the source that UPDATE means by its name, among those of the same table."""
    if not isinstance(target, exp.Table) or target.args.get("db"):
        return None
    key = scope.key(target.this)
    if key not in scope.sources:
        return None
    rows = scope.sources[key].rows
    return [name for name, other in scope.sources.items() if other.rows == rows].index(key)


def _delete(tree: exp.Expr, scope: OutlineScope) -> QueryOutline:
    sources = SelectSources(scope)
    for source in [tree.this, *(tree.args.get("using") or ())]:
        sources.add(source)
    # `DELETE TOP (5) FROM t` is parsed as if `top` was one of the tables that lose rows.
    tables = [table for table in tree.args.get("tables") or () if table.args.get("alias")]
    cuts = {digest("top", table.sql()) for table in tables}
    return _changed(tree, sources, {}, {"this", "using", "where", "tables"}, scope, cuts)


def _merge(tree: exp.Expr, scope: OutlineScope) -> QueryOutline:
    sources = SelectSources(scope)
    sources.add(tree.this)
    sources.add(tree.args["using"])
    sources.joins.append(digest("on", *sorted(conjuncts(tree.args.get("on"), scope))))
    columns: dict[str, str] = {}
    filters: set[str] = set()
    whens = tree.args.get("whens")
    for when in whens.expressions if whens else tree.expressions:
        case = digest(*(str(bool(when.args.get(key))) for key in ("matched", "source")))
        condition = digest("when", case, *sorted(conjuncts(when.args.get("condition"), scope)))
        action = when.args.get("then")
        filters.add(digest(condition, action.key if isinstance(action, exp.Expr) else str(action)))
        if isinstance(action, exp.Update):
            columns |= dict(_assigned(action.expressions, condition, scope, columns))
        elif isinstance(action, exp.Insert):
            names = action.this.expressions if isinstance(action.this, exp.Tuple) else []
            values = getattr(action.expression, "expressions", [])
            if len(names) != len(values):
                filters.add(value_digest(action, scope))
            for name, value in zip(names, values, strict=False):
                key = scope.key(name.this if isinstance(name, exp.Column) else name)
                columns[key] = digest(
                    columns.get(key, ""), condition, expression_digest(value, scope)
                )
        else:
            filters.add(value_digest(action, scope))
    handled = {"this", "using", "on", "whens", "expressions"}
    return _changed(tree, sources, columns, handled, scope, filters)


def _assigned(
    terms: list[exp.Expr],
    condition: str,
    scope: OutlineScope,
    before: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, str]]:
    for term in terms:
        target = term.this
        name = scope.key(target.this if isinstance(target, exp.Column) else target)
        value = value_digest(term.args.get("expression"), scope)
        yield name, digest((before or {}).get(name, ""), condition, term.key, value)


def _changed(
    tree: exp.Expr,
    sources: SelectSources,
    columns: Mapping[str, str],
    handled: set[str],
    scope: OutlineScope,
    filters: set[str] | None = None,
) -> QueryOutline:
    where = tree.args.get("where")
    conditions = sources.conditions.union(filters or ())
    conditions |= conjuncts(where.this, scope) if where else set()
    rest, _ = clause_marks(tree, handled, scope)
    rows = digest(tree.key, *sources.shape(), "/", *sources.joins, "/", *sorted(conditions))
    made = OutlineRows(
        digest(rows, *flat(rest)),
        dict(columns),
        filters=frozenset(conditions),
        joins=frozenset(sources.joins),
        rest=rest,
    ).with_parts([*sources.parts, *scope.hidden])
    return replace(made.outline(), costs=frozenset())


def _other(tree: exp.Expr, scope: OutlineScope) -> QueryOutline:
    rows = value_digest(tree, scope)
    return QueryOutline({}, False, rows, rest=frozenset([(tree.key.upper(), rows)]))


_FORMS: dict[type[exp.Expr], Callable[[exp.Expr, OutlineScope], QueryOutline]] = {
    exp.Select: _query,
    exp.Union: _query,
    exp.Except: _query,
    exp.Intersect: _query,
    exp.Subquery: _query,
    exp.Insert: _writing,
    exp.Create: _writing,
    exp.Update: _update,
    exp.Delete: _delete,
    exp.Merge: _merge,
}
