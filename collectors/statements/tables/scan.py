"""The tables of a statement, from its tokens alone: where a name stands decides what it is.

No grammar: after a keyword such as FROM or INTO comes a table, a bracket opens a scope of its own,
and everything else is skipped. So the tables of a statement are found even where it was cut off or
no parser supports it. Names of common table expressions and aliases are never tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from dbt_graft.collectors.statements.tables.scan_state import (
    QUERY_STARTS,
    ScanScope,
    ScanState,
    TableAccess,
)
from dbt_graft.collectors.statements.tables.verbs import SPARK_VERBS, VERBS
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Cte, Name, NameAt, fold_name
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import ENDS_FROM, NO_ALIAS, Token, keywords
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction

# `EXEC (…) AT srv` sends statements to another server.
_CALLS = frozenset({"EXEC", "EXECUTE"})
# `FROM t INSERT INTO u SELECT a INSERT INTO v SELECT b`
_MULTI_INSERT = {Dialect.TSQL: frozenset[str](), Dialect.SPARK: frozenset({"FROM", "WITH"})}
_READERS = keywords(
    "SELECT WITH VALUES FROM TABLE ( IF ELSEIF CASE WHEN WHILE UNTIL SET DECLARE RETURN"
)
_THROUGH_ALIAS = frozenset({Operation.UPDATE, Operation.DELETE})
_THROUGH_CTE = _THROUGH_ALIAS | {Operation.MERGE, Operation.INSERT}
_VERBS = {Dialect.TSQL: VERBS, Dialect.SPARK: {**VERBS, **SPARK_VERBS}}
# These move no data; a call has events of its own.
_SILENT = keywords(
    """ADD ANALYZE BACKUP BEGIN BREAK CACHE CALL CHECKPOINT CLEAR CLOSE COMMENT COMMIT CONTINUE DBCC
    DEALLOCATE DENY DESC DESCRIBE DISABLE ELSE ENABLE END EXPLAIN EXTERNAL FETCH FSCK GET GOTO GRANT
    ITERATE KILL LEAVE LIST LOCK MOVE MSCK OPEN OPTIMIZE PRINT RAISERROR RECONFIGURE REFRESH REORG
    RESET RESIGNAL RESTORE REVERT REVOKE ROLLBACK SAVE SEND SETUSER SHOW SHUTDOWN SIGNAL THROW
    UNCACHE UNLOCK UNSET USE VACUUM WAITFOR"""
)


class TableScan(NamedTuple):
    """The tables of a statement.

    Attributes:
        verb: What the statement does; None where it begins with words that are not supported, and
            then nothing is known of its tables.
        accesses: Each table once a direction.
        functions: The functions whose rows it reads, those of the engine left out.
    """

    verb: str | None
    accesses: list[TableAccess]
    problem: str = ""
    functions: tuple[TableAccess, ...] = ()


def scan(tokens: list[Token], dialect: Dialect) -> TableScan:
    """The tables of one statement, which has at least one token."""
    head = tokens[0].word
    is_known = head in _READERS or head in _VERBS[dialect]
    if not is_known or [token.word for token in tokens[:2]] == ["REPLACE", "INTO"]:
        return TableScan(head if _is_silent(tokens) else None, [])
    state = ScanState(tokens, dialect)
    if head in _CALLS and (server := state.linked_server(0)):
        return _scan_linked(tokens[2 : state.closes[1]], server)
    return _scan_tables(state)


def _is_silent(tokens: list[Token]) -> bool:
    """Whether a statement is known to touch no table; a label is one too."""
    head, *rest = [token.word for token in tokens[:3]]
    if rest == [":"]:
        return True
    return head in _SILENT and [head, *rest[:1]] != ["WAITFOR", "("]  # (RECEIVE … FROM a queue)


def _scan_tables(state: ScanState) -> TableScan:
    at = 0
    while at < state.end:
        at = _step(state, at)
    if state.scope.expects:
        state.no_table(state.end)
    functions = dict.fromkeys(function.name for function in state.functions)
    return TableScan(
        state.verb or state.operation.value,
        _accesses(state),
        state.problem,
        tuple(TableAccess(name, Direction.READ, state.operation, Kind.VIEW) for name in functions),
    )


def _scan_linked(tokens: list[Token], server: Name) -> TableScan:
    """The tables of statements that run on a linked server: `EXEC (…) AT srv`."""
    scans = []
    for statement in split(tokens, Dialect.TSQL):
        state = ScanState(statement, Dialect.TSQL)
        state.scope.server = server
        scans.append(_scan_tables(state))
    if not scans:
        return TableScan("EXEC", [])
    accesses = [access for table_scan in scans for access in table_scan.accesses]
    problems = [table_scan.problem for table_scan in scans if table_scan.problem]
    return TableScan(scans[0].verb, accesses, "".join(problems[:1]))


def _step(state: ScanState, at: int) -> int:
    """Take in one token; return the place of the next."""
    scope, word = state.scope, state.word(at)
    if at == scope.end:
        if scope.expects:
            state.no_table(at)
        state.scopes.pop()
        if not scope.derived:
            return at + 1
        return alias(state, at + 1, state.first_read(scope.start, scope.end), "")
    if scope.expects:
        return scan_source(state, at)
    if "." in (state.word(at - 1), state.word(at + 1)):
        if word == "DELETED" and scope.outputs and scope.target:
            state.returned.append(scope.target)
    elif word in _VERBS[state.dialect] and _is_verb(state, at):
        return _VERBS[state.dialect][word](state, at)
    elif word in CLAUSES:
        return CLAUSES[word](state, at) or at + 1
    return at + 1


def _is_verb(state: ScanState, at: int) -> bool:
    """Whether a verb begins a statement: first, after WITH, or inside `FROM (DELETE …)`."""
    if at == 0 or (state.scope.derived and at == state.scope.start + 1):
        return True
    first = state.word(0)
    return state.is_outermost and (
        (first == "WITH" and state.scope.target is None)
        or (
            first in _MULTI_INSERT[state.dialect]
            and state.word(at) == "INSERT"
            and state.operation is not Operation.MERGE
        )
    )


def _accesses(state: ScanState) -> list[TableAccess]:
    """The tables found; a write to an alias is one to its table."""
    accesses: dict[tuple[Name, Direction], TableAccess] = {}
    only_named: set[int] = set()
    for write in state.writes:
        index = _aliased_read(state, write)
        if index is not None:
            if write.operation is Operation.DELETE is state.operation:
                only_named.add(index)  # it stands in FROM for its alias
            source = state.reads[index]
            if write.name in [target.name for target in state.returned]:
                state.returned.append(source)
            write = replace(write, name=source.name, kind=source.kind)
        elif _may_be_alias(state, write):
            continue
        accesses.setdefault((fold_name(write.name), Direction.WRITE), write)
    read = [table for i, table in enumerate(state.reads) if i not in only_named]
    written = {name for name, _ in accesses}
    read += [target for target in state.returned if fold_name(target.name) in written]
    for name, kind, _ in read:
        access = TableAccess(name, Direction.READ, state.operation, kind)
        accesses.setdefault((fold_name(name), Direction.READ), access)
    return list(accesses.values())


def _aliased_read(state: ScanState, write: TableAccess) -> int | None:
    """The read of the table whose alias or CTE an UPDATE, DELETE, MERGE or INSERT changes."""
    if len(write.name) > 1 or write.operation not in _THROUGH_CTE:
        return None
    name = write.name[0].casefold()
    for cte in state.ctes:
        if cte.name == name:
            return state.first_read(cte.start, cte.end)
    return state.aliases.get(name) if write.operation in _THROUGH_ALIAS else None


def _may_be_alias(state: ScanState, write: TableAccess) -> bool:
    """Whether a name may be the alias of a table that is not known: `UPDATE h … FROM ?? h`."""
    is_name = len(write.name) == 1 and write.kind is Kind.TABLE
    return state.lacks_source and is_name and write.operation in _THROUGH_ALIAS


# -- the clauses of a statement, and where a table comes next after each


def _open(state: ScanState, at: int) -> None:
    state.scopes.append(ScanScope(at, state.closes[at]))


def _select(state: ScanState, at: int) -> None:
    state.scope.has_from, state.scope.in_from = True, False


def _from(state: ScanState, at: int) -> None:
    scope = state.scope
    # FOR SYSTEM_TIME FROM … TO …, IS DISTINCT FROM, the parameter `:from`
    clause = state.word(at - 1) not in ("SYSTEM_TIME", "DISTINCT", ":")
    begins = at == scope.start + 1 or state.word(at - 1) == "AS"  # CREATE VIEW v AS FROM t
    if clause and (scope.has_from or begins):
        scope.has_from = scope.in_from = scope.expects = True


def _comma(state: ScanState, at: int) -> None:
    row = state.scope.rows and state.word(at - 1) == ")" and state.word(at + 1) == "("
    state.scope.expects = state.scope.in_from and not row


def _join(state: ScanState, at: int) -> None:
    state.scope.expects = state.word(at + 1) not in (",", ")")  # OPTION (HASH JOIN)


def _using(state: ScanState, at: int) -> None:
    """`MERGE t USING s`, `DELETE FROM t USING s` of other engines; not `JOIN s USING (a)`."""
    is_merge = state.operation is Operation.MERGE
    is_of_columns = state.word(at + 1) == "(" and state.word(at + 2) not in QUERY_STARTS
    may_be_table = is_merge or (state.dialect is Dialect.TSQL and not is_of_columns)
    state.scope.expects = state.scope.target is not None and may_be_table


def _insert(state: ScanState, at: int) -> None:
    """MERGE … THEN INSERT (a, b): the columns of its target."""
    target, columns = state.scope.target, state.columns(at + 1)
    if target and columns:
        state.writes = [
            replace(write, columns=columns) if write.name == target.name else write
            for write in state.writes
        ]


def _output(state: ScanState, at: int) -> None:
    state.scope.outputs, state.scope.in_from = True, False


def _into(state: ScanState, at: int) -> int | None:
    scope, target = state.scope, state.name(at + 1)
    if state.dialect is Dialect.SPARK:
        return None
    if target is None:
        state.no_table(at + 1)
        return None
    if scope.outputs:
        state.write(target, Operation.INSERT, state.columns(target.end))
        scope.outputs = False
    elif state.is_outermost and scope.has_from and not scope.in_from:
        state.operation = Operation.SELECT_INTO
        state.write(target, state.operation)
    return target.end


def _table(state: ScanState, at: int) -> None:
    """TABLE standing for a query or an argument: `INSERT INTO t TABLE u`, `f(TABLE u)`; Spark."""
    state.scope.expects = state.dialect is Dialect.SPARK and state.word(at - 1) != "SELECT"


# `t FOR SYSTEM_TIME AS OF …`, `t FOR VERSION AS OF …`
_TRAVELS = ("SYSTEM_", "VERSION", "TIMESTAMP", "PATH")


def _ends_from(state: ScanState, at: int) -> None:
    if not state.word(at + 1).startswith(_TRAVELS):
        state.scope.in_from = False


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


CLAUSES: Mapping[str, Callable[[ScanState, int], int | None]] = {
    **dict.fromkeys(ENDS_FROM, _ends_from),
    "(": _open,
    ",": _comma,
    "APPLY": _join,
    "FROM": _from,
    "INSERT": _insert,
    "INTO": _into,
    "JOIN": _join,
    "OUTPUT": _output,
    "SELECT": _select,
    "TABLE": _table,
    "USING": _using,
}
