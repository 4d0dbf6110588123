"""The scope of a query while its columns are followed: the rowsets that an expression may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_graft.collectors.statements.columns.input_columns import (
    NOTHING,
    InputColumns,
    transformed,
)
from dbt_graft.collectors.statements.columns.rowsets import Rowset
from dbt_graft.collectors.statements.columns.tree import identifier_name
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import Subtype


@dataclass(slots=True)
class QueryContext:
    """The state that all queries of a statement share.

    Attributes:
        dialect: By its name in sqlglot.
        tables: The tables that the token scan found: their names folded -> as written.
        columns: A table as the scan names it -> its columns; empty where they are not known.
        query: A query and the scope around it -> its result.
        sends: Parameters and literals count as inputs: the statement reads no table.
        gaps: Why columns are missing.
    """

    dialect: str
    tables: Mapping[Name, Name]
    columns: Callable[[Name], Sequence[str]]
    query: Callable[[exp.Expr, QueryScope], Rowset]
    sends: bool = False
    gaps: dict[str, None] = field(default_factory=dict)

    def gap(self, reason: str) -> InputColumns:
        """Note that something is missing, and return no inputs."""
        self.gaps[reason] = None
        return NOTHING


@dataclass(slots=True)
class QueryScope:
    """The rowsets that an expression may name, then those of the query around it.

    Attributes:
        shared: The columns of JOIN … USING.
        aliases: The columns that SELECT has made so far.
        windows: The named windows: `WINDOW w AS (…)`.
    """

    context: QueryContext
    outer: QueryScope | None = None
    ctes: dict[str, Rowset] = field(default_factory=dict)
    rowsets: list[Rowset] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)
    aliases: dict[str, InputColumns] = field(default_factory=dict)
    windows: dict[str, InputColumns] = field(default_factory=dict)

    def inner(self, *rowsets: Rowset) -> QueryScope:
        """A scope inside this one."""
        return QueryScope(self.context, self, dict(self.ctes), list(rowsets))

    def resolve(self, column: exp.Column) -> InputColumns:
        """The inputs of `a`, `t.a`, `dbo.t.a`, `t.s.field`; in Spark also of `s.field`."""
        parts = [*map(identifier_name, column.parts[:-1]), column.name]
        # In T-SQL the first of several parts is never a column.
        first = 0 if len(parts) == 1 or self.context.dialect != Dialect.TSQL else 1
        for at in range(len(parts) - 1, first - 1, -1):
            inputs = self._qualified(parts[:at], parts[at]) if at else self._plain(parts[0])
            if inputs is not None:
                is_field = at < len(parts) - 1
                return transformed(inputs, Subtype.TRANSFORMATION) if is_field else inputs
        return self.context.gap("a column's table is not known")

    def _qualified(self, qualifier: list[str], name: str) -> InputColumns | None:
        wanted = tuple(part.casefold() for part in qualifier)
        found = self.named(wanted)
        return found[0].find(name) if found else None

    def named(self, qualifier: Name) -> list[Rowset]:
        """The rowsets of a folded name, in this query or in the nearest around it."""
        scope: QueryScope | None = self
        while scope:
            found = [one for one in scope.rowsets if one.path[-len(qualifier) :] == qualifier]
            if found:
                return found
            scope = scope.outer
        return []

    def _plain(self, name: str) -> InputColumns | None:
        folded = name.casefold()
        scope: QueryScope | None = self
        while scope:
            candidates = [one for one in scope.rowsets if one.knows(folded)]
            if not candidates:
                alias = scope.aliases.get(folded)
                if alias is not None and folded not in {one.column.casefold() for one in alias}:
                    return alias
                candidates = [one for one in scope.rowsets if one.is_open]
            if candidates:
                certain = len(candidates) == 1 or folded in scope.shared
                return candidates[0].find(name) if certain else None
            scope = scope.outer
        return None
