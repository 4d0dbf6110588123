"""Names in scope while a query is outlined: the digest of each column that an expression names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from sqlglot import exp

from dbt_graft.analysis.review.node import OutlinedCast, QueryOutline
from dbt_graft.collectors.statements.columns.dialect_rules import ALIASES_FIRST, LATERAL_ALIASES
from dbt_graft.collectors.statements.outline.keys import (
    NO_LENGTHS,
    column_digest,
    digest,
    name_key,
    or_null,
)
from dbt_graft.collectors.statements.text.names import Name

OutlineTables = Callable[[Name], tuple[str, Sequence[str]]]
Marks = frozenset[tuple[str, str]]


@dataclass(slots=True)
class OutlineRows:
    """The result of a query, or a table.

    Attributes:
        rows: The digest of all that decides on the rows.
        others: Digests of the tables behind a `*` that could not be followed.
        filters, joins, grain, sources: Those of all queries that it is made of.
        rest: Clauses of them that are not understood: the words that begin it, and its digest.
        costs: Clauses that decide on how, not on what: hints, ORDER BY at the end.
        ties: The parts of a UNION, each with its columns.
        windows: Functions over windows, each with the digest of the rows that it sees.
        casts: The columns that are converted at last.
        plain: The sources that it joins and its conditions, where it has no more than these.
    """

    rows: str
    columns: dict[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    filters: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    grain: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    rest: Marks = frozenset()
    costs: Marks = frozenset()
    ties: frozenset[str] = frozenset()
    windows: Marks = frozenset()
    casts: dict[str, OutlinedCast] = field(default_factory=dict)
    plain: tuple[tuple[str, ...], frozenset[str]] | None = None

    def outline(self) -> QueryOutline:
        """The outline of the query whose result it is."""
        names = {each.name for each in fields(OutlineRows)}
        shared = (each.name for each in fields(QueryOutline) if each.name in names)
        return QueryOutline(
            **{name: getattr(self, name) for name in shared},
            is_open=bool(self.others),
            behind=digest(*self.others) if self.others else "",
        )

    def column(self, name: str) -> str | None:
        """The digest of a column; None if it has none of this name."""
        if column := self.columns.get(name):
            return column
        if name.startswith('"') and (column := self.columns.get(name.strip('"').casefold())):
            return digest("quoted", name, column)
        if self.others:
            return column_digest(name, *self.others)
        # The dialect has a name for an expression without one.
        unnamed = [column for key, column in self.columns.items() if is_unnamed(key)]
        return digest("unnamed", name, *unnamed) if unnamed else None

    def with_parts(self, parts: Iterable[OutlineRows]) -> OutlineRows:
        """Itself, with what decides on the rows of its parts."""
        for part in parts:
            self.filters |= part.filters
            self.joins |= part.joins
            self.grain |= part.grain
            self.sources |= part.sources
            self.rest |= part.rest
            self.costs |= part.costs
            self.ties |= part.ties
            self.windows |= part.windows
        return self

    def reads_of(self, other: OutlineRows) -> bool:
        """Whether both are made of the same table."""
        roots = ({row.rows, *row.sources, *row.others} for row in (self, other))
        return not set.isdisjoint(*roots)

    def is_like(self, other: OutlineRows) -> bool:
        """Whether columns of the two can have one digest: `count(*)` of any tables, too."""
        shared = self._nullable() & other._nullable()
        return bool(shared) or self.reads_of(other)

    def _nullable(self) -> set[str]:
        """The digests of its columns on the other side of an outer join."""
        return {*map(or_null, self.columns.values())}

    def beside(self, sources: Collection[OutlineRows]) -> OutlineRows:
        """Itself among other sources, with digests of its own for the columns that are like theirs.

        Of a table that is joined to itself, the two sides differ.
        """
        if not any(map(self.is_like, sources)):
            return self
        twins = sum(map(self.reads_of, sources))
        taken = {column for source in sources for column in source._nullable()}
        columns = {
            name: next(
                numbered
                for number in itertools.count(twins)
                if or_null(numbered := _numbered(column, number)) not in taken
            )
            for name, column in self.columns.items()
        }
        others = tuple(_numbered(other, twins) for other in self.others)
        return replace(self, columns=columns, others=others, plain=None)

    def or_null(self) -> OutlineRows:
        """Itself on that side of an outer join of which there may be no row."""
        columns = {name: or_null(column) for name, column in self.columns.items()}
        return replace(self, columns=columns, plain=None)

    def named_columns(self) -> list[str]:
        """Its columns, each with its name, as one value has them."""
        return [*(part for column in self.columns.items() for part in column), *self.others]

    def with_marks(self, rest: Marks, costs: Marks) -> OutlineRows:
        """The same with further clauses."""
        if not rest and not costs:
            return self
        costs |= self.costs
        if not rest:
            return replace(self, costs=costs)
        rows = digest("marked", self.rows, *(part for mark in sorted(rest) for part in mark))
        return replace(self, rows=rows, rest=self.rest | rest, costs=costs, plain=None)


def _numbered(column: str, number: int) -> str:
    if not number:
        return column
    is_of_table = or_null(column) == column
    return (column_digest if is_of_table else digest)("twin", str(number), column)


def is_unnamed(key: str) -> bool:
    """Whether it is the key of an expression without a name: `_` and its place."""
    return key.startswith("_") and key[1:].isdecimal()


def add_column(columns: dict[str, str], name: str, column: str) -> str:
    """Add a column by its name, or by one with a number if there is one of its name.

    Returns:
        The name that it has.
    """
    free = next(
        each
        for number in itertools.count()
        if (each := f"{name}_{number}" if number else name) not in columns
    )
    columns[free] = column
    return free


@dataclass(slots=True)
class OutlineScope:
    """The tables and columns that the expressions of one SELECT can name.

    Attributes:
        follow: The outline of a query within.
        aliases: The columns of its own output, which clauses may name too.
        is_clause: Whether what is outlined stands behind the output, so that aliases count.
        merged: The columns that USING made of two.
        hidden: Queries within its expressions.
        others: Sources of the queries around it, of which its own are others.
        is_named: Whether a query within named a column that is none of its own.
    """

    tables: OutlineTables
    dialect: str
    ctes: Mapping[str, OutlineRows]
    follow: Callable[[exp.Expr, OutlineScope], OutlineRows]
    outer: OutlineScope | None = None
    sources: dict[str, OutlineRows] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    is_clause: bool = False
    merged: dict[str, str] = field(default_factory=dict)
    windows: dict[str, dict[str, str]] = field(default_factory=dict)
    hidden: list[OutlineRows] = field(default_factory=list)
    others: list[OutlineRows] = field(default_factory=list)
    is_named: bool = False

    def inner(self, ctes: Mapping[str, OutlineRows] | None = None) -> OutlineScope:
        """The scope of a query within."""
        ctes = self.ctes if ctes is None else ctes
        return OutlineScope(self.tables, self.dialect, ctes, self.follow, self)

    def key(self, name: exp.Expr | str | None) -> str:
        """A name as this scope knows it."""
        if name is None or isinstance(name, str):
            return (name or "").casefold()
        return name_key(name.name, self.dialect, quoted=bool(name.args.get("quoted")))

    def table(self, tree: exp.Table) -> OutlineRows:
        """A table or CTE."""
        name = tuple(part.name.casefold() for part in tree.parts)
        last = self.key(tree.this)
        if len(name) == 1 and last in self.ctes:
            return self.ctes[last]
        key, columns = self.tables(name)
        rows = digest("table", key, last) if last.startswith('"') else digest("table", key)
        digests = {column: column_digest(column, rows) for column in columns}
        return OutlineRows(rows, digests, () if columns else (rows,), sources=frozenset([rows]))

    def column(self, name: str, table: str = "") -> str:
        """The digest of a column that an expression names; of all that it could be."""
        self.is_named = True
        if table:
            if source := self.sources.get(table):
                return source.column(name) or digest("unknown", table, name)
            if self.outer and self.outer.has_source(table):
                return self.outer.column(name, table)
            return digest("field", self.column(table), name)
        if name in self.merged:
            return self.merged[name]
        known = [source.columns[name] for source in self.sources.values() if name in source.columns]
        possible = [
            column
            for source in self.sources.values()
            if name not in source.columns and (column := source.column(name))
        ]
        alias = self.aliases.get(name)
        if alias and self._alias_counts(is_known=bool(known)):
            possible.append(alias)
        if not known and name in self.sources:  # a row as one value
            possible.append(digest("row", *self.sources[name].named_columns()))
        candidates = list(dict.fromkeys([*known, *possible]))
        if not candidates and self.outer:
            return self.outer.column(name)
        return candidates[0] if len(candidates) == 1 else digest("one of", name, *candidates)

    def _alias_counts(self, *, is_known: bool) -> bool:
        """Whether a name may be that of a column of the output, which a source may have, too."""
        if self.is_clause or self.dialect in ALIASES_FIRST:
            return True
        return not is_known and self.dialect in LATERAL_ALIASES

    def visible_sources(self) -> list[OutlineRows]:
        """The sources that an expression can name, those of the queries around it among them."""
        around = self.outer.visible_sources() if self.outer else []
        return [*around, *self.sources.values()]

    def sources_beside(self) -> list[OutlineRows]:
        """The sources that stand beside a further one, which is none of them."""
        beside, scope = [*self.sources.values()], self.outer
        while scope:
            beside += scope.others
            scope = scope.outer
        return beside

    def star(self, table: str = "") -> list[str]:
        """The columns of all sources, or of one, which may be one of the query around it."""
        self.is_named = True
        if table and table not in self.sources and self.outer:
            return self.outer.star(table)
        sources = [source for key, source in self.sources.items() if table in ("", key)]
        return [part for source in sources for part in source.named_columns()]

    def has_source(self, table: str) -> bool:
        """Whether it, or a scope around it, has a table of this name."""
        return table in self.sources or bool(self.outer and self.outer.has_source(table))

    def cast(self, name: str, table: str) -> OutlinedCast | None:
        """The conversion of a column of a source, where it is one."""
        sources = [
            source
            for key, source in self.sources.items()
            if table in ("", key) and source.column(name)
        ]
        return sources[0].casts.get(name) if len(sources) == 1 else None


def rename_columns(rows: OutlineRows, alias: exp.Expr | None, scope: OutlineScope) -> OutlineRows:
    """The rows with the columns' names of `AS t(a, b)`."""
    identifiers = (alias.args.get("columns") or ()) if alias else ()
    names = [
        scope.key(name.this if isinstance(name, exp.ColumnDef) else name) for name in identifiers
    ]
    if not names:
        return rows
    if rows.others:
        columns = {
            name: column_digest("at", str(index), rows.rows, *_declared_type(identifier, scope))
            for index, (name, identifier) in enumerate(zip(names, identifiers, strict=True))
        }
    else:
        columns = {}
        for index, (name, column) in enumerate(rows.columns.items()):
            add_column(columns, names[index] if index < len(names) else name, column)
    return replace(rows, columns=columns, others=(), casts={})


def _declared_type(column: exp.Expr, scope: OutlineScope) -> list[str]:
    """The type of a column of `AS t(a int)`, where it is written."""
    kind = column.args.get("kind") if isinstance(column, exp.ColumnDef) else None
    return [type_name(kind, scope.dialect)] if kind else []


def has_own(tree: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> bool:
    """Whether an expression has one of these, outside of windows and subqueries."""
    nodes = tree.walk(prune=lambda node: isinstance(node, exp.Window | exp.Query))
    return any(isinstance(node, kinds) for node in nodes)


# -- types as they stand in SQL, without what a platform makes no difference of

_T = exp.DType
_TEXTS = {_T.TEXT, _T.VARCHAR, _T.NVARCHAR, _T.CHAR, _T.NCHAR, _T.BPCHAR, _T.NAME}
_ANY_TEXT = {_T.TEXT, _T.VARCHAR, _T.NVARCHAR}
_INTEGERS = {_T.TINYINT, _T.SMALLINT, _T.MEDIUMINT, _T.INT, _T.BIGINT, _T.INT128}
_REALS = {_T.FLOAT, _T.DOUBLE}
# In a CAST a length is written, and ignored.
_NO_CAST_LENGTHS = frozenset({*NO_LENGTHS, "spark", "databricks"})
# Integers of all sizes are one type there, and so are floats.
_ONE_NUMBER = frozenset({"bigquery", "snowflake"})


def type_name(tree: exp.Expr, dialect: str) -> str:
    """A type in the words of SQL, folded; equal for what is one type on the platform."""
    kind = tree.this if isinstance(tree, exp.DataType) else None
    if tree.args.get("collate"):
        kind = None
    if kind in _TEXTS and dialect in _NO_CAST_LENGTHS:
        return "text"
    if kind in _ANY_TEXT and not tree.expressions and dialect != "tsql":
        return "text"
    if dialect in _ONE_NUMBER and not tree.expressions:
        if kind in _INTEGERS:
            return "bigint"
        if kind in _REALS:
            return "double"
    text = str(tree.sql(dialect=dialect, comments=False))
    return text if tree.find(exp.Literal) and "'" in text else text.casefold()
