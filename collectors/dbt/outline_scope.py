"""Names in scope while a query is outlined: the digest of each column that an expression names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_graft.collectors.statements.text.names import Name

OutlineTables = Callable[[Name], tuple[str, Sequence[str]]]


def digest(*parts: str) -> str:
    """The digest of texts and digests, in their order."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()


@dataclass(slots=True)
class OutlineRows:
    """The result of a query, or a table.

    Attributes:
        rows: The digest of all that decides on the rows.
        columns: Name, folded -> digest.
        others: Digests of the tables behind a `*` that could not be followed.
        filters, joins, grain, sources: Those of all queries that it is made of.
    """

    rows: str
    columns: dict[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    filters: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    grain: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()

    def column(self, name: str) -> str | None:
        """The digest of a column; None if it has none of this name."""
        if column := self.columns.get(name):
            return column
        return digest("column", name, *self.others) if self.others else None

    def with_parts(self, parts: Iterable[OutlineRows]) -> OutlineRows:
        """Itself, with what decides on the rows of its parts."""
        part_rows = list(parts)
        self.filters = self.filters.union(*(part.filters for part in part_rows))
        self.joins = self.joins.union(*(part.joins for part in part_rows))
        self.grain = self.grain.union(*(part.grain for part in part_rows))
        self.sources = self.sources.union(*(part.sources for part in part_rows))
        return self


@dataclass(slots=True)
class OutlineScope:
    """The tables and columns that the expressions of one SELECT can name.

    Attributes:
        aliases: The columns of its own output, which clauses may name too.
        hidden: Queries within its expressions.
    """

    tables: OutlineTables
    dialect: str
    ctes: Mapping[str, OutlineRows]
    outer: OutlineScope | None = None
    sources: dict[str, OutlineRows] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    hidden: list[OutlineRows] = field(default_factory=list)

    def inner(self, ctes: Mapping[str, OutlineRows]) -> OutlineScope:
        """The scope of a query within."""
        return OutlineScope(self.tables, self.dialect, ctes, self)

    def table(self, tree: exp.Table) -> OutlineRows:
        """A table or CTE."""
        name = tuple(part.name.casefold() for part in tree.parts)
        if len(name) == 1 and name[0] in self.ctes:
            return self.ctes[name[0]]
        key, columns = self.tables(name)
        rows = digest("table", key)
        digests = {column: digest("column", column, rows) for column in columns}
        return OutlineRows(rows, digests, () if columns else (rows,), sources=frozenset([key]))

    def column(self, name: str, table: str) -> str:
        """The digest of a column that an expression names; of all that it could be."""
        if table:
            if source := self.sources.get(table):
                return source.column(name) or digest("unknown", table, name)
            if self.outer:
                return self.outer.column(name, table)
            return digest("field", name, table)
        digests = [
            source.columns[name] for source in self.sources.values() if name in source.columns
        ]
        possible = [
            source.column(name) or ""
            for source in self.sources.values()
            if source.others and name not in source.columns
        ]
        if alias := self.aliases.get(name):
            possible.append(alias)
        candidates = list(dict.fromkeys([*digests, *possible]))
        if not candidates and self.outer:
            return self.outer.column(name, table)
        return candidates[0] if len(candidates) == 1 else digest("one of", name, *candidates)


def rename_columns(rows: OutlineRows, alias: exp.Expr | None) -> OutlineRows:
    """The rows with the columns' names of `AS t(a, b)`."""
    names = (
        [identifier.name.casefold() for identifier in (alias.args.get("columns") or ())]
        if alias
        else []
    )
    if not names:
        return rows
    if rows.others:
        columns = {name: digest("at", str(index), rows.rows) for index, name in enumerate(names)}
    else:
        columns = dict(zip(names, rows.columns.values(), strict=False))
    return replace(rows, columns=columns, others=())


def has_own(tree: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> bool:
    """Whether an expression has one of these, outside of windows and subqueries."""
    nodes = tree.walk(prune=lambda node: isinstance(node, exp.Window | exp.Query))
    return any(isinstance(node, kinds) for node in nodes)
