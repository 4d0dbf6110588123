"""Texts that were sent -> what they do, on the executors: each distinct text is parsed once.

Parsing happens in a child process (`workers`), so that a text that kills the parser costs itself
and nothing else.

The statements of a called procedure by its text, for calls whose inside was not captured.

Its text does not show which branch of a procedure ran: all of them count, marked as inferred.
Triggers and functions are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.names import FullName
from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.statement import (
    ResolvedStatement,
    hidden_calls,
    procedure_names,
    resolve_statement,
)
from dbt_graft.collectors.sqlserver.runs import temporaries
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot
from dbt_graft.collectors.statements.earlier import ColumnLookup, EarlierStatements
from dbt_graft.collectors.statements.parse import parse, with_known_tables
from dbt_graft.collectors.statements.shape import ParsedShape, failure
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.modules import creates_module, module_name
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.tokens import tokenise
from dbt_graft.collectors.statements.workers import SECONDS, Worker
from dbt_graft.lineage.frozen import frozen

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

        head, *shapes = self._parse(text, Dialect.TSQL, columns) or (None,)
        words = tokenise(head.text, Dialect.TSQL) if head else []
        own = module_name(words) if creates_module(words) else None
        for shape in shapes:
            if shape.module is None or shape.module != own:
                continue  # one that creates another module, or of that
            database = shape.database or full_name.database
            statement = resolve_statement(shape, database, resolver, procedure)
            yield _BodyStatement(statement if statement.counts else None, shape.calls, database)
            for hidden in hidden_calls(shape, database, resolver, procedure):
                yield _BodyStatement(hidden, (), database)


# Texts that are remembered.
_MOST_TEXTS = 20_000


@frozen
class SentText:
    """A text without literals, and the session in which it was sent.

    Attributes:
        temporaries: The temporary tables of the session and their columns, as far as known.
        holding_data: The variables that were filled from tables before it, with commas.
    """

    text: str
    database: str
    temporaries: tuple[tuple[str, tuple[str, ...]], ...] = ()
    holding_data: str = ""


@frozen
class ResolvedText:
    """The statements of a text that was sent, its own and those that it calls.

    Attributes:
        inferred: The statements of the procedures that it calls, by their texts.
        calls: The procedures that it calls, folded and without schema.
        made: The temporary tables that it makes and leaves, with their columns.
    """

    statements: tuple[ResolvedStatement, ...]
    inferred: tuple[ResolvedStatement, ...]
    made: tuple[tuple[str, tuple[str, ...]], ...] = ()
    calls: frozenset[str] = frozenset()


class TextResolver:
    """Parses and resolves texts, each once, in a child process, until it is closed.

    Args:
        snapshot: What the server holds: columns, kinds, synonyms and procedures.
    """

    def __init__(
        self,
        server: str,
        snapshot: Snapshot | None = None,
        parse: Parse = parse,
        seconds: float = SECONDS,
    ) -> None:
        self._expander = ProcedureExpander(NameResolver(server, snapshot), parse)
        self._parse = parse
        self._known: dict[SentText, ResolvedText] = {}
        self._worker = Worker(self._work, self._failed_text, seconds)

    def close(self) -> None:
        """End the child process."""
        self._worker.close()

    def resolve(self, texts: Iterable[SentText]) -> Mapping[SentText, ResolvedText]:
        """Texts -> what they do; of those asked for, and maybe of others."""
        asked = dict.fromkeys(texts)
        new = [text for text in asked if text not in self._known]
        if len(self._known) + len(new) > _MOST_TEXTS:
            self._known = {text: self._known[text] for text in asked if text in self._known}
        self._known |= zip(new, self._worker.map(new), strict=True)
        return self._known

    def _work(self, sent: SentText) -> ResolvedText:
        temporaries = dict(sent.temporaries)

        def columns(used: str | None, table: Name) -> Sequence[str]:
            known = temporaries.get(table[-1].casefold())
            return known or self._expander.resolver.columns(used or sent.database, table)

        if not sent.holding_data:
            shapes = self._parse(sent.text, Dialect.TSQL, columns)
        else:  # as if it stood behind a statement that fills them
            filled = f"FETCH before INTO {sent.holding_data};\n{sent.text}"
            shapes = self._parse(filled, Dialect.TSQL, columns)[1:]
        return resolve_statements(sent, shapes, self._expander)

    def _failed_text(self, sent: SentText, reason: str) -> ResolvedText:
        shape = failure(sent.text, Dialect.TSQL, reason)
        return resolve_statements(sent, (shape,), self._expander)


def resolve_statements(
    sent: SentText, shapes: Iterable[ParsedShape], expander: ProcedureExpander
) -> ResolvedText:
    """The statements of a text that touch a dataset or could not be read, equal ones once.

    One `ordinal` gives the order of the text's own statements and of those that it calls.
    """
    statements: dict[tuple[str, ...], ResolvedStatement] = {}
    hidden: dict[tuple[str, ...], ResolvedStatement] = {}
    inferred: dict[tuple[str, ...], ResolvedStatement] = {}
    ordinal, made, calls = 0, EarlierStatements(), set[str]()
    for shape in shapes:
        if shape.module is not None:
            continue  # it was defined, not run
        made.make(shape.accesses, shape.result)
        database = shape.database or sent.database
        for name in shape.calls:  # first: INSERT t EXEC p
            called = procedure_names([name])
            calls |= called
            for body in expander.expand([name], database):
                key = (body.shape.shape_id, body.procedure or "", *called)
                _count_statement(inferred, key, replace(body, inside=called), ordinal)
                ordinal += 1
        known = with_known_tables(shape, database)
        statement = resolve_statement(known, database, expander.resolver)
        _count_statement(statements, (statement.shape_id, database), statement, ordinal)
        ordinal += 1
        for call in hidden_calls(known, database, expander.resolver):
            _count_statement(hidden, (call.shape_id,), call, ordinal)
            ordinal += 1
    counted = [statement for statement in statements.values() if statement.counts]
    alone = sum(statement.times for statement in counted if statement.has_rows) == 1
    return ResolvedText(
        statements=(
            *(replace(statement, alone=alone) for statement in counted),
            *hidden.values(),
        ),
        inferred=tuple(inferred.values()),
        made=made.temporaries,
        calls=frozenset(calls),
    )


def _count_statement(
    statements: dict[tuple[str, ...], ResolvedStatement],
    key: tuple[str, ...],
    statement: ResolvedStatement,
    ordinal: int,
) -> None:
    earlier = statements.get(key)
    statements[key] = (
        replace(earlier, times=earlier.times + 1)
        if earlier
        else replace(statement, ordinal=ordinal)
    )


# A table by its name and its suffix -> its columns; empty where these are not known.
_Columns = dict[tuple[str, str], tuple[str, ...]]
# How many tables are followed that are made of each other by `SELECT *`.
_ROUNDS = 5


def resolve_texts(
    segments: Sequence[RunSegment], resolver: TextResolver
) -> list[ResolvedText | None]:
    """The texts of segments of some runs; None where no log shows one."""
    suffixes = [temporaries.decode(segment.key.temporaries) for segment in segments]
    known: _Columns = {}
    resolved: list[ResolvedText | None] = []
    for _ in range(_ROUNDS):
        sent = [
            None if segment.key.text is None else _sent(segment, named, known)
            for segment, named in zip(segments, suffixes, strict=True)
        ]
        texts = resolver.resolve(filter(None, sent))
        resolved = [None if text is None else texts[text] for text in sent]
        made = _made_tables(zip(suffixes, resolved, strict=True))
        if made == known:
            break
        known = made
    return resolved


def _sent(segment: RunSegment, named: Mapping[str, str], known: _Columns) -> SentText:
    tables = ((name, known.get((name, suffix), ())) for name, suffix in named.items())
    text = segment.key.text or ""
    known_tables = tuple(table for table in tables if table[1])
    return SentText(text, segment.key.database, known_tables, segment.key.holding_data)


def _made_tables(
    texts: Iterable[tuple[Mapping[str, str], ResolvedText | None]],
) -> _Columns:
    """The temporary tables that texts make; where two do not agree, nothing is known."""
    made: _Columns = {}
    for named, text in texts:
        for name, columns in text.made if text else ():
            table = name, named.get(name, "")
            made[table] = columns if made.get(table, columns) == columns else ()
    return made
