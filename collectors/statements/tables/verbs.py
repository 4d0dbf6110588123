"""Statements that change rows or drop tables: their operation, and the place of their target.

Each function of `VERBS` takes the place of its verb, adds the target, and returns the place from
which the scan goes on with what the statement reads.

Statements that rename a table, move it to another schema, or switch its partitions.

Each reads the old table and writes the new one:

    ALTER TABLE db.a RENAME TO b        EXEC sp_rename 'dbo.a', 'b'      RENAME OBJECT dbo.a TO b
    ALTER SCHEMA new TRANSFER old.a     ALTER TABLE a SWITCH PARTITION 1 TO b
    ALTER TABLE b EXCHANGE PARTITION (d = ?) WITH TABLE a

`CREATE …` and `REPLACE TABLE …` define a table, a view or a synonym. Verbs of Spark, Delta and
Iceberg alone come last: CACHE, LOAD, COPY INTO, CONVERT, RESTORE, CALL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dbt_graft.collectors.statements.tables.scan_state import QUERY_STARTS, ScanScope, ScanState
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.modules import KINDS as MODULES
from dbt_graft.collectors.statements.text.names import GLOBAL_TEMP, Name, NameAt
from dbt_graft.collectors.statements.text.protect import (
    OF_CURRENT_CATALOG,
    PROCEDURES,
    READ,
    TEMPORARY,
)
from dbt_graft.collectors.statements.text.tokens import Token, keywords
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation

_MODIFIERS = keywords(
    """OR ALTER REPLACE TEMP TEMPORARY GLOBAL LOCAL EXTERNAL MATERIALIZED REFRESH STREAMING LIVE
    PRIVATE"""
)


def create(state: ScanState, at: int) -> int:
    """`CREATE TABLE`, `CREATE VIEW`, `CREATE SYNONYM`; anything else touches no table."""
    position = state.skip(at + 1, *_MODIFIERS)
    match state.word(position):
        case "VIEW":
            words = {state.word(near) for near in range(at, position)}
            temporary = words & {"TEMP", "TEMPORARY"}
            return create_view(state, position + 1, Kind.TEMPORARY if temporary else Kind.VIEW)
        case "TABLE":
            return _create_table(state, position + 1)
        case "SYNONYM":
            _create_synonym(state, position + 1)
        case kind:
            state.verb = f"CREATE {kind}" if kind in MODULES else "CREATE"
    return state.end


def _create_synonym(state: ScanState, at: int) -> None:
    """`CREATE SYNONYM s FOR d.dbo.t`"""
    state.operation = Operation.CREATE_SYNONYM
    synonym = state.name(at)
    base = state.name(synonym.end + 1) if synonym else None
    if synonym and base:
        state.write(synonym, state.operation)
        state.read(at, base)


def create_view(state: ScanState, at: int, kind: Kind) -> int:
    """`CREATE VIEW v …` from the name on, the words before it included in `kind`."""
    state.operation = Operation.CREATE_VIEW
    view = state.table(state.skip(at, "IF", "NOT", "EXISTS"))
    if view is None:
        return state.end
    if kind is Kind.TEMPORARY and "GLOBAL" in (state.word(at - 2), state.word(at - 3)):
        view = view._replace(name=(GLOBAL_TEMP, *view.name))
    state.write(view, state.operation, kind=kind)
    options = state.find(view.end, "OPTIONS")
    if options and state.find(view.end, "USING"):  # CREATE TEMP VIEW v USING csv OPTIONS (path …)
        names = (state.name(near) for near in range(options, state.after(options + 1)))
        for path in names:
            if path and path.kind is Kind.PATH:
                state.read(options, path)
    return view.end


def _create_table(state: ScanState, at: int) -> int:
    state.operation = Operation.CREATE_TABLE
    table = state.table(state.skip(at, "IF", "NOT", "EXISTS"))
    if table is None:
        return state.end
    query = _query(state, table.end)
    clone = state.skip(table.end, "SHALLOW", "DEEP", "AS")
    is_clone = state.word(clone) == "CLONE"
    source = state.name(state.skip(clone + 1, "OF")) if is_clone else None
    if state.word(table.end) == "LIKE" and (pattern := state.name(table.end + 1)):
        state.operation = Operation.CREATE_TABLE_LIKE
        state.read(table.end, pattern)
    if source:
        state.read(clone, source)
    if source or query:
        state.operation = Operation.CREATE_TABLE_AS
    state.write(table, state.operation, state.columns(table.end))
    if query and state.dialect is Dialect.TSQL and state.word(at - 2) == "EXTERNAL":
        _write_location(state, table.end)
    return state.end if query is None else query


def _write_location(state: ScanState, at: int) -> None:
    """The files of `CREATE EXTERNAL TABLE t WITH (LOCATION = files.[D:/x], …) AS SELECT …`."""
    location = state.find((state.find(at, "WITH") or at) + 2, "LOCATION")
    file = state.name(location + 2) if location else None
    if file and file.kind is Kind.PATH:
        state.write(file, state.operation)
    else:
        state.problem = state.problem or "the file that is written is not known"


def declared_tables(tokens: list[Token]) -> Iterator[tuple[Name, tuple[str, ...]]]:
    """The table variables of `DECLARE @t TABLE (a int, …)`, with their columns."""
    state = ScanState(tokens, Dialect.TSQL)
    for at in range(2, state.end):
        name = tokens[at - 1 - (state.word(at - 1) == "AS")].text
        if state.word(at) == "TABLE" and name[:1] == "@":
            yield (name,), tuple(column for column, _ in state.columns(at + 1))


def _query(state: ScanState, at: int) -> int | None:
    """The place of the query whose rows a new table takes; Spark may leave its AS out."""
    before = state.find(at, "AS")
    while before and state.word(before + 1) not in QUERY_STARTS:
        before = state.find(before + 1, "AS")  # CREATE TABLE t (…) AS NODE
    if before is not None:
        return before + 1
    return state.find(at, "SELECT") if state.dialect is Dialect.SPARK else None


def alter(state: ScanState, at: int) -> int:
    """`ALTER TABLE`, `ALTER VIEW`, `ALTER SCHEMA`; anything else changes no table."""
    altered = state.word(at + 1)
    if altered == "VIEW" and state.find(at, "AS"):
        return create_view(state, at + 2, Kind.VIEW)
    if altered == "SCHEMA":
        return _transfer(state, at + 2)
    state.operation = Operation.ALTER
    if altered in ("TABLE", "VIEW") and (table := state.table(at + 2)):
        _alter_table(state, at, table if altered == "TABLE" else table.as_view())
    return state.end


def _alter_table(state: ScanState, at: int, table: NameAt) -> None:
    action = state.word(table.end)
    to = state.find(table.end, "TO")
    other = state.name(to + 1) if to else None
    if action == "RENAME" and other and to == table.end + 1:  # not RENAME COLUMN a TO b
        _rename(state, at, table, other)
    elif action == "SWITCH" and other:
        _move(state, at, Operation.SWITCH, table, other)
    elif action == "EXCHANGE" and (source := _partition_from(state, table.end)):
        _move(state, at, Operation.EXCHANGE, source, table)
    else:
        state.write(table, Operation.ALTER)


def _partition_from(state: ScanState, at: int) -> NameAt | None:
    """Hive: `ALTER TABLE t EXCHANGE PARTITION (d = ?) WITH TABLE u`"""
    with_ = state.find(at, "WITH")
    return state.name(state.skip(with_, "WITH", "TABLE")) if with_ else None


def _transfer(state: ScanState, at: int) -> int:
    """`ALTER SCHEMA new TRANSFER OBJECT::old.t`; types and XML schemas are no tables."""
    state.operation = Operation.TRANSFER
    schema, transfer = state.name(at), state.find(at, "TRANSFER")
    if schema is None or transfer is None:
        return state.end
    position = state.skip(transfer + 1, "OBJECT", "::")
    table = None if state.find(position, "::") else state.name(position)
    if table:
        new = table._replace(name=(*table.name[:-2], *schema.name, table.name[-1]))
        _move(state, position, Operation.TRANSFER, table, new)
    return state.end


def rename_object(state: ScanState, at: int) -> int:
    """`RENAME OBJECT dbo.a TO b`, `RENAME OBJECT dbo.a COLUMN c TO d`; Azure Synapse."""
    state.operation = Operation.RENAME
    position = state.skip(at + 1, "OBJECT", "::")
    old = state.name(position)
    new = state.name(old.end + 1) if old and state.word(old.end) == "TO" else None
    if old and new:
        _rename(state, position, old, new)
    elif old and state.word(old.end) == "COLUMN":
        state.operation = Operation.ALTER
        state.write(old, Operation.ALTER)
    return state.end


def sp_rename(state: ScanState, at: int) -> int:
    """`sp_rename dbo.a, b`, `sp_rename dbo.a.c, d, COLUMN`, strings already written as names.

    https://learn.microsoft.com/sql/relational-databases/system-stored-procedures/sp-rename-transact-sql
    """
    old = _known_name(state, at)
    new = _known_name(state, old.end + 1) if old else None
    if old is None or new is None:
        state.problem = "renamed table not known"
        return state.end
    kind = state.word(new.end + 1)
    if kind == "COLUMN":
        state.operation = Operation.ALTER
        state.write(old._replace(name=old.name[:-1]), Operation.ALTER)
    elif kind in ("", "OBJECT"):
        _rename(state, at, old, new)
    return state.end


def _known_name(state: ScanState, at: int) -> NameAt | None:
    return None if state.word(at)[:1] == "@" else state.name(at)


def _rename(state: ScanState, at: int, old: NameAt, new: NameAt) -> None:
    """A new name without its schema stays in that of the old one."""
    name = (*old.name[: max(0, len(old.name) - len(new.name))], *new.name)
    _move(state, at, Operation.RENAME, old, old._replace(name=name))


def _move(state: ScanState, at: int, operation: Operation, old: NameAt, new: NameAt) -> None:
    state.operation = operation
    state.read(at, old)
    state.write(new, operation)


_DROPPED = {"TABLE": Kind.TABLE, "VIEW": Kind.VIEW, "SYNONYM": Kind.TABLE}


def _target(state: ScanState, at: int, operation: Operation) -> int:
    """The place of the target, after the words that may stand before it."""
    if state.is_outermost:
        state.operation = operation
    at = state.skip(at, "WITH", "SCHEMA", "EVOLUTION")  # MERGE WITH SCHEMA EVOLUTION INTO t
    if state.word(at) == "TOP":
        at = state.after(at + 1)
    return state.skip(at, "PERCENT", "INTO", "FROM", "OVERWRITE", "TABLE")


def _change(state: ScanState, at: int) -> int:
    """UPDATE, DELETE and MERGE."""
    operation = Operation(state.word(at))
    if state.word(at + 1) == "STATISTICS":
        return state.end
    position = _target(state, at + 1, operation)
    target = state.remote(position) or state.table(position)
    if target is None:
        return at + 1
    if state.word(target.end) == "(" and operation is not Operation.MERGE:
        return at + 1  # OPENROWSET(…)
    state.scope.target = target
    state.scope.has_from = True
    state.write(target, operation)
    return target.end


def _insert(state: ScanState, at: int) -> int:
    operation = Operation.INSERT
    if state.word(at + 1) == "OVERWRITE":
        operation = Operation.INSERT_OVERWRITE
    elif state.word(at + 1) == "BULK":
        operation, at = Operation.BULK_INSERT, at + 1
    elif state.word(at + 1) == "OR":  # SQLite's INSERT OR REPLACE INTO t
        at += 2
    elif (state.word(at + 1), state.word(at + 2)) == ("IGNORE", "INTO"):  # MySQL
        at += 1
    position = _target(state, at + 1, operation)
    state.scope.in_from = False
    state.scope.has_from = state.dialect is Dialect.SPARK  # INSERT INTO t FROM u SELECT …
    is_directory = state.word(position) in ("DIRECTORY", "LOCAL")
    position = state.skip(position, "LOCAL", "DIRECTORY") if is_directory else position
    target = state.remote(position) or state.name(position)
    if target is None or (is_directory and target.kind is not Kind.PATH):
        state.no_table(position)
        return position + 1
    state.scope.target = target
    state.write(target, operation, state.columns(target.end))
    end = target.end
    if state.word(end) == "(" and state.word(end + 1) not in QUERY_STARTS:
        end = state.after(end)
    return _rows_of_call(state, end) if state.word(end) in ("EXEC", "EXECUTE") else end


def _rows_of_call(state: ScanState, at: int) -> int:
    """`INSERT INTO t EXEC (…) AT srv`, `EXEC (USE d; …)`; other calls have events of their own."""
    server, begin = state.linked_server(at), at + 2
    if server is None:
        chosen = state.name(at + 3) if state.word(begin) == "USE" else None
        if chosen is None:
            return state.end
        server, begin = ("", *chosen.name), chosen.end
    state.scopes.append(ScanScope(at + 1, state.closes[at + 1], server=server))
    return begin


def _load(state: ScanState, at: int, operation: Operation) -> int:
    """A target, and the files behind FROM; their columns go there by their places."""
    _only_target(state, at, operation)
    place = state.find(at, "FROM")
    while place is not None:
        file = state.name(place + 1)
        if file is None or file.kind is not Kind.PATH:
            state.problem = state.problem or "the file that is read is not known"
            break
        state.read(place, file)
        place = file.end if state.word(file.end) == "," else None
    return state.end


def _only_target(state: ScanState, at: int, operation: Operation) -> int:
    state.operation = operation
    if target := state.table(state.skip(at, "INTO", "TABLE")):
        state.write(target, operation)
    return state.end


def _drop(state: ScanState, at: int) -> int:
    state.operation = Operation.DROP
    at = state.skip(at + 1, "TEMPORARY", "MATERIALIZED", "EXTERNAL")
    kind = _DROPPED.get(state.word(at))
    if kind:
        at = state.skip(at + 1, "IF", "EXISTS")
        while table := state.table(at):
            state.write(table, Operation.DROP, kind=kind)
            if state.word(table.end) != ",":
                break
            at = table.end + 1
    return state.end


def _execute(state: ScanState, at: int) -> int:
    """A call, whose statements have events of their own; `sp_rename` renames here."""
    state.verb = state.word(at)
    called = state.name(at + 1)
    if called and called.name[-1].casefold() == "sp_rename":
        state.verb = ""
        return sp_rename(state, called.end)
    return state.end


VERBS: Mapping[str, Callable[[ScanState, int], int]] = {
    "INSERT": _insert,
    "UPDATE": _change,
    "DELETE": _change,
    "MERGE": _change,
    "TRUNCATE": lambda state, at: _only_target(state, at + 1, Operation.TRUNCATE),
    "DROP": _drop,
    "CREATE": create,
    "REPLACE": create,
    "ALTER": alter,
    "RENAME": rename_object,
    "EXEC": _execute,
    "EXECUTE": _execute,
    # `BULK INSERT t FROM files.[D:/x]`; of Azure Synapse `COPY INTO t (a, b) FROM files.[…], …`.
    "BULK": lambda state, at: _load(state, at + 2, Operation.BULK_INSERT),
    "COPY": lambda state, at: _load(state, at + 1, Operation.COPY_INTO),
}


def _cache(state: ScanState, at: int) -> int:
    """`CACHE TABLE t` reads a table, `CACHE TABLE v AS SELECT …` makes a temporary view."""
    state.operation = Operation.CACHE_TABLE
    if state.word(at + 1) == "SELECT":
        return at + 1
    table = state.table(state.skip(at + 1, "LAZY", "TABLE"))
    if table is None:
        return state.end
    end = table.end
    if state.word(end) == "OPTIONS":
        end = state.after(end + 1)
    if end >= state.end:
        state.read(at, table)
    else:
        state.write(table, state.operation, kind=Kind.TEMPORARY)
    return state.skip(end, "AS")


def _load_data(state: ScanState, at: int) -> int:
    """`LOAD DATA INPATH files.`/x` INTO TABLE t`"""
    state.operation = Operation.LOAD_DATA
    into = state.find(at, "INTO")
    target = state.name(state.skip(into + 1, "TABLE")) if into else None
    if target:
        state.write(target, state.operation)
    else:
        state.no_table(state.end if into is None else into + 1)
    path = state.find(at, "INPATH")
    source = state.name(path + 1) if path else None
    if source and source.kind is Kind.PATH:
        state.read(at, source)
    return state.end


def _copy_files(state: ScanState, at: int) -> int:
    """`COPY INTO t FROM files.`/x``, `COPY INTO t FROM (SELECT … FROM files.`/x`)`"""
    state.operation = Operation.COPY_INTO
    target = state.table(state.skip(at + 1, "INTO"))
    if target is None:
        return state.end
    state.scope.has_from = True
    state.write(target, state.operation)
    return target.end


def _restore(state: ScanState, at: int) -> int:
    """`RESTORE TABLE t TO VERSION AS OF 3`, `CONVERT TO DELTA t`"""
    state.operation = Operation(state.word(at))
    if table := state.table(state.skip(at + 1, "TABLE", "TO", "DELTA")):
        state.write(table, state.operation)
    return state.end


def _call(state: ScanState, at: int) -> int:
    state.operation = Operation.CALL
    procedure = state.name(at + 1)
    if procedure is None or state.word(procedure.end) != "(":
        return state.end
    called = procedure.name[-1].casefold()
    tables = PROCEDURES.get(called, {})
    catalog = () if called in OF_CURRENT_CATALOG else procedure.name[:-2]
    position, end = procedure.end + 1, state.after(procedure.end) - 1
    for index in range(len(tables)):
        named = state.word(position + 1) == "=>"
        argument = state.word(position).casefold() if named else list(tables)[index]
        table = state.name(position + 2 if named else position)
        role = tables.get(argument) if table else None
        if table and argument == "table" and len(table.name) == 2:
            table = table._replace(name=(*catalog, *table.name))
        if table and role == READ:
            state.read(at, table)
        elif table and role:
            kind = Kind.TEMPORARY if role == TEMPORARY else Kind.TABLE
            state.write(table, state.operation, kind=kind)
        while position < end and state.word(position) != ",":
            position = state.after(position)
        position += 1
    return state.end


SPARK_VERBS: Mapping[str, Callable[[ScanState, int], int]] = {
    "CACHE": _cache,
    "CALL": _call,
    "CONVERT": _restore,
    "COPY": _copy_files,
    "LOAD": _load_data,
    "RESTORE": _restore,
}
