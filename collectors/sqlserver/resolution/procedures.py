"""What a call does by the text of its procedure, for calls whose inside was not captured.

Which branch of a procedure ran, its text does not tell: whatever stands there counts, marked as
inferred. Triggers and functions are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.resolution.lookup import NameResolver
from dbt_graft.collectors.sqlserver.resolution.names import FullName
from dbt_graft.collectors.sqlserver.resolution.statement import Row, statement
from dbt_graft.collectors.statements.parse import Columns, ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name

# How deep calls are followed into procedures, and how many calls and statements of them for one
# statement.
_DEEPEST = 8
_MOST = 4_000

Parse = Callable[[str, Dialect, Columns], Sequence[ParsedShape]]


class _Part(NamedTuple):
    """A statement of a body: what it means, and what it calls, with the current database."""

    row: Row | None
    calls: Sequence[Name]
    database: str


class _Call(NamedTuple):
    name: Name
    database: str
    schema: str
    callers: frozenset[FullName]


class ProcedureExpander:
    """The bodies of procedures, each parsed when it is first called."""

    def __init__(self, lookup: NameResolver, parse: Parse) -> None:
        self.lookup = lookup
        self._parse = parse
        self._known: dict[FullName, Sequence[_Part]] = {}

    def inside(self, names: Sequence[Name], database: str) -> Iterator[Row]:
        """What the procedures do that a statement calls, in order, and those that these call."""
        waiting: list[Row | _Call] = [_Call(n, database, "", frozenset()) for n in reversed(names)]
        steps = 0
        while waiting and steps < _MOST:
            one = waiting.pop()
            steps += 1
            if isinstance(one, dict):
                yield one
            else:
                waiting += reversed(list(self._steps(one)))

    def _steps(self, call: _Call) -> Iterator[Row | _Call]:
        found = self.lookup.within(call.schema).procedure(call.name, call.database)
        if found is None or len(call.callers) == _DEEPEST or found[0].folded() in call.callers:
            return
        place, module = found
        key = place.folded()
        if key not in self._known:
            self._known[key] = tuple(self._body(place, module.text))
        for part in self._known[key]:
            if part.row:
                yield part.row
            callers = call.callers | {key}
            yield from (_Call(n, part.database, place.schema, callers) for n in part.calls)

    def _body(self, place: FullName, text: str) -> Iterator[_Part]:
        procedure = f"{place.database}.{place.in_schema}"
        lookup = self.lookup.within(place.schema)

        def columns(used: str | None, table: Name) -> Sequence[str]:
            return lookup.columns(used or place.database, table)

        for shape in self._parse(text, Dialect.TSQL, columns):
            if shape.module is None:
                continue  # the procedure's head
            database = shape.database or place.database
            row = statement(shape, database, lookup, procedure)
            told = row["accesses"] or row["outcome"] == "failed"
            yield _Part(row if told else None, shape.calls, database)
