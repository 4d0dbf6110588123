"""A source in FROM or JOIN: a table, a query, a function, and its alias."""

from __future__ import annotations

from dbt_graft.collectors.statements.tables.scan_state import ScanScope, ScanState
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Cte, NameAt
from dbt_graft.collectors.statements.text.source_words import NO_ALIAS
from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.lineage.dataset import Kind

# Those of the words that are not reserved: where a table is expected, they are its name.
_NAMES = keywords("CLUSTER DEFAULT DISTRIBUTE LIMIT OUTPUT QUALIFY SORT TIMESTAMP VERSION WINDOW")
_NO_TABLE = {
    Dialect.SPARK: NO_ALIAS - _NAMES,
    Dialect.TSQL: NO_ALIAS - _NAMES - keywords("ANTI LATERAL MINUS NATURAL SEMI USING"),
}
_HINTS = keywords(
    """NOLOCK READUNCOMMITTED READCOMMITTED READPAST ROWLOCK PAGLOCK TABLOCK TABLOCKX UPDLOCK XLOCK
    HOLDLOCK SERIALIZABLE NOEXPAND NOWAIT INDEX FORCESEEK FORCESCAN REPEATABLEREAD SNAPSHOT
    FASTFIRSTROW KEEPIDENTITY KEEPDEFAULTS IGNORE_CONSTRAINTS IGNORE_TRIGGERS"""
)
# The rows that a trigger was fired by.
_PSEUDO_TABLES = frozenset({"inserted", "deleted"})
_TABLE_FUNCTIONS = keywords(
    """CHANGETABLE CONTAINSTABLE FREETEXTTABLE SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYTABLE
    SEMANTICSIMILARITYDETAILSTABLE"""
)
# Functions of rows that read no table.
_BUILT_IN = keywords(
    """AI_GENERATE_CHUNKS GENERATE_SERIES OPENDATASOURCE OPENJSON OPENQUERY OPENXML PREDICT
    NODES REGEXP_MATCHES REGEXP_SPLIT_TO_TABLE STRING_SPLIT VECTOR_SEARCH"""
)
# The argument of a function that names a table: `PREDICT(MODEL = @m, DATA = t AS d)`.
_TABLE_ARGUMENTS = {"PREDICT": "DATA", "VECTOR_SEARCH": "TABLE"}
_BEFORE_TABLE = frozenset({"LATERAL", "TABLE", "ONLY", "STREAM"})


def scan_source(state: ScanState, at: int) -> int:
    """Take in the beginning of a source, where a table should stand; return the next place."""
    scope, word, follows = state.scope, state.word(at), state.word(at + 1)
    if word in _BEFORE_TABLE and follows not in _NO_TABLE[state.dialect] | {".", ",", ")", "VIEW"}:
        return at + 1
    scope.expects = False
    if inside := _open_query(state, at):
        return inside
    if word == "(":
        state.scopes.append(ScanScope(at, state.closes[at], expects=True, derived=True))
        return at + 1
    if word == "VALUES":
        scope.rows = True
        return at + 1  # rows in the place of a table
    is_keyword = word in _NO_TABLE[state.dialect] and follows != "."
    table = None if is_keyword else state.name(at)
    if table is None:
        if not (scope.rows or (scope.derived and at == scope.start + 1)):  # VALUES 1, 2; (SELECT …
            state.no_table(at)
        return at
    return _read_source(state, at, table)


def _read_source(state: ScanState, at: int, table: NameAt) -> int:
    """A source with a name: a table, a function, or a common table expression."""
    end = table.end
    if state.word(end) == "(":
        if state.word(end + 1) not in _HINTS:
            return _function(state, table)
        end = state.after(end)
    if cte := _cte(state, at, table):
        read = state.first_read(cte.start, cte.end)
        if read is not None:
            state.sources.append((at, read))
        return alias(state, end, read, "")
    if _is_pseudo_table(state, table):
        return alias(state, end, None, "")
    state.read(at, table)
    return alias(state, end, len(state.reads) - 1, table.name[-1])


def alias(state: ScanState, at: int, read: int | None, default: str) -> int:
    """Note the alias of a table in this statement; return the place after it."""
    position = state.skip(at, "AS")
    alias = default
    named = (
        position < state.end and state.tokens[position].is_name and state.word(position + 1) != "."
    )
    if named and state.word(position) not in NO_ALIAS:
        alias, at = state.tokens[position].text, position + 1
    # A query inside may give the name of a table that the statement itself changes to another.
    if read is not None and alias and (state.is_outermost or alias.casefold() not in state.aliases):
        state.aliases[alias.casefold()] = read
    return at


def _function(state: ScanState, function: NameAt) -> int:
    """The result of a function is no table, but some take one: `CHANGETABLE(CHANGES t, 0)`."""
    called = function.name[-1].upper()
    if state.dialect is Dialect.SPARK or called not in _TABLE_FUNCTIONS:
        _note_function(state, function, called)
        return function.end
    position = state.skip(function.end + 1, "CHANGES", "VERSION")
    state.scopes.append(
        ScanScope(function.end, state.closes[function.end], expects=True, derived=True)
    )
    return position


def _note_function(state: ScanState, function: NameAt, called: str) -> None:
    """Note a function, whose own text reads tables; OPENROWSET(BULK …) reads a file."""
    if called == "OPENROWSET":
        at = function.end + 1
        file = state.name(at + 1) if state.word(at) == "BULK" else None
        if file and file.kind is Kind.PATH:
            state.read(at, file)
        else:
            state.problem = state.problem or "what OPENROWSET reads is not known"
    elif state.dialect is Dialect.TSQL and called in _TABLE_ARGUMENTS:
        place = state.find(function.end + 1, _TABLE_ARGUMENTS[called])
        table = state.name(place + 2) if place else None
        if place and table:
            _read_source(state, place + 2, table)
        else:
            state.problem = state.problem or f"what {called} reads is not known"
    elif _is_defined(state, function, called):
        state.functions.append(function)


def _is_defined(state: ScanState, function: NameAt, called: str) -> bool:
    """Whether users defined a function; those of Spark itself have one part."""
    schema = function.name[-2].casefold() if len(function.name) > 1 else ""
    if state.dialect is Dialect.SPARK:
        return bool(schema)
    return called not in _BUILT_IN and schema != "sys"


def _open_query(state: ScanState, at: int) -> int | None:
    """The place of the query in `OPENQUERY(srv, SELECT …)`, if one begins here."""
    if [state.word(at), state.word(at + 1)] != ["OPENQUERY", "("]:
        return None
    server = state.name(at + 2)
    if server is None or state.word(server.end) != ",":
        return None
    state.scopes.append(ScanScope(at + 1, state.closes[at + 1], derived=True, server=server.name))
    return server.end + 1


def _is_pseudo_table(state: ScanState, table: NameAt) -> bool:
    """Whether a name is that of the rows that a trigger was fired by."""
    return (
        state.dialect is Dialect.TSQL
        and len(table.name) == 1
        and table.name[0].casefold() in _PSEUDO_TABLES
    )


def _cte(state: ScanState, at: int, table: NameAt) -> Cte | None:
    """The common table expression of this name.

    In its own query the name is recursion in T-SQL, and a table in Spark.
    """
    if len(table.name) > 1:
        return None
    name, always = table.name[0].casefold(), state.dialect is Dialect.TSQL
    return next(
        (
            cte
            for cte in state.ctes
            if cte.name == name
            and (cte.start if always or cte.recursive else cte.end) < at < cte.visible_to
        ),
        None,
    )
