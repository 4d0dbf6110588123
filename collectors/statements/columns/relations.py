"""What a query has at hand while its columns are followed: relations by name, scope in scope.

A column that stands for all that are not known (`SELECT *` of a table without a schema, and a
table without a schema itself) is called `*`; asked for a name, it gives that column of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.columns import compose
from dbt_graft.lineage.records import ANY_COLUMN, Subtype


class Use(NamedTuple):
    """A column of a table has a part in a value."""

    table: Name
    column: str
    subtype: Subtype = Subtype.IDENTITY
    masking: bool = False


Uses = frozenset[Use]
NOTHING: Uses = frozenset()


def changed(uses: Iterable[Use], subtype: Subtype, *, masking: bool = False) -> Uses:
    """What has a part in a value that is made from a value which these have a part in."""
    return frozenset(
        Use(use.table, use.column, compose(subtype, use.subtype), use.masking or masking)
        for use in uses
    )


class Column(NamedTuple):
    """A column of a relation, and what has a part in it."""

    name: str
    uses: Uses


class Relation:
    """Rows that a query takes from: a table, a derived table, a common table expression.

    Attributes:
        path: What it is called, folded; several parts for a table without an alias.
        columns: In their order; one called `*` stands for all that are not known.
        influences: What decides which rows there are.
    """

    def __init__(self, path: Name, columns: Sequence[Column], influences: Uses = NOTHING) -> None:
        self.path = path
        self.columns = columns
        self.influences = influences
        self._stars = [column for column in columns if column.name == ANY_COLUMN]
        self._known: dict[str, Uses] = {}
        for column in columns:
            self._known.setdefault(column.name.casefold(), column.uses)

    @property
    def is_open(self) -> bool:
        """Whether it has columns that are not known."""
        return bool(self._stars)

    def knows(self, name: str) -> bool:
        """Whether a column of this name, folded, is certain to be there."""
        return name in self._known and name != ANY_COLUMN

    def find(self, name: str) -> Uses | None:
        """What has a part in a column; None where it is not there or could be in several."""
        if self.knows(name.casefold()):
            return self._known[name.casefold()]
        if len(self._stars) != 1:
            return None
        return frozenset(
            use._replace(column=name) if use.column == ANY_COLUMN else use
            for use in self._stars[0].uses
        )

    def renamed(self, path: Name, names: Sequence[str] = ()) -> Relation:
        """The same rows under another name, and the first columns too where names are given."""
        columns = list(self.columns)
        if names and not self.is_open:
            given = zip(names, columns, strict=False)
            columns[: len(names)] = [Column(name, column.uses) for name, column in given]
        return Relation(path, columns, self.influences)


def table_relation(path: Name, table: Name, columns: Iterable[str]) -> Relation:
    """A table with the columns that its schema tells; without a schema, `*`."""
    names = list(columns) or [ANY_COLUMN]
    return Relation(path, [Column(name, frozenset({Use(table, name)})) for name in names])


@dataclass(slots=True)
class Context:
    """What all queries of a statement share.

    Attributes:
        tables: The tables that the token scan found: their names folded -> as written.
        columns: A table as the scan names it -> its columns; empty where they are not known.
        query: Reads a query inside a scope.
        gaps: Why columns are missing.
    """

    dialect: Dialect
    tables: Mapping[Name, Name]
    columns: Callable[[Name], Sequence[str]]
    query: Callable[[exp.Expr, Scope], Relation]
    gaps: dict[str, None] = field(default_factory=dict)

    def gap(self, reason: str) -> Uses:
        """Note that something is missing; gives the nothing that is known of it."""
        self.gaps[reason] = None
        return NOTHING


@dataclass(slots=True)
class Scope:
    """The relations that an expression may name, those of the query around it behind them."""

    context: Context
    outer: Scope | None = None
    ctes: dict[str, Relation] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)  # columns of JOIN … USING
    aliases: dict[str, Uses] = field(default_factory=dict)  # columns that SELECT made so far
    windows: dict[str, Uses] = field(default_factory=dict)  # WINDOW w AS (…)

    def inner(self, *relations: Relation) -> Scope:
        """A scope inside this one."""
        return Scope(self.context, self, dict(self.ctes), list(relations))

    def resolve(self, column: exp.Column) -> Uses:
        """What a column is: `a`, `t.a`, `dbo.t.a`; in Spark also `s.field` and `t.s.field`."""
        parts = [part.name for part in column.parts]
        nested = self.context.dialect is Dialect.SPARK
        for at in range(len(parts) - 1, -1 if nested else max(len(parts) - 2, -1), -1):
            uses = self._qualified(parts[:at], parts[at]) if at else self._plain(parts[0])
            if uses is not None:
                whole = at == len(parts) - 1
                return uses if whole else changed(uses, Subtype.TRANSFORMATION)
        return self.context.gap("a column's table is not known")

    def _qualified(self, qualifier: list[str], name: str) -> Uses | None:
        wanted = tuple(part.casefold() for part in qualifier)
        scope: Scope | None = self
        while scope:
            for relation in scope.relations:
                if relation.path[-len(wanted) :] == wanted:
                    return relation.find(name)
            scope = scope.outer
        return None

    def _plain(self, name: str) -> Uses | None:
        folded = name.casefold()
        scope: Scope | None = self
        while scope:
            able = [one for one in scope.relations if one.knows(folded)]
            if not able:
                alias = scope.aliases.get(folded)
                if alias is not None and folded not in {use.column.casefold() for use in alias}:
                    return alias
                able = [one for one in scope.relations if one.is_open]
            if able:
                certain = len(able) == 1 or folded in scope.shared
                return able[0].find(name) if certain else None
            scope = scope.outer
        return None
