"""SQL text -> the shapes of its statements, and the tables and columns that they access."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.columns.edge_collector import ParsedColumnEdge
from dbt_graft.collectors.statements.columns.edges import FollowedColumns
from dbt_graft.collectors.statements.columns.tree import (
    NoTreeError,
    sources_and_targets,
    syntax_tree,
)
from dbt_graft.collectors.statements.earlier import ColumnLookup, EarlierStatements
from dbt_graft.collectors.statements.followed import follow_columns
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.tables.calls import called_procedures, is_dynamic
from dbt_graft.collectors.statements.tables.last_keyword import last_keyword
from dbt_graft.collectors.statements.tables.scan import TableScan, scan
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.length import LONGEST, TOO_LONG, pieces
from dbt_graft.collectors.statements.text.modules import creates_module, module_name
from dbt_graft.collectors.statements.text.names import Name, name_at
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import Token, tokenise
from dbt_graft.collectors.statements.text.variables import UNKNOWN
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Outcome

_log = logging.getLogger(__name__)

# Raised when the same text may give another shape, so that old and new shapes never mix.
VERSION = 5
_NOT_RESOLVED = "dynamic SQL not resolved"
_SCHEMAS = frozenset({"SCHEMA", "DATABASE", "NAMESPACE"})
# Without any of these a statement that is not supported names no table.
_TABLE_WORDS = frozenset({"FROM", "JOIN", "INTO", "TABLE", "UPDATE", "USING"})
# Their FROM names a queue of Service Broker: RECEIVE, and WAITFOR (RECEIVE …).
_QUEUE_VERBS = frozenset({"RECEIVE", "WAITFOR"})
# Statements with these name no column that goes into another.
_NO_COLUMNS = frozenset(
    {operation for operation in Operation if operation.renames or operation.switches}
    | {Operation.ALTER, Operation.CREATE_SYNONYM, Operation.CREATE_TABLE}
    | {Operation.DROP, Operation.TRUNCATE}
)


@dataclass(frozen=True, slots=True)
class ParsedShape:
    """A statement with its literals taken out, and the tables it reads and writes.

    Attributes:
        shape_id: Stable across processes and machines; holds the version of the shaping.
        parser: The library that found the tables: `sqlglot` (its tokens) or, as the last resort,
            `sql-metadata`.
        outcome: PARSED where sqlglot's tree confirms the tables and all columns were followed,
            PARTIAL where not, FAILED where no table could be found.
        reason: Why the outcome is not PARSED.
        verb: The words that the statement begins with, or its operation: `SET`, `SELECT INTO`,
            `CREATE PROCEDURE`.
        database: The database that `USE` chose earlier in the same text; None before a `USE`.
        module: The procedure, function or trigger in whose definition the statement stands: it
            runs when that is called, and did not when the text ran.
        calls: The procedures that it calls, as written; of T-SQL only.
        result: The columns of the query that fills its target; empty where one is not known.
    """

    shape_id: str
    dialect: Dialect
    text: str
    parser: str
    outcome: Outcome
    reason: str | None
    verb: str
    accesses: tuple[TableAccess, ...]
    database: str | None = None
    module: str | None = None
    column_edges: tuple[ParsedColumnEdge, ...] = ()
    calls: tuple[Name, ...] = ()
    result: tuple[str, ...] = ()

    @property
    def reads(self) -> set[str]:
        """The names of the tables that it reads, dotted."""
        return self._names(Direction.READ)

    @property
    def writes(self) -> set[str]:
        """The names of the tables that it writes, dotted."""
        return self._names(Direction.WRITE)

    def _names(self, direction: Direction) -> set[str]:
        return {".".join(a.name) for a in self.accesses if a.direction is direction}


def parse(
    text: str, dialect: Dialect, columns: ColumnLookup = lambda database, table: ()
) -> tuple[ParsedShape, ...]:
    """The statements of a text, in order, as shapes with their tables and column edges.

    Args:
        columns: The columns of tables, for `SELECT *` and INSERT without columns.

    Never raises: a text that cannot be read is a shape of outcome FAILED with its reason.
    """
    shapes = []
    shapes_by_key: dict[object, ParsedShape] = {}  # a loop repeats statements
    database = module = None
    earlier = EarlierStatements(columns)
    for piece, is_cut in pieces(normalise(text, dialect)):
        try:
            tokens = tokenise(piece, dialect)
        except TokenError:
            verb = piece.partition(" ")[0]
            shapes.append(_last_resort(piece, dialect, "text cannot be split into tokens", verb))
            continue
        if is_cut:
            del tokens[-1:]  # it may be the beginning of a name
        for statement in split(tokens, dialect):
            if [token.word for token in statement] == ["GO"]:
                module = None
                earlier.end_batch()
                continue
            alone = piece[statement[0].start : statement[-1].end]
            key = alone, database, earlier.known_to(statement)
            if key not in shapes_by_key:
                begins = statement[0] is tokens[0]
                shapes_by_key[key] = _shape(alone, statement, dialect, database, begins, earlier)
            if creates_module(statement):
                module = None
            shapes.append(replace(shapes_by_key[key], database=database, module=module))
            earlier.follow(statement, shapes[-1].accesses, shapes[-1].result, dialect)
            if creates_module(statement):
                module = module_name(statement)
            database = _chosen_database(statement, dialect) or database
        if is_cut and shapes:
            shapes[-1] = replace(shapes[-1], outcome=Outcome.PARTIAL, reason=TOO_LONG)
    return tuple(shapes)


def failure(text: str, dialect: Dialect, reason: str) -> ParsedShape:
    """The shape of a normalised text that could not be read, and why."""
    return ParsedShape(
        _shape_id(text, dialect), dialect, text[:LONGEST], "sqlglot", Outcome.FAILED, reason, "", ()
    )


def _shape(
    text: str,
    tokens: list[Token],
    dialect: Dialect,
    database: str | None,
    begins: bool,
    earlier: EarlierStatements,
) -> ParsedShape:
    table_scan = scan(tokens, dialect)
    calls: tuple[Name, ...] = ()
    if dialect is Dialect.TSQL:
        calls = called_procedures(tokens, alone=begins and not table_scan.verb)
    if table_scan.problem and (named := _named_like_keywords(text, tokens, table_scan, dialect)):
        table_scan = table_scan._replace(accesses=[*table_scan.accesses, *named], problem="")
    is_partial = UNKNOWN in text
    reason = table_scan.problem or (_NOT_RESOLVED if is_partial else "")
    if is_dynamic(tokens, calls) or (not calls and tokens[0].word in ("?", UNKNOWN)):
        reason = _NOT_RESOLVED
    elif table_scan.verb is None and not calls:
        reason = f"statement not supported: {tokens[0].word or 'a name'}"
        is_queue = tokens[0].word in _QUEUE_VERBS
        if not is_queue and _TABLE_WORDS.intersection(token.word for token in tokens):
            return _last_resort(text, dialect, reason, tokens[0].word)
    columns = partial(earlier.columns, database)
    accesses = [*table_scan.accesses]
    for function in table_scan.functions:
        if columns(function.name):
            accesses.append(function)
        else:
            called = ".".join(function.name)
            reason = reason or f"what the function {called} reads is not known"
    followed = FollowedColumns(())
    if any(access.operation not in _NO_COLUMNS for access in accesses):
        followed = follow_columns(
            text.replace(UNKNOWN, " ") if is_partial else text,
            tokens,
            accesses,
            dialect,
            columns,
            earlier.holding_data,
        )
        reason = reason or followed.gap
    return ParsedShape(
        shape_id=_shape_id(text, dialect),
        dialect=dialect,
        text=text,
        parser="sqlglot",
        outcome=Outcome.PARTIAL if reason else Outcome.PARSED,
        reason=reason or None,
        verb=table_scan.verb or tokens[0].word,
        accesses=tuple(accesses),
        column_edges=followed.edges,
        calls=calls,
        result=followed.result,
    )


def _named_like_keywords(
    text: str, tokens: list[Token], table_scan: TableScan, dialect: Dialect
) -> list[TableAccess]:
    """The tables that only the tree finds: to the scan `FROM apply` is a keyword too many."""
    try:
        tree = syntax_tree(text, tokens, dialect)
    except NoTreeError:
        return []
    scanned_names = {access.name[-1].casefold() for access in table_scan.accesses}
    written = [
        access.operation for access in table_scan.accesses if access.direction is Direction.WRITE
    ]
    operation = (written or [Operation.SELECT])[0]
    # A name that is a value, or goes on with one, is not known.
    named = {token.word for token in tokens if token.is_name} - {"IDENTIFIER"}
    named -= {a.word for a, b in pairwise(tokens) if b.word in ("?", "??") and a.end == b.start}
    return [
        TableAccess(name, direction, operation)
        for names, direction in zip(
            sources_and_targets(tree), (Direction.READ, Direction.WRITE), strict=True
        )
        for name in dict.fromkeys(names)
        if name[-1].casefold() not in scanned_names
        and named.issuperset(part.upper() for part in name)
    ]


def _last_resort(text: str, dialect: Dialect, reason: str, verb: str) -> ParsedShape:
    """The tables that sql-metadata finds, where the token scan cannot."""
    try:
        accesses, outcome = last_keyword(text), Outcome.PARTIAL
    except ValueError:
        _log.debug("no parser reads a statement", exc_info=True)
        accesses, outcome = [], Outcome.FAILED
    return ParsedShape(
        shape_id=_shape_id(text, dialect),
        dialect=dialect,
        text=text,
        parser="sql-metadata",
        outcome=outcome,
        reason=reason,
        verb=verb.upper(),
        accesses=tuple(accesses),
    )


def _shape_id(text: str, dialect: Dialect) -> str:
    return f"{VERSION}-{hashlib.sha256(f'{dialect}:{text}'.encode()).hexdigest()[:20]}"


def _chosen_database(tokens: list[Token], dialect: Dialect) -> str | None:
    """The database that a `USE` statement chooses."""
    if tokens[0].word != "USE":
        return None
    kind = tokens[1].word if len(tokens) > 2 else ""  # USE SCHEMA s, USE CATALOG c
    database = name_at(tokens, 2 if kind in _SCHEMAS else 1, dialect)
    return ".".join(database.name) if database and kind != "CATALOG" else None
