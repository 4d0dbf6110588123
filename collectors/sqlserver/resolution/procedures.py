"""The statements of a called procedure by its text, for calls whose inside was not captured.

Its text does not show which branch of a procedure ran: all of them count, marked as inferred.
Triggers and functions are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.names import FullName
from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.statement import (
    ResolvedStatement,
    resolve_statement,
)
from dbt_graft.collectors.statements.earlier import ColumnLookup
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name

# How deep calls are followed into procedures, and how many calls and statements of them for one
# statement.
_DEEPEST = 8
_MOST = 4_000

Parse = Callable[[str, Dialect, ColumnLookup], Sequence[ParsedShape]]


class _BodyStatement(NamedTuple):
    """A statement of a body: the resolved one, its calls, and the current database."""

    statement: ResolvedStatement | None
    calls: Sequence[Name]
    database: str


class _ProcedureCall(NamedTuple):
    name: Name
    database: str
    schema: str
    callers: frozenset[FullName]


class ProcedureExpander:
    """Expands calls to the statements of procedures; a body is parsed when it is first called."""

    def __init__(self, resolver: NameResolver, parse: Parse) -> None:
        self.resolver = resolver
        self._parse = parse
        self._bodies: dict[FullName, Sequence[_BodyStatement]] = {}

    def expand(self, names: Sequence[Name], database: str) -> Iterator[ResolvedStatement]:
        """The statements of the called procedures, in order, and of those that these call."""
        waiting: list[ResolvedStatement | _ProcedureCall] = [
            _ProcedureCall(name, database, "", frozenset()) for name in reversed(names)
        ]
        steps = 0
        while waiting and steps < _MOST:
            step = waiting.pop()
            steps += 1
            if isinstance(step, ResolvedStatement):
                yield step
            else:
                waiting += reversed(list(self._steps(step)))

    def _steps(self, call: _ProcedureCall) -> Iterator[ResolvedStatement | _ProcedureCall]:
        procedure = self.resolver.within(call.schema).procedure(call.name, call.database)
        if (
            procedure is None
            or len(call.callers) == _DEEPEST
            or procedure[0].casefold() in call.callers
        ):
            return
        full_name, module = procedure
        key = full_name.casefold()
        if key not in self._bodies:
            self._bodies[key] = tuple(self._body(full_name, module.text))
        callers = call.callers | {key}
        for statement, calls, database in self._bodies[key]:
            if statement:
                yield statement
            yield from (_ProcedureCall(name, database, full_name.schema, callers) for name in calls)

    def _body(self, full_name: FullName, text: str) -> Iterator[_BodyStatement]:
        procedure = f"{full_name.database}.{full_name.in_schema}"
        resolver = self.resolver.within(full_name.schema)

        def columns(used: str | None, table: Name) -> Sequence[str]:
            return resolver.columns(used or full_name.database, table)

        for shape in self._parse(text, Dialect.TSQL, columns):
            if shape.module is None:
                continue  # the procedure's head
            database = shape.database or full_name.database
            statement = resolve_statement(shape, database, resolver, procedure)
            yield _BodyStatement(statement if statement.counts else None, shape.calls, database)
