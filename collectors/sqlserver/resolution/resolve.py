"""Texts that were sent -> what they do, on the executors: each distinct text is parsed once.

Parsing happens in a child process (`workers`), so that a text that kills the parser costs itself
and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.procedures import Parse, ProcedureExpander
from dbt_graft.collectors.sqlserver.resolution.statement import (
    ResolvedStatement,
    resolve_statement,
)
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot
from dbt_graft.collectors.statements.earlier import EarlierStatements
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import ParsedShape, failure
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.workers import SECONDS, Worker

# Texts that are remembered.
_MOST_TEXTS = 20_000


@dataclass(frozen=True, slots=True)
class SentText:
    """A text without literals, and the session in which it was sent.

    Attributes:
        database: The one that was current.
        temporaries: The temporary tables of the session and their columns, as far as known.
    """

    text: str
    database: str
    temporaries: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedText:
    """The statements of a text that was sent, its own and those that it calls.

    Attributes:
        inferred: The statements of the procedures that it calls, by their texts.
        made: The temporary tables that it makes and leaves, with their columns.
    """

    statements: tuple[ResolvedStatement, ...]
    inferred: tuple[ResolvedStatement, ...]
    made: tuple[tuple[str, tuple[str, ...]], ...] = ()


class TextResolver:
    """Parses and resolves texts, each once, in a child process, until it is closed.

    Args:
        server: The namespace of the server's datasets.
        snapshot: What the server holds: columns, kinds, synonyms and procedures.
        parse: Gives the shapes of a text.
        seconds: The longest that one text may take.
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

        shapes = self._parse(sent.text, Dialect.TSQL, columns)
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
    inferred: dict[tuple[str, ...], ResolvedStatement] = {}
    ordinal, made = 0, EarlierStatements()
    for shape in shapes:
        if shape.module is not None:
            continue  # it was defined, not run
        made.make(shape.accesses, shape.result)
        database = shape.database or sent.database
        for inside in expander.expand(shape.calls, database):  # first: INSERT t EXEC p
            _count_statement(
                inferred, (inside.shape.shape_id, inside.procedure or ""), inside, ordinal
            )
            ordinal += 1
        statement = resolve_statement(shape, database, expander.resolver)
        _count_statement(statements, (shape.shape_id, database), statement, ordinal)
        ordinal += 1
    counted = [statement for statement in statements.values() if statement.counts]
    alone = sum(statement.times for statement in counted) == 1
    return ResolvedText(
        statements=tuple(replace(statement, alone=alone) for statement in counted),
        inferred=tuple(inferred.values()),
        made=made.temporaries,
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
