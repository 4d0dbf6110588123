"""The face of this package: SQL text -> the shapes of its statements and what they access."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.columns.edges import ColumnEdge, column_edges
from dbt_graft.collectors.statements.columns.tree import NoTreeError, objection, tree_of
from dbt_graft.collectors.statements.tables.calls import calls
from dbt_graft.collectors.statements.tables.last_keyword import last_keyword
from dbt_graft.collectors.statements.tables.scan import scan
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.literals import fold
from dbt_graft.collectors.statements.text.modules import creates_module, module_name
from dbt_graft.collectors.statements.text.names import Name, name_at
from dbt_graft.collectors.statements.text.protect import visible
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import Token, tokenise
from dbt_graft.collectors.statements.text.unwrap import unwrap
from dbt_graft.lineage.records import Direction, Outcome

# Raised when the same text may give another shape, so that old and new shapes never mix.
VERSION = 1
# Longer texts are cut: a cut statement still tells its tables up to there.
LONGEST = 1_000_000
_GO = r"^[^\S\n]*GO(?:[^\S\n]+\d+)?[^\S\n]*;?[^\S\n]*\r?$"
_BATCH_SEPARATOR = re.compile(
    rf"(?P<skip>{COMMENT}|{STRING[Dialect.TSQL]}|{NAME[Dialect.TSQL]})|{_GO}", re.I | re.M | re.S
)
_MAY_SEPARATE = re.compile(_GO, re.I | re.M)
_SCHEMAS = frozenset({"SCHEMA", "DATABASE", "NAMESPACE"})
# An unknown statement without any of these has no table to tell.
_TABLE_WORDS = frozenset({"FROM", "JOIN", "INTO", "TABLE", "UPDATE", "USING"})

# The columns of a table, given the database that `USE` chose earlier in the text and the table as
# a statement names it; empty where they are not known.
Columns = Callable[[str | None, Name], Sequence[str]]


@dataclass(frozen=True, slots=True)
class ParsedShape:
    """A statement with its literals taken out, and the tables it reads and writes.

    Attributes:
        shape_id: Stable across processes and machines; holds the version of the shaping.
        parser: Who decided the tables: `sqlglot` (its tokens) or, as the last resort,
            `sql-metadata`.
        outcome: PARSED where sqlglot's tree confirms the tables and all columns were followed,
            PARTIAL where not, FAILED where nobody could tell the tables.
        reason: Why the outcome is not PARSED.
        operation: What the statement does, as SQL names it.
        database: The database that `USE` chose earlier in the same text; None before a `USE`.
        module: The procedure, function or trigger in whose definition the statement stands: it
            tells what a call does, and was not run when the text was.
        calls: The procedures that it calls, as written; of T-SQL only.
    """

    shape_id: str
    dialect: Dialect
    text: str
    parser: str
    outcome: Outcome
    reason: str | None
    operation: str
    accesses: tuple[TableAccess, ...]
    database: str | None = None
    module: str | None = None
    column_edges: tuple[ColumnEdge, ...] = ()
    calls: tuple[Name, ...] = ()

    @property
    def reads(self) -> set[str]:
        """The names of what it reads, dotted."""
        return self._names(Direction.READ)

    @property
    def writes(self) -> set[str]:
        """The names of what it writes, dotted."""
        return self._names(Direction.WRITE)

    def _names(self, direction: Direction) -> set[str]:
        return {".".join(a.name) for a in self.accesses if a.direction is direction}


def normalise(text: str, dialect: Dialect) -> str:
    """A captured text unwrapped and without literals: texts that differ in values become one.

    Never raises, takes time in proportion to the text, and changes nothing the second time.
    """
    text = text[:LONGEST]
    text = unwrap(_separated(text)) if dialect is Dialect.TSQL else visible(text)
    return fold(text, dialect)


def _separated(text: str) -> str:
    """A text in which `GO`, the batch separator of SQL Server's tools, stands between `;`."""
    if not _MAY_SEPARATE.search(text):
        return text
    return _BATCH_SEPARATOR.sub(lambda match: match["skip"] or "; GO ;", text)


def parse(
    text: str, dialect: Dialect, columns: Columns = lambda database, table: ()
) -> tuple[ParsedShape, ...]:
    """The statements of a text, in order, as shapes with their tables and column edges.

    Args:
        columns: What `SELECT *` and an INSERT without columns are spelled out by.

    Never raises: what cannot be read is a shape of outcome FAILED with its reason.
    """
    text = normalise(text, dialect)
    try:
        tokens = tokenise(text, dialect)
    except TokenError:
        return (_last_resort(text, dialect, "sqlglot cannot read its tokens"),)
    shapes = []
    known: dict[tuple[str, str | None], ParsedShape] = {}  # the same may be said a thousand times
    database = module = None
    for statement in split(tokens, dialect):
        if [token.word for token in statement] == ["GO"]:
            module = None
            continue
        alone = text[statement[0].start : statement[-1].end]
        key = (alone, database)
        if key not in known:
            begins = statement[0] is tokens[0]
            known[key] = _shape(alone, statement, dialect, partial(columns, database), begins)
        if creates_module(statement):
            module = None
        shapes.append(replace(known[key], database=database, module=module))
        if creates_module(statement):
            module = module_name(statement)
        database = _used(statement, dialect) or database
    return tuple(shapes)


def failure(text: str, dialect: Dialect, reason: str) -> ParsedShape:
    """The shape of a normalised text that nobody could read, and why."""
    return ParsedShape(
        _shape_id(text, dialect), dialect, text, "sqlglot", Outcome.FAILED, reason, "", ()
    )


def _shape(
    text: str,
    tokens: list[Token],
    dialect: Dialect,
    columns: Callable[[Name], Sequence[str]],
    begins: bool,
) -> ParsedShape:
    operation, accesses = scan(tokens, dialect)
    if operation is None and _TABLE_WORDS.intersection(token.word for token in tokens):
        return _last_resort(text, dialect, "statement not known")
    edges: tuple[ColumnEdge, ...] = ()
    reason = None
    if accesses:
        try:
            tree = tree_of(text, tokens, dialect)
        except NoTreeError as error:
            reason = str(error)
        else:
            edges, missing = column_edges(tree, accesses, dialect, columns)
            reason = objection(tree, {access.name[-1].casefold() for access in accesses}) or missing
    return ParsedShape(
        shape_id=_shape_id(text, dialect),
        dialect=dialect,
        text=text,
        parser="sqlglot",
        outcome=Outcome.PARTIAL if reason else Outcome.PARSED,
        reason=reason,
        operation=operation or tokens[0].word,
        accesses=tuple(accesses),
        column_edges=edges,
        calls=calls(tokens, alone=begins and not operation) if dialect is Dialect.TSQL else (),
    )


def _last_resort(text: str, dialect: Dialect, reason: str) -> ParsedShape:
    try:
        accesses = last_keyword(text)
        outcome = Outcome.PARTIAL
    except ValueError as error:
        accesses, outcome, reason = [], Outcome.FAILED, f"{reason}; {error}"
    return ParsedShape(
        shape_id=_shape_id(text, dialect),
        dialect=dialect,
        text=text,
        parser="sql-metadata",
        outcome=outcome,
        reason=reason,
        operation=accesses[0].operation if accesses else "",
        accesses=tuple(accesses),
    )


def _shape_id(text: str, dialect: Dialect) -> str:
    return f"{VERSION}-{hashlib.sha256(f'{dialect}:{text}'.encode()).hexdigest()[:20]}"


def _used(tokens: list[Token], dialect: Dialect) -> str | None:
    """The database that a `USE` statement chooses."""
    if tokens[0].word != "USE":
        return None
    kind = tokens[1].word if len(tokens) > 2 else ""  # USE SCHEMA s, USE CATALOG c
    found = name_at(tokens, 2 if kind in _SCHEMAS else 1, dialect)
    return ".".join(found.name) if found and kind != "CATALOG" else None
