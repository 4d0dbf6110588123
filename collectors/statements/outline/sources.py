"""Tables, subqueries, functions and joins of a FROM: the rows that they make together."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from dbt_graft.collectors.statements.outline.clauses import clause_marks, flat
from dbt_graft.collectors.statements.outline.expression import (
    clause_digest,
    conjuncts,
    expression_digest,
    followed,
    value_digest,
)
from dbt_graft.collectors.statements.outline.keys import digest
from dbt_graft.collectors.statements.outline.scope import (
    Marks,
    OutlineRows,
    OutlineScope,
    add_column,
    rename_columns,
)

# sqlglot makes names of the text of a value, with a comment that stands behind it.
_COMMENT = re.compile(r" /\*.*?\*/", re.DOTALL)
# How a dialect makes names of columns, which the tree has made already.
_NAMING = {"identify_pivot_strings", "prefixed_pivot_columns", "pivot_column_naming"}
# The names that it gives, of which the columns are made of the text of its values.
_MADE = ("alias", "columns")
_HANDLED = {"expressions", "fields", "unpivot", *_MADE, *_NAMING}


def pivot_rows(source: OutlineRows, pivot: exp.Expr, scope: OutlineScope) -> OutlineRows:
    """The rows of a PIVOT.

    With one list of values and known columns: those that it does not use, by which it groups, and
    a column for each value. Else it counts as it is written.
    """
    inner = scope.inner()
    inner.sources["_"] = source
    fields, aggregates = pivot.args.get("fields") or [], pivot.expressions
    columns = pivot.args.get("columns") or ()
    names = [_COMMENT.sub("", identifier.name).casefold() for identifier in columns]
    values = fields[0].expressions if len(fields) == 1 and isinstance(fields[0], exp.In) else []
    is_plain = not any(value for key, value in pivot.args.items() if key not in _HANDLED)
    is_plain = is_plain and not any(value.find(exp.Query) for value in values)
    if (
        pivot.args.get("unpivot")
        or source.others
        or not is_plain
        or not values
        or len(names) != len(values) * len(aggregates)
    ):
        # The names of columns become values.
        turned = source.named_columns() if pivot.args.get("unpivot") else source.columns.values()
        names = [column.name for value in values for column in value.find_all(exp.Identifier)]
        rows = digest("pivot", source.rows, *turned, clause_digest(pivot, inner, *_MADE), *names)
        made = OutlineRows(rows, others=(rows,), grain=frozenset([rows]))
        return made.with_parts([source, *inner.hidden])
    used = {
        inner.key(column.this)
        for part in (*aggregates, fields[0].this)
        for column in part.find_all(exp.Column)
    }
    used |= {inner.key(fields[0].this)} if isinstance(fields[0].this, exp.Identifier) else set()
    grouped = {name: column for name, column in source.columns.items() if name not in used}
    rows = digest("pivot", source.rows, *sorted(grouped.values()))
    switch = expression_digest(fields[0].this, inner)
    totals = [value_digest(each.unalias(), inner) for each in aggregates]
    made_columns = dict(grouped)
    for index, name in enumerate(names):
        value = values[index // len(aggregates)]
        shown = value_digest(value.this if isinstance(value, exp.PivotAlias) else value, inner)
        total = totals[index % len(totals)]
        add_column(made_columns, name, digest("pivoted", rows, switch, shown, total))
    made = OutlineRows(rows, made_columns, grain=frozenset([rows]))
    return made.with_parts([source, *inner.hidden])


_INNER = ("", "INNER", "OUTER", "CROSS", "STRAIGHT", "STRAIGHT_JOIN")
_ONE_SIDED = ("SEMI", "ANTI")
_OF_JOIN = {"this", "on", "side", "kind", "using", "method", "match_condition", "expressions"}
_OF_TABLE = {"this", "db", "catalog", "alias", "joins", "pivots", "sample", "only", "partition"}
_VERSIONS = ("version", "when", "changes", "system_time")


class SelectSources:
    """The sources of a SELECT, which its scope can name from then on.

    Inner joins are sources in any order, and conditions: `from a, b where a.id = b.id`. With an
    outer join, the order counts; so it does where columns of two sources have the same digest but
    for the number of the later one.

    Attributes:
        joins: The digest of each join, in order.
        marks: Clauses that may decide on rows, and those that decide on how.
    """

    def __init__(self, scope: OutlineScope) -> None:
        self._scope = scope
        self.parts: list[OutlineRows] = []
        self.joins: list[str] = []
        self.marks: tuple[Marks, Marks] = (frozenset(), frozenset())
        self._conditions: set[str] = set()
        self._is_plain = True
        self._has_order = False

    @property
    def conditions(self) -> set[str]:
        """The conditions of joins, as far as they are inner ones."""
        if not self._is_plain:
            return set()
        within = (part.plain[1] for part in self.parts if part.plain)
        return self._conditions.union(*within)

    def shape(self) -> list[str]:
        """The digests of all that is joined, and how."""
        if not self._is_plain:
            return [*(part.rows for part in self.parts), "/", *self.joins]
        shape = (part.plain[0] if part.plain else [part.rows] for part in self.parts)
        rows = [each for rows in shape for each in rows]
        return rows if self._has_order else sorted(rows)

    def rows(self, filters: Collection[str], grain: Collection[str]) -> str:
        """The digest of the rows that are left of them."""
        conditions = self.conditions.union(filters)
        is_alone = len(self.parts) == 1 and not self.joins
        if is_alone and not conditions and not grain:
            return self.parts[0].rows
        return select_digest(self.shape(), conditions, grain)

    def plain(self, filters: Collection[str]) -> tuple[tuple[str, ...], frozenset[str]] | None:
        """The sources and the conditions, if these say all of the rows."""
        if not self._is_plain or self._has_order or self.marks[0]:
            return None
        return tuple(self.shape()), frozenset(self.conditions.union(filters))

    def all_rows(self) -> OutlineRows:
        """The sources as one."""
        if len(self.parts) == 1 and not self.joins:
            return self.parts[0]
        rows = digest("group", *self.shape(), "/", *sorted(self.conditions))
        columns: dict[str, str] = {}
        for part in self.parts:
            columns |= part.columns
        others = tuple(other for part in self.parts for other in part.others)
        joined = OutlineRows(
            rows, columns, others, joins=frozenset(self.joins), plain=self.plain(())
        )
        return joined.with_parts(self.parts).with_marks(*self.marks)

    def add(self, tree: exp.Expr) -> OutlineRows:
        """Add a table, subquery or function, with the joins that stand in its brackets."""
        inside = tree
        while isinstance(inside, exp.Paren) or (
            isinstance(inside, exp.Subquery)
            and isinstance(inside.this, exp.Table | exp.Subquery)
            and not any(value for key, value in inside.args.items() if key != "this")
        ):
            inside = inside.this
        nested = inside.args.get("joins") if isinstance(inside, exp.Table) else None
        if nested:
            group = SelectSources(self._scope)
            group.add_rows(self._named(inside))
            for join in nested:
                group.join(join)
            rows = group.all_rows()
            self._has_order |= group._has_order
        else:
            rows = self._named(inside)
        return self.add_rows(rows)

    def add_rows(self, rows: OutlineRows) -> OutlineRows:
        """Add rows that are known."""
        self.parts.append(rows)
        return rows

    def join(self, join: exp.Expr) -> None:
        """Add what a JOIN adds."""
        words = [str(join.args.get(key) or "").upper() for key in ("method", "side", "kind")]
        words = [word for word in words if word not in _INNER]
        using = [self._scope.key(name) for name in join.args.get("using") or ()]
        left = {name: self._scope.column(name) for name in using}
        before = dict(self._scope.sources)
        right = self.add(join.this)
        natural = "NATURAL" in words
        if natural:
            known = {
                name: column for rows in before.values() for name, column in rows.columns.items()
            }
            using = sorted(known.keys() & right.columns.keys())
            left = {name: self._scope.merged.get(name, known[name]) for name in using}
        terms = set(conjuncts(join.args.get("on"), self._scope))
        for name in using:
            other = right.column(name) or digest("unknown", name)
            terms.add(digest(exp.EQ.key, *sorted((left[name], other))))
            self._scope.merged[name] = _merged(words, left[name], other)
        keys = [
            digest(key, value_digest(join.args[key], self._scope))
            for key in ("match_condition", "expressions")
            if join.args.get(key)
        ]
        rest, costs = clause_marks(join, _OF_JOIN, self._scope)
        self.marks = self.marks[0] | rest, self.marks[1] | costs
        if words or keys:
            self._is_plain = False
        self._conditions |= terms
        self.joins.append(digest(*words, right.rows, "on", *sorted(terms), *keys))
        if any(word in _ONE_SIDED for word in words):
            for key, rows in list(self._scope.sources.items()):
                if rows is right:
                    del self._scope.sources[key]
        is_outer_apply = join.this.args.get("cross_apply") is False
        self._extend(["LEFT"] if is_outer_apply else words, before)

    def _extend(self, words: Collection[str], before: Collection[str]) -> None:
        """Note the sources of which an outer join may have no row."""
        sides = {"LEFT": [False], "RIGHT": [True], "FULL": [True, False]}
        extended = {side for word in words for side in sides.get(word, ())}
        for key, rows in self._scope.sources.items():
            if (key in before) in extended:
                self._replace(rows, rows.or_null())

    def pivot(self, pivot: exp.Expr) -> None:
        """Turn the last source."""
        self._replace(self.parts[-1], pivot_rows(self.parts[-1], pivot, self._scope))

    def _replace(self, rows: OutlineRows, others: OutlineRows) -> None:
        """Let other rows stand for those of a source."""
        self._scope.sources = {
            key: others if source is rows else source for key, source in self._scope.sources.items()
        }
        self.parts = [others if part is rows else part for part in self.parts]

    def _named(self, tree: exp.Expr) -> OutlineRows:
        scope = self._scope
        rows = source_rows(tree, scope)
        alias = tree.args.get("alias")
        for pivot in tree.args.get("pivots") or ():
            if isinstance(tree, exp.Table):
                rows = pivot_rows(rows, pivot, scope)
            alias = pivot.args.get("alias") or alias
        like = filter(rows.is_like, scope.sources.values())
        self._has_order |= any(source.rows != rows.rows for source in like)
        rows = rows.beside(scope.sources_beside())
        rows = rename_columns(rows, alias if isinstance(alias, exp.TableAlias) else None, scope)
        scope.sources[_alias(tree, alias, scope) or f"_{len(scope.sources)}"] = rows
        return rows


def select_digest(
    sources: Collection[str],
    conditions: Collection[str],
    grain: Collection[str] = (),
    rest: Marks = frozenset(),
) -> str:
    """The digest of the rows of a SELECT."""
    return digest(
        "select", *sources, "/", *sorted(conditions), "/", *sorted(grain), "/", *flat(rest)
    )


def _alias(tree: exp.Expr, alias: exp.Expr | None, scope: OutlineScope) -> str:
    name = alias.this if isinstance(alias, exp.TableAlias) else alias
    if name is not None:
        return scope.key(name)
    is_plain = isinstance(tree, exp.Table) and isinstance(tree.this, exp.Identifier)
    return scope.key(tree.this) if is_plain else ""


def _merged(words: list[str], left: str, right: str) -> str:
    """The column that USING makes of two."""
    if "FULL" in words:
        return digest("coalesce", left, right)
    return right if "RIGHT" in words else left


def source_rows(tree: exp.Expr, scope: OutlineScope) -> OutlineRows:
    """A table, CTE, subquery or function of FROM or JOIN."""
    if isinstance(tree, exp.Table) and isinstance(tree.this, exp.Identifier):
        return _table(tree, scope)
    if isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query):
        return scope.follow(tree, scope)
    if isinstance(tree, exp.Lateral) and isinstance(tree.this, exp.Subquery):
        rows = followed(tree.this, scope)
        how = clause_digest(tree, scope, "this", "alias")
        return replace(rows, rows=digest("lateral", rows.rows, how), plain=None)
    # It makes rows in a way that is not followed: it counts as it is written.
    hidden = len(scope.hidden)
    rows_digest = clause_digest(tree, scope, "alias", "joins", "pivots")
    made = OutlineRows(rows_digest, others=(rows_digest,), grain=frozenset([rows_digest]))
    return made.with_parts(scope.hidden[hidden:])


def _table(tree: exp.Table, scope: OutlineScope) -> OutlineRows:
    rows = scope.table(tree)
    versions = [
        digest(key, value_digest(tree.args[key], scope)) for key in _VERSIONS if tree.args.get(key)
    ]
    if versions:
        read = digest("version", rows.rows, *versions)
        rows = replace(rows, rows=read, sources=rows.sources | {read}, plain=None)
    filters = {
        digest(key, value_digest(tree.args[key], scope))
        for key in ("sample", "only", "partition")
        if tree.args.get(key)
    }
    if filters:
        cut = digest("of", rows.rows, *sorted(filters))
        rows = replace(rows, rows=cut, filters=rows.filters | filters, plain=None)
    return rows.with_marks(*clause_marks(tree, {*_OF_TABLE, *_VERSIONS}, scope))
