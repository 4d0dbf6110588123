"""One statement, as tokens -> its shape: the tables of the scan, and the columns of the tree."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from sql_metadata import Parser

from dbt_graft.collectors.statements.columns.edges import (
    FollowedColumns,
    ParsedColumnEdge,
    column_edges,
)
from dbt_graft.collectors.statements.columns.rewrites import make_readable
from dbt_graft.collectors.statements.columns.statement_tokens import outputs_into, split_composed
from dbt_graft.collectors.statements.columns.tree import (
    NoTreeError,
    sources_and_targets,
    syntax_tree,
    table_mismatch,
)
from dbt_graft.collectors.statements.earlier import COMPUTED, EarlierStatements
from dbt_graft.collectors.statements.shape import ParsedShape, shape_id
from dbt_graft.collectors.statements.tables.scan import TableScan, scan
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.double_quotes import NAME_OR_VALUE
from dbt_graft.collectors.statements.text.modules import called_functions
from dbt_graft.collectors.statements.text.names import Name, NameAt, name_at
from dbt_graft.collectors.statements.text.split import STARTS
from dbt_graft.collectors.statements.text.tokens import Token, keywords, tokenise
from dbt_graft.collectors.statements.text.unwrap import STATEMENT_AT
from dbt_graft.collectors.statements.text.variables import UNKNOWN
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Outcome, Subtype

_LOADS = frozenset({Operation.BULK_INSERT, Operation.COPY_INTO})
_OF_QUERIES = frozenset({Operation.CREATE_TABLE_AS, Operation.CREATE_VIEW, Operation.SELECT_INTO})
_CALLS = frozenset({"EXEC", "EXECUTE"})
# The result of such a statement goes nowhere: its condition, a variable, a cursor.
_NO_RESULT = frozenset({"DECLARE", "IF", "RETURN", "SET", "WHILE"})


def follow_columns(
    text: str,
    tokens: list[Token],
    accesses: Sequence[TableAccess],
    dialect: Dialect,
    columns: Callable[[Name], Sequence[str]],
    holding_data: frozenset[str],
) -> FollowedColumns:
    """The column edges of a statement; its gap says why some are missing.

    Args:
        holding_data: The variables, folded, that were filled from tables.
    """
    if loaded := _loaded_columns(accesses):
        return loaded
    reads = [access.name for access in accesses if access.direction is Direction.READ]
    writes = [access.name for access in accesses if access.direction is Direction.WRITE]
    outer: list[str] = []
    if dialect is Dialect.TSQL and (composed := split_composed(text, tokens)):
        text, tokens, insert = composed
        outer.append(make_readable(insert, tokenise(insert, dialect)))
        changed = {access.name for access in scan(tokens, dialect).accesses}
        writes.sort(key=lambda name: name not in changed)
    try:
        tree, *outputs = [
            syntax_tree(readable, tokens, dialect)
            for readable in (*_readable_texts(text, tokens, dialect), *outer)
        ]
    except NoTreeError as error:
        if not writes and tokens[0].word in _NO_RESULT:
            return FollowedColumns(())
        calls = any(token.word in _CALLS for token in tokens)
        reason = "those of a procedure's rows are not known" if calls else error
        return FollowedColumns((), f"columns not resolved: {reason}")
    followed = column_edges(tree, reads, writes, dialect, columns, outputs, holding_data)
    names = {access.name[-1].casefold() for access in accesses if _is_in_tree(access, dialect)}
    if mismatch := table_mismatch([tree, *outputs], names):
        # A tree that holds other tables was read wrongly, and so were its columns.
        return FollowedColumns((), f"tables not confirmed: {mismatch}")
    gap = followed.gap and f"columns not resolved: {followed.gap}"
    return followed._replace(gap=gap)


def _is_in_tree(access: TableAccess, dialect: Dialect) -> bool:
    """Not the rows of a function, nor the files that an external table of T-SQL is made of.

    That a table is a view, no statement shows.
    """
    if access.direction is Direction.READ:
        return access.kind is not Kind.VIEW
    return dialect is not Dialect.TSQL or access.kind is not Kind.PATH


def _readable_texts(text: str, tokens: list[Token], dialect: Dialect) -> list[str]:
    """A statement as sqlglot reads it, then what its OUTPUT … INTO writes."""
    if dialect is not Dialect.TSQL:
        return [text]
    return [make_readable(text, tokens), *outputs_into(text, tokens)]


def _loaded_columns(accesses: Sequence[TableAccess]) -> FollowedColumns | None:
    """The columns of INSERT BULK, by which bcp and bulk copies announce the rows that they send.

    BULK INSERT and COPY INTO take those of a file by their places, which no text shows.
    """
    if any(a.operation in _LOADS and a.kind is Kind.PATH for a in accesses):
        return FollowedColumns((), "columns not resolved: those of a file go by their places")
    edges = tuple(
        ParsedColumnEdge(access.name, column, (), column, Subtype.IDENTITY)
        for access in accesses
        if access.operation is Operation.BULK_INSERT
        for column, _ in access.columns
    )
    return FollowedColumns(edges) if edges else None


_log = logging.getLogger(__name__)
NOT_RESOLVED, NOT_SUPPORTED = "dynamic SQL not resolved", "statement not supported: "
_IN_QUOTES = "a text in double quotes may be a column or a value, by QUOTED_IDENTIFIER"
# Without any of these a statement that is not supported names no table.
_TABLE_WORDS = frozenset({"FROM", "JOIN", "INTO", "TABLE", "UPDATE", "USING"})
# Their FROM names a queue of Service Broker: RECEIVE, and WAITFOR (RECEIVE …).
_FILLS_VARIABLES = frozenset({"DECLARE", "SELECT", "SET"})
_QUEUE_VERBS = frozenset({"RECEIVE", "WAITFOR"})
# Statements with these name no column that goes into another.
_NO_COLUMNS = frozenset(
    {operation for operation in Operation if operation.renames or operation.switches}
    | {Operation.ALTER, Operation.CREATE_SYNONYM, Operation.CREATE_TABLE}
    | {Operation.DROP, Operation.TRUNCATE}
)
_KEYWORD = re.compile(
    r"\b(SELECT|INSERT|REPLACE|UPDATE|DELETE|MERGE|TRUNCATE|DROP|CREATE|ALTER)\b", re.IGNORECASE
)
_OPERATIONS = {"REPLACE": Operation.INSERT, "CREATE": Operation.CREATE_TABLE}


def statement_shape(
    text: str,
    tokens: list[Token],
    dialect: Dialect,
    database: str | None,
    begins: bool,
    earlier: EarlierStatements,
) -> ParsedShape:
    """The shape of a statement.

    Args:
        text: What the tokens are of.
        database: The database that `USE` chose earlier in the text.
        begins: It begins its text.
        earlier: The statements before.
    """
    table_scan = scan(tokens, dialect)
    calls: tuple[Name, ...] = ()
    if dialect is Dialect.TSQL:
        calls = called_procedures(tokens, alone=begins and not table_scan.verb)
    if table_scan.problem and (named := _named_like_keywords(text, tokens, table_scan, dialect)):
        table_scan = table_scan._replace(accesses=[*table_scan.accesses, *named], problem="")
    # `USE ??` touches nothing; what comes behind it is in a database that is not known.
    is_partial = UNKNOWN in text and tokens[0].word != "USE"
    reason = table_scan.problem or (NOT_RESOLVED if is_partial else "")
    if is_dynamic(tokens, calls) or (not calls and tokens[0].word in ("?", UNKNOWN)):
        reason = NOT_RESOLVED
    elif table_scan.verb is None and not calls:
        reason = f"{NOT_SUPPORTED}{tokens[0].word or 'a name'}"
        is_queue = tokens[0].word in _QUEUE_VERBS
        if not is_queue and _TABLE_WORDS.intersection(token.word for token in tokens):
            return last_resort(text, dialect, reason, tokens[0].word)
    columns = partial(earlier.columns, database)
    accesses = [*table_scan.accesses]
    for function in (*table_scan.functions, *_functions_of_one_value(tokens, table_scan, dialect)):
        returned = columns(function.name)
        if not returned:
            called = ".".join(function.name)
            reason = reason or f"what the function {called} reads is not known"
        elif tuple(returned) != COMPUTED:
            accesses.append(function)
    followed = FollowedColumns(())
    if any(access.operation not in _NO_COLUMNS for access in accesses):
        readable = text.replace(UNKNOWN, " ") if is_partial else text
        followed = follow_columns(
            readable.replace(NAME_OR_VALUE, " ? "),
            tokens,
            accesses,
            dialect,
            columns,
            earlier.holding_data,
        )
        reason = reason or followed.gap or (_IN_QUOTES if NAME_OR_VALUE in text else "")
        accesses = [_define(access, followed.result) for access in accesses]
    return ParsedShape(
        shape_id=shape_id(text, dialect),
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


def _define(access: TableAccess, result: Sequence[str]) -> TableAccess:
    """A table or view that a query makes has the columns of the query."""
    if access.operation not in _OF_QUERIES or access.direction is Direction.READ or access.columns:
        return access
    return replace(access, columns=tuple((column, "") for column in result))


def _functions_of_one_value(
    tokens: list[Token], table_scan: TableScan, dialect: Dialect
) -> list[TableAccess]:
    """The functions of T-SQL's users that a statement calls in expressions, as reads."""
    reaches = any(access.operation not in _NO_COLUMNS for access in table_scan.accesses)
    if dialect is not Dialect.TSQL or not (reaches or tokens[0].word in _FILLS_VARIABLES):
        return []
    named = {access.name for access in (*table_scan.accesses, *table_scan.functions)}
    operation = table_scan.accesses[0].operation if reaches else Operation.SELECT
    return [
        TableAccess(name, Direction.READ, operation, Kind.VIEW)
        for name in dict.fromkeys(called_functions(tokens))
        if name not in named
    ]


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


_EXECUTES = frozenset({"EXEC", "EXECUTE", "CALL"})
# In these, EXECUTE is a permission or names the user as whom something runs.
_NO_CALL = keywords("ALTER CREATE DENY GRANT REVOKE WITH")
_SYSTEM_PREFIXES = ("sp_", "xp_")
# Where a text that they run can be seen, the statement stands in place of the call.
_RUN_A_TEXT = frozenset(
    {
        *STATEMENT_AT,
        *("sp_execute_external_script", "sp_execute_remote", "sp_msforeachdb"),
        *("sp_msforeachtable", "sp_sqlexec", "xp_cmdshell"),
    }
)


def called_procedures(tokens: list[Token], *, alone: bool = False) -> tuple[Name, ...]:
    """The names of the procedures, as written; those in variables and on linked servers left out.

    Args:
        alone: It may be a call without EXEC: it begins its batch with a word that is no verb.
    """
    if tokens[0].word in _NO_CALL:
        return ()
    names = [name_at(tokens, at, Dialect.TSQL) for at in _procedure_places(tokens)]
    if alone and (first := name_at(tokens, 0, Dialect.TSQL)) and _is_call(tokens, first):
        names.append(first)
    return tuple(dict.fromkeys(name.name for name in names if name and name.kind is Kind.TABLE))


def is_dynamic(tokens: list[Token], calls: Iterable[Name]) -> bool:
    """Whether a statement runs a text or a procedure that is not known: it is in a variable."""
    if tokens[0].word in _NO_CALL:
        return False
    if any(name[-1].casefold() in _RUN_A_TEXT for name in calls):
        return True
    return any(_is_unknown(tokens[at : at + 2]) for at in _procedure_places(tokens))


def _is_unknown(tokens: list[Token]) -> bool:
    """Whether these follow EXEC: `(@sql)`, `@procedure`, `IMMEDIATE sql`; not `(SELECT …) AT s`."""
    first, last = tokens[0].word, tokens[-1].word
    if first == "(":
        return last not in STARTS
    return first == "IMMEDIATE" or first[:1] == "@"


def _procedure_places(tokens: list[Token]) -> Iterator[int]:
    """The places after EXEC, EXECUTE and CALL, and after the variable that takes the result."""
    for at, token in enumerate(tokens):
        # `CALL p`, `? = CALL p`; elsewhere CALL is a name.
        is_name = token.word == "CALL" and at and tokens[at - 1].word != "="
        if token.word not in _EXECUTES or is_name:
            continue
        words = [token.word for token in tokens[at + 1 : at + 3]]
        position = at + (3 if words[1:] == ["="] else 1)  # EXEC @rc = dbo.load
        if position < len(tokens) and words[0] != "AS":
            yield position


def _is_call(tokens: list[Token], name: NameAt) -> bool:
    """Whether a name is followed by arguments or by nothing at all."""
    if name.end == len(tokens) or name.name[-1].casefold().startswith(_SYSTEM_PREFIXES):
        return True
    word = tokens[name.end].word
    return word[:1] in ("?", "@", "-") or word in ("NULL", "DEFAULT")


def last_resort(text: str, dialect: Dialect, reason: str, verb: str) -> ParsedShape:
    """The shape of a statement with the tables of sql-metadata, where the token scan has none."""
    try:
        accesses, outcome = _last_keyword(text), Outcome.PARTIAL
    except ValueError:
        _log.debug("no parser reads a statement", exc_info=True)
        accesses, outcome = [], Outcome.FAILED
    return ParsedShape(
        shape_id=shape_id(text, dialect),
        dialect=dialect,
        text=text,
        parser="sql-metadata",
        outcome=outcome,
        reason=reason,
        verb=verb.upper(),
        accesses=tuple(accesses),
    )


def _last_keyword(text: str) -> list[TableAccess]:
    """The tables of a statement without literals.

    Raises:
        ValueError: sql-metadata does not support it either.
    """
    try:
        tables = Parser(text, disable_logging=True).tables
    except Exception as error:
        # Its errors are of many classes, sqlglot's and Python's own among them.
        raise ValueError(f"sql-metadata: {type(error).__name__}") from error
    return [_access(text, table) for table in tables]


def _access(text: str, table: str) -> TableAccess:
    at = text.casefold().find(table.casefold())
    keywords = _KEYWORD.findall(text[: max(at, 0)])
    keyword = keywords[-1].upper() if keywords else "SELECT"
    operation = _OPERATIONS.get(keyword) or Operation(keyword)
    direction = Direction.READ if operation is Operation.SELECT else Direction.WRITE
    name = tuple(part.strip('[]`"') for part in table.split("."))
    return TableAccess(name, direction, operation)
