"""Statements that change something: what they do, and where their target stands.

Each function gets the place of its verb, notes the target, and gives the place from which the
scan goes on for what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbt_graft.collectors.statements.tables.scan_state import QUERY_STARTS, Scope, Walk
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.modules import KINDS as MODULES
from dbt_graft.collectors.statements.text.names import GLOBAL_TEMP, NameAt
from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.lineage.dataset import Kind

_DROPPED = {"TABLE": Kind.TABLE, "VIEW": Kind.VIEW, "SYNONYM": Kind.TABLE}
_CREATE_MODIFIERS = keywords(
    """OR ALTER REPLACE TEMP TEMPORARY GLOBAL LOCAL EXTERNAL MATERIALIZED REFRESH STREAMING LIVE
    PRIVATE"""
)


def _target(walk: Walk, at: int, operation: str) -> int:
    """The place of the target, behind what may stand before it."""
    if walk.is_outermost:
        walk.operation = operation
    at = walk.skip(at, "WITH", "SCHEMA", "EVOLUTION")  # MERGE WITH SCHEMA EVOLUTION INTO t
    if walk.word(at) == "TOP":
        at = walk.behind(at + 1)
    return walk.skip(at, "PERCENT", "INTO", "FROM", "OVERWRITE", "TABLE")


def _change(walk: Walk, at: int) -> int:
    """UPDATE, DELETE and MERGE."""
    verb = walk.word(at)
    if walk.word(at + 1) == "STATISTICS":
        return walk.end
    place = _target(walk, at + 1, verb)
    found = walk.remote(place) or walk.name(place)
    if found is None or (walk.word(found.end) == "(" and verb != "MERGE"):
        return at + 1  # OPENQUERY(…)
    walk.scope.target = found
    walk.scope.has_from = True
    walk.write(found, verb)
    return found.end


def _insert(walk: Walk, at: int) -> int:
    operation = "INSERT OVERWRITE" if walk.word(at + 1) == "OVERWRITE" else "INSERT"
    if walk.word(at + 1) == "BULK":
        operation, at = "BULK INSERT", at + 1
    place = _target(walk, at + 1, operation)
    walk.scope.in_from = False
    walk.scope.has_from = walk.dialect is Dialect.SPARK  # INSERT INTO t FROM u SELECT …
    is_place = walk.word(place) in ("DIRECTORY", "LOCAL")
    place = walk.skip(place, "LOCAL", "DIRECTORY") if is_place else place
    found = walk.remote(place) or walk.name(place)
    if found is None or (is_place and found.kind is not Kind.PATH):
        return place + 1
    walk.scope.target = found
    walk.write(found, operation, walk.columns(found.end))
    end = found.end
    if walk.word(end) == "(" and walk.word(end + 1) not in QUERY_STARTS:
        end = walk.behind(end)
    return _rows_of_call(walk, end) if walk.word(end) in ("EXEC", "EXECUTE") else end


def _rows_of_call(walk: Walk, at: int) -> int:
    """`INSERT INTO t EXEC (SELECT …) AT srv`; of other calls their own events tell."""
    server = walk.linked_server(at)
    if server is None:
        return walk.end
    walk.scopes.append(Scope(at + 1, walk.closes[at + 1], server=server))
    return at + 2


def _bulk_insert(walk: Walk, at: int) -> int:
    return _only_target(walk, at + 2, "BULK INSERT")


def _load(walk: Walk, at: int) -> int:
    """`LOAD DATA INPATH … INTO TABLE t`, `COPY INTO t FROM …`"""
    operation = "LOAD DATA" if walk.word(at) == "LOAD" else "COPY INTO"
    into = walk.find(at, "INTO")
    return walk.end if into is None else _only_target(walk, into, operation)


def _truncate(walk: Walk, at: int) -> int:
    return _only_target(walk, at + 1, "TRUNCATE")


def _only_target(walk: Walk, at: int, operation: str) -> int:
    walk.operation = operation
    if found := walk.name(walk.skip(at, "INTO", "TABLE")):
        walk.write(found, operation)
    return walk.end


def _drop(walk: Walk, at: int) -> int:
    walk.operation = "DROP"
    at = walk.skip(at + 1, "TEMPORARY", "MATERIALIZED", "EXTERNAL")
    kind = _DROPPED.get(walk.word(at))
    if kind:
        at = walk.skip(at + 1, "IF", "EXISTS")
        while found := walk.name(at):
            walk.write(found, "DROP", kind=kind)
            at = walk.skip(found.end, ",")
            if at == found.end:
                break
    return walk.end


def _alter(walk: Walk, at: int) -> int:
    if walk.word(at + 1) == "VIEW" and walk.find(at, "AS"):
        return _create_view(walk, at + 2, Kind.VIEW)
    if walk.word(at + 1) == "SCHEMA":
        return _transfer(walk, at + 2)
    walk.operation = "ALTER"
    found = walk.name(at + 2) if walk.word(at + 1) in ("TABLE", "VIEW") else None
    if found is None:
        return walk.end
    to = walk.find(found.end, "TO")
    other = walk.name(to + 1) if to else None
    # ALTER TABLE t SWITCH PARTITION 1 TO u, ALTER TABLE t RENAME TO u; not RENAME COLUMN a TO b
    moves = walk.word(found.end)
    if other and (moves == "SWITCH" or (moves == "RENAME" and to == found.end + 1)):
        walk.operation = moves
        walk.read(at, found)
        walk.write(other, moves)
    elif moves == "EXCHANGE" and (given := _partition_from(walk, found.end)):
        walk.operation = moves
        walk.read(at, given)
        walk.write(found, moves)
    else:
        walk.write(found, "ALTER")
    return walk.end


def _partition_from(walk: Walk, at: int) -> NameAt | None:
    """Hive: `ALTER TABLE t EXCHANGE PARTITION (d = ?) WITH TABLE u`"""
    with_ = walk.find(at, "WITH")
    return walk.name(walk.skip(with_, "WITH", "TABLE")) if with_ else None


def _transfer(walk: Walk, at: int) -> int:
    """`ALTER SCHEMA new TRANSFER OBJECT::old.t`"""
    walk.operation = "TRANSFER"
    schema, moved = walk.name(at), walk.find(at, "TRANSFER")
    place = walk.skip(moved + 1, "OBJECT", "::") if moved else walk.end
    found = walk.name(place)
    if schema and found and walk.word(found.end) != "::":  # TRANSFER TYPE::old.t
        walk.read(place, found)
        walk.write(found._replace(name=(*schema.name, found.name[-1])), walk.operation)
    return walk.end


def _execute(walk: Walk, at: int) -> int:
    """A call; what it does, its own events tell, but for `sp_rename`."""
    walk.operation = walk.word(at)
    called = walk.name(at + 1)
    if called is None or called.name[-1].casefold() != "sp_rename":
        return walk.end
    old = walk.name(called.end)
    new = walk.name(old.end + 1) if old else None
    if old and new:
        walk.operation = "RENAME"
        kind = walk.word(new.end + 1)
        if kind == "COLUMN":
            walk.operation = "ALTER"
            walk.write(old._replace(name=old.name[:-1]), walk.operation)
        elif kind in ("", "OBJECT"):
            walk.read(at, old)
            walk.write(old._replace(name=(*old.name[:-1], *new.name)), walk.operation)
    return walk.end


def _create(walk: Walk, at: int) -> int:
    place = walk.skip(at + 1, *_CREATE_MODIFIERS)
    match walk.word(place):
        case "VIEW":
            words = {walk.word(near) for near in range(at, place)}
            temporary = words & {"TEMP", "TEMPORARY"}
            return _create_view(walk, place + 1, Kind.TEMPORARY if temporary else Kind.VIEW)
        case "TABLE":
            return _create_table(walk, place + 1)
        case "SYNONYM":
            walk.operation = "CREATE SYNONYM"
            found = walk.name(place + 1)
            of = walk.name(found.end + 1) if found else None
            if found and of:
                walk.write(found, walk.operation)
                walk.read(at, of)
        case kind:
            walk.operation = f"CREATE {kind}" if kind in MODULES else "CREATE"
    return walk.end


def _create_view(walk: Walk, at: int, kind: Kind) -> int:
    walk.operation = "CREATE VIEW"
    found = walk.name(walk.skip(at, "IF", "NOT", "EXISTS"))
    if found is None:
        return walk.end
    if kind is Kind.TEMPORARY and "GLOBAL" in (walk.word(at - 2), walk.word(at - 3)):
        found = found._replace(name=(GLOBAL_TEMP, *found.name))
    walk.write(found, walk.operation, kind=kind)
    options = walk.find(found.end, "OPTIONS")
    if options and walk.find(found.end, "USING"):  # CREATE TEMP VIEW v USING csv OPTIONS (path …)
        names = (walk.name(place) for place in range(options, walk.behind(options + 1)))
        for path in names:
            if path and path.kind is Kind.PATH:
                walk.read(options, path)
    return found.end


def _create_table(walk: Walk, at: int) -> int:
    walk.operation = "CREATE TABLE"
    found = walk.name(walk.skip(at, "IF", "NOT", "EXISTS"))
    if found is None:
        return walk.end
    query = walk.find(found.end, "AS")
    while query and walk.word(query + 1) not in QUERY_STARTS:
        query = walk.find(query + 1, "AS")  # CREATE TABLE t (…) AS NODE
    if walk.dialect is Dialect.SPARK and query is None:  # AS may be left out
        select = walk.find(found.end, "SELECT")
        query = select - 1 if select else None
    clone = walk.skip(found.end, "SHALLOW", "DEEP", "AS")
    is_clone = walk.word(clone) == "CLONE"
    source = walk.name(walk.skip(clone + 1, "OF")) if is_clone else None
    if walk.word(found.end) == "LIKE" and (pattern := walk.name(found.end + 1)):
        walk.operation = "CREATE TABLE LIKE"
        walk.read(found.end, pattern)
    if source:
        walk.read(clone, source)
    if source or query:
        walk.operation = "CREATE TABLE AS"
    walk.write(found, walk.operation, walk.columns(found.end))
    return query + 1 if query else walk.end


def _rename(walk: Walk, at: int) -> int:
    """`RENAME OBJECT dbo.a TO b`"""
    walk.operation = "RENAME"
    place = walk.skip(at + 1, "OBJECT", "::")
    old = walk.name(place)
    new = walk.name(old.end + 1) if old and walk.word(old.end) == "TO" else None
    if old and new:
        walk.read(place, old)
        walk.write(old._replace(name=(*old.name[:-1], *new.name)), walk.operation)
    return walk.end


VERBS: Mapping[str, Callable[[Walk, int], int]] = {
    "INSERT": _insert,
    "UPDATE": _change,
    "DELETE": _change,
    "MERGE": _change,
    "TRUNCATE": _truncate,
    "DROP": _drop,
    "CREATE": _create,
    "REPLACE": _create,
    "ALTER": _alter,
    "RENAME": _rename,
    "EXEC": _execute,
    "EXECUTE": _execute,
    "BULK": _bulk_insert,
    "LOAD": _load,
    "COPY": _load,
}
