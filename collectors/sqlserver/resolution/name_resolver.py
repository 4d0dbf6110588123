"""Names in statements -> datasets: full names, and a snapshot's synonyms, kinds and columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from sqlglot.errors import TokenError

from dbt_graft.collectors.sqlserver.names import FullName, file_dataset, full_name
from dbt_graft.collectors.sqlserver.resolution.system_procedures import is_system_procedure
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.collectors.statement import DatasetAccess
from dbt_graft.collectors.statements.earlier import COMPUTED
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.tables.function_views import FunctionView, function_view
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.files import split_data_source
from dbt_graft.collectors.statements.text.names import Name, name_at
from dbt_graft.collectors.statements.text.tokens import tokenise
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Column, Outcome

# These act on a synonym itself, all others on the table that it stands for.
_OF_SYNONYMS = frozenset({"CREATE SYNONYM", "DROP"})


class NameResolver:
    """Resolves names one by one, so that the size of the snapshot costs nothing.

    Args:
        server: The namespace of the server on which the statements ran.
        snapshot: The tables, views and modules of the server; without one only names are known.
        schema: The schema that names without one are looked up in, before `dbo`.
    """

    def __init__(self, server: str, snapshot: Snapshot | None = None, schema: str = "") -> None:
        self.server = server
        self._snapshot = snapshot
        self._schema = schema
        self._functions: dict[FullName, Sequence[str]] = {}

    def within(self, schema: str) -> NameResolver:
        """A resolver for the text of a view or procedure, whose own schema is looked up first.

        After "CREATE PROCEDURE" in Microsoft's reference, on names that are not qualified.
        """
        inside = NameResolver(self.server, self._snapshot, schema)
        inside._functions = self._functions
        return inside

    def access(self, table: TableAccess, database: str) -> DatasetAccess | None:
        """The table or file that a statement reads or writes.

        None for SQL Server's own catalog, and for a file below a data source that is not known.

        Args:
            database: The current database, which names without one are in.
        """
        columns = tuple(Column(*column) for column in table.columns)
        if table.kind is Kind.PATH:
            path = self._path(table.name[-1], database)
            file = file_dataset(path, self.server) if path else None
            return DatasetAccess(file, Kind.PATH, table.operation) if file else None
        if table.kind is Kind.TEMPORARY:
            dataset = DatasetId(self.server, table.name[-1])
            return DatasetAccess(dataset, Kind.TEMPORARY, table.operation, columns=columns)
        named = self._full_name(table.name, database)
        target = named if table.operation in _OF_SYNONYMS else self._synonym_target(named)
        if target.is_system:
            return None
        relation = self.relation(target)
        # The types in a statement are newer than the snapshot: it made the table.
        if relation and relation.columns and not any(column.type for column in columns):
            columns = relation.columns
        return DatasetAccess(
            target.dataset(self.server),
            relation.kind if relation else table.kind,
            table.operation,
            columns=columns,
            alias=None if target.casefold() == named.casefold() else named.dataset(self.server),
        )

    def columns(self, database: str, name: Name) -> Sequence[str]:
        """The columns of a table that a statement names; empty where they are not known."""
        if self._snapshot is None or name[-1][:1] in ("#", "@"):
            return ()
        target = self._synonym_target(self._full_name(name, database))
        relation = self.relation(target)
        if relation:
            return [column.name for column in relation.columns]
        return self.function_columns(target)

    def function_columns(self, function: FullName) -> Sequence[str]:
        """The columns of an inline function, by its text; empty where they are not known."""
        key = function.casefold()
        if key not in self._functions:
            resolver = self.within(function.schema)
            self._functions[key] = ()  # it may name itself
            module = self.module(function)
            view = function_view(module.text) if module else FunctionView("")
            shapes = parse(
                view.text,
                Dialect.TSQL,
                lambda used, table: resolver.columns(used or function.database, table),
            )
            shape = next((shape for shape in shapes if shape.writes), None)
            reads_nothing = shape and not shape.reads and shape.outcome is Outcome.PARSED
            if view.of_one_value and reads_nothing:
                self._functions[key] = COMPUTED
            else:
                self._functions[key] = shape.result if shape else ()
        return self._functions[key]

    def definition(self, name: FullName) -> str:
        """The text of a view, an inline function as a view; empty for anything else."""
        module = self.module(name)
        if module is None or module.kind not in (ModuleKind.VIEW, ModuleKind.FUNCTION):
            return ""
        return module.text if module.kind is ModuleKind.VIEW else function_view(module.text).text

    def procedure(self, name: Name, database: str) -> tuple[FullName, Module] | None:
        """The procedure that a call names; None where the snapshot has none of this name."""
        target = self._synonym_target(self._full_name(name, database))
        module = self.module(target)
        return (target, module) if module and module.kind is ModuleKind.PROCEDURE else None

    def unknown_procedures(self, names: Iterable[Name], database: str) -> list[Name]:
        """The procedures of users of which the snapshot has no text."""
        return [
            name
            for name in names
            if not self._full_name(name, database).is_system
            and not is_system_procedure(name[-1])
            and not self.procedure(name, database)
        ]

    def relation(self, name: FullName) -> SnapshotRelation | None:
        """The table or view of this name."""
        base = self._database(name)
        return base.relation(name.in_schema) if base else None

    def module(self, name: FullName) -> Module | None:
        """The view, procedure, function or trigger of this name."""
        base = self._database(name)
        return base.module(name.in_schema) if base else None

    def _path(self, path: str, database: str) -> str:
        """A path in full; empty where the snapshot does not have its data source."""
        source, rest = split_data_source(path)
        if not source:
            return path
        base = self._snapshot.database(database) if self._snapshot else None
        place = base.data_source(source) if base else None
        return f"{place.rstrip('/')}/{rest}" if place else ""

    def _full_name(self, name: Name, database: str) -> FullName:
        qualified = self._without_own_server(full_name(name, database))
        if self._schema and not any(name[-2:-1]):
            here = qualified._replace(schema=self._schema)
            if self.relation(here) or self.module(here) or self._synonym(here):
                return here
        return qualified

    def _synonym(self, name: FullName) -> str | None:
        base = self._database(name)
        return base.synonym(name.in_schema) if base else None

    def _database(self, name: FullName) -> SnapshotDatabase | None:
        if self._snapshot is None or name.server:
            return None
        return self._snapshot.database(name.database)

    def _without_own_server(self, name: FullName) -> FullName:
        """A name of four parts may begin with the server's own name."""
        is_own = self._snapshot and self._snapshot.server.casefold() == name.server.casefold()
        return name._replace(server="") if is_own else name

    def _synonym_target(self, named: FullName) -> FullName:
        """The name that a synonym stands for in the end; itself where synonyms go in a circle."""
        target, seen = named, set[FullName]()
        while parts := _parts(self._synonym(target) or ""):
            seen.add(target.casefold())
            target = self._without_own_server(full_name(parts, target.database))
            if target.casefold() in seen:
                return named
        return target


@lru_cache(10_000)
def _parts(written: str) -> Name:
    try:
        match = name_at(tokenise(written, Dialect.TSQL), 0, Dialect.TSQL)
    except TokenError:
        return ()
    return match.name if match else ()
