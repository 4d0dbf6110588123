"""The scope of a query while its columns are followed: the rowsets that an expression may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_graft.collectors.statements.columns.dialect_rules import (
    SEQUENCE_VALUES,
    USER_IS_NAME,
    no_columns,
)
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    InputColumns,
    Rowset,
    transform_inputs,
)
from dbt_graft.collectors.statements.columns.tree import identifier_name
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

UNPLACED = "a column's table is not known"


@dataclass(slots=True)
class QueryContext:
    """The state that all queries of a statement share.

    Attributes:
        tables: The tables that the token scan found: their names folded -> as written; None where
            there was no scan, and each table of the tree is one.
        columns: A table as the scan names it -> its columns; empty where they are not known.
        query: A query and the scope around it -> its result.
        sends: Parameters and literals count as inputs: the statement reads no table.
        read: The tables that were met, where there was no scan.
        variables: The names of variables, folded, that stand without a sign.
        holding_data: The variables of T-SQL, folded, that were filled from tables.
        no_columns: These, and the dialect's own names that are no columns.
    """

    dialect: str
    tables: Mapping[Name, Name] | None
    columns: Callable[[Name], Sequence[str]]
    query: Callable[[exp.Expr, QueryScope], Rowset]
    sends: bool = False
    gaps: dict[str, None] = field(default_factory=dict)
    read: dict[Name, None] = field(default_factory=dict)
    variables: frozenset[str] = frozenset()
    holding_data: frozenset[str] = frozenset()
    no_columns: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.no_columns = no_columns(self.dialect) | self.variables

    def gap(self, reason: str) -> InputColumns:
        """Note that something is missing, and return no inputs."""
        self.gaps[reason] = None
        return NOTHING


@dataclass(slots=True)
class QueryScope:
    """The rowsets that an expression may name, then those of the query around it.

    Attributes:
        shared: The columns of JOIN … USING, folded, with what they are after the join.
        aliases: The columns that SELECT has made so far.
        constants: In ClickHouse, the names that WITH gives to expressions.
        expressions: These and all that SELECT gives; an alias goes before a column there.
        levels: Whether LEVEL is the depth in the rows of CONNECT BY.
        star: The column that `COLUMNS(…)` stands for; outside of SELECT it is all that it selects.
        lists: What SELECT takes apart, which decides how many rows there are: `UNNEST(items)`.
    """

    context: QueryContext
    outer: QueryScope | None = None
    ctes: dict[str, Rowset] = field(default_factory=dict)
    rowsets: list[Rowset] = field(default_factory=list)
    shared: dict[str, InputColumns] = field(default_factory=dict)
    aliases: dict[str, InputColumns] = field(default_factory=dict)
    constants: dict[str, exp.Expr] = field(default_factory=dict)
    expressions: dict[str, exp.Expr | InputColumns] = field(default_factory=dict)
    windows: dict[str, InputColumns] = field(default_factory=dict)
    levels: bool = False
    star: InputColumns | None = None
    lists: InputColumns = NOTHING

    def inner(self, *rowsets: Rowset) -> QueryScope:
        """A scope inside this one."""
        scope = QueryScope(self.context, self, dict(self.ctes), list(rowsets))
        scope.constants, scope.star, scope.levels = self.constants, self.star, self.levels
        return scope

    def resolve(self, column: exp.Column) -> InputColumns:
        """The inputs of `a`, `t.a`, `dbo.t.a`, `t.s.field`; in Spark also of `s.field`."""
        if not column.args.get("table"):
            return self._unqualified(column)
        parts = [*map(identifier_name, column.parts[:-1]), column.name]
        if parts[-1].casefold() in SEQUENCE_VALUES or parts[0].casefold() == "_metadata":
            return NOTHING
        # In T-SQL the first of several parts is never a column.
        first = 1 if self.context.dialect == Dialect.TSQL else 0
        for at in range(len(parts) - 1, first - 1, -1):
            field = self._field(parts[:at], parts[at:]) if at < len(parts) - 1 else None
            if field is not None:
                return field
            name = parts[at]
            inputs = (
                self._qualified(parts[:at], name) if at else self._find_plain(name, name.casefold())
            )
            if inputs is not None:
                return self._field_inputs(inputs, parts[at + 1 :])
        return self._row_or_gap(parts)

    def _field_inputs(self, inputs: InputColumns, path: list[str]) -> InputColumns:
        """The inputs of a field of a column with these inputs: `t.s.a` of a table's struct."""
        if not path:
            return inputs
        if self.context.tables is None and len(inputs) == 1:
            [struct] = inputs
            is_known = struct.subtype is Subtype.IDENTITY and struct.column != ANY_COLUMN
            if is_known and not any(map(str.isdigit, path)):  # t.1 is a place
                return frozenset({struct._replace(column=".".join((struct.column, *path)))})
        return transform_inputs(inputs, Subtype.TRANSFORMATION)

    def _unqualified(self, column: exp.Column) -> InputColumns:
        """The inputs of a column without a table."""
        name, folded = column.name, column.name.casefold()
        # USER is a function, [User] a column; "$path" of Trino has quotes in any case.
        is_column = column.this.args.get("quoted") and folded.isidentifier()
        if folded in self.context.no_columns and not is_column and self._is_no_column(folded):
            return NOTHING
        input_columns = self._find_plain(name, folded)
        return self._row_or_gap([name]) if input_columns is None else input_columns

    def may_be_outer(self, names: Set[str]) -> bool:
        """Whether columns without a table, folded, may as well be of a query around."""
        around: list[Rowset] = []
        scope = self.outer
        while scope:
            around += scope.rowsets
            scope = scope.outer
        return (
            names.isdisjoint(self.context.no_columns)
            and any(rowset.is_open for rowset in self.rowsets)
            and not any(rowset.knows(name) for rowset in self.rowsets for name in names)
            and any(rowset.is_open or any(map(rowset.knows, names)) for rowset in around)
        )

    def _is_no_column(self, name: str) -> bool:
        """Whether a name such as ROWNUM, or a variable's, is not that of a column too."""
        if name == "level" and not self.levels:
            return False
        may_be_name = name == "user" and self.context.dialect in USER_IS_NAME
        return not any(r.knows(name) or (may_be_name and r.is_open) for r in self.rowsets)

    def _row_or_gap(self, parts: list[str]) -> InputColumns:
        row = self._row(parts)
        return self.context.gap(UNPLACED) if row is None else row

    def _field(self, qualifier: list[str], names: list[str]) -> InputColumns | None:
        """A field of a struct, where the schema has it as a column: `address.city` of BigQuery."""
        name = ".".join(names)
        rowsets = (
            self.find_rowsets(tuple(map(str.casefold, qualifier))) if qualifier else self.rowsets
        )
        candidates = [rowset for rowset in rowsets if rowset.knows(name.casefold())]
        return candidates[0].find(name) if len(candidates) == 1 else None

    def _qualified(self, qualifier: list[str], name: str) -> InputColumns | None:
        wanted = tuple(part.casefold() for part in qualifier)
        rowsets = self.find_rowsets(wanted)
        return rowsets[0].find(name) if rowsets else None

    def _row(self, parts: list[str]) -> InputColumns | None:
        """A table's name for its rows (`TO_JSON(t)`), or a column that its schema does not have.

        The alias, or that there is no other table, says which one has it.
        """
        *qualifier, name = (part.casefold() for part in parts)
        if not qualifier and self.context.tables is None:
            rows = self.find_rowsets((name,))
            if rows:
                all_columns = NOTHING.union(*(column.inputs for column in rows[0].columns))
                return transform_inputs(all_columns, Subtype.TRANSFORMATION)
        rowsets = self.find_rowsets(tuple(qualifier)) if qualifier else self._tables()
        return rowsets[0].place(parts[-1]) if len(rowsets) == 1 else None

    def _tables(self) -> list[Rowset]:
        """The tables of this query and of those around it; of all else the columns are known.

        Without any, the queries that take all columns of a table: it may have others by now.
        """
        behind: dict[int, Rowset] = {}
        scope: QueryScope | None = self
        while scope:
            behind |= {id(rowset): rowset for rowset in scope.rowsets if rowset.behind is not None}
            scope = scope.outer
        tables = [rowset for rowset in behind.values() if rowset.table is not None]
        return tables or list(behind.values())

    def find_rowsets(self, qualifier: Name) -> list[Rowset]:
        """The rowsets of a folded name, in this query or in the nearest around it."""
        scope: QueryScope | None = self
        while scope:
            rowsets = [
                rowset for rowset in scope.rowsets if rowset.path[-len(qualifier) :] == qualifier
            ]
            if rowsets:
                return rowsets
            scope = scope.outer
        return []

    def _find_plain(self, name: str, folded: str) -> InputColumns | None:
        scope: QueryScope | None = self
        while scope:
            if folded in scope.shared:
                return scope.shared[folded]
            candidates = [rowset for rowset in scope.rowsets if rowset.knows(folded)]
            if not candidates:
                alias = scope.aliases.get(folded)
                if alias is not None and folded not in {
                    input_column.column.casefold() for input_column in alias
                }:
                    return alias
                candidates = [rowset for rowset in scope.rowsets if rowset.is_open]
            elif self.context.dialect == "clickhouse":
                candidates = candidates[:1]  # of several, the first one's
            if candidates:
                return candidates[0].find(name) if len(candidates) == 1 else None
            scope = scope.outer
        return None
