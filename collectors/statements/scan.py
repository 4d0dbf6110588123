"""The tables of a statement, from its tokens alone: where a name stands decides what it is.

No grammar: a keyword such as FROM or INTO says that a table comes next, a bracket opens a scope of
its own, and whatever is not understood is passed over. That is why a statement that was cut off,
or that no parser knows, still tells its tables. Names of common table expressions and aliases are
never tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from collectors.statements.dialect import Dialect
from collectors.statements.names import Cte, Name, NameAt
from collectors.statements.spark_verbs import SPARK_VERBS
from collectors.statements.split import split
from collectors.statements.tokens import Token, keywords
from collectors.statements.verbs import VERBS
from collectors.statements.walk import Scope, TableAccess, Walk
from lineage.records import Direction

# What ends a FROM clause, and what else can stand behind a table without being its alias.
_ENDS_FROM = keywords(
    """WHERE GROUP ORDER HAVING SET UNION EXCEPT INTERSECT OPTION WINDOW LIMIT QUALIFY WHEN VALUES
    FOR SORT CLUSTER DISTRIBUTE LATERAL MINUS |>"""
)
_NO_ALIAS = _ENDS_FROM | keywords(
    """ON JOIN INNER LEFT RIGHT FULL CROSS OUTER NATURAL SEMI ANTI APPLY USING WITH PIVOT UNPIVOT
    TABLESAMPLE AS FROM INTO SELECT INSERT UPDATE DELETE MERGE OUTPUT VERSION TIMESTAMP DEFAULT
    EXEC EXECUTE"""
)
_HINTS = keywords(
    """NOLOCK READUNCOMMITTED READCOMMITTED READPAST ROWLOCK PAGLOCK TABLOCK TABLOCKX UPDLOCK XLOCK
    HOLDLOCK SERIALIZABLE NOEXPAND NOWAIT INDEX FORCESEEK FORCESCAN REPEATABLEREAD SNAPSHOT
    FASTFIRSTROW KEEPIDENTITY KEEPDEFAULTS IGNORE_CONSTRAINTS IGNORE_TRIGGERS"""
)
# Statements that a call carries to another server; the rows that a trigger is told of.
_CALLS = frozenset({"EXEC", "EXECUTE"})
_PSEUDO_TABLES = frozenset({"inserted", "deleted"})
_TABLE_FUNCTIONS = keywords(
    """CHANGETABLE CONTAINSTABLE FREETEXTTABLE SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYTABLE
    SEMANTICSIMILARITYDETAILSTABLE"""
)
_BEFORE_TABLE = frozenset({"LATERAL", "TABLE", "ONLY", "STREAM"})
# `FROM t INSERT INTO u SELECT a INSERT INTO v SELECT b`
_MULTI_INSERT = {Dialect.TSQL: frozenset[str](), Dialect.SPARK: frozenset({"FROM", "WITH"})}
_READERS = keywords(
    "SELECT WITH VALUES FROM TABLE ( IF ELSEIF CASE WHEN WHILE UNTIL SET DECLARE RETURN"
)
_VERBS = {Dialect.TSQL: VERBS, Dialect.SPARK: {**VERBS, **SPARK_VERBS}}
# These move no data. What a call does, its own events tell.
_SILENT = keywords(
    """ADD ANALYZE BACKUP BEGIN BREAK CACHE CALL CHECKPOINT CLEAR CLOSE COMMENT COMMIT CONTINUE DBCC
    DEALLOCATE DENY DESC DESCRIBE ELSE END EXPLAIN FETCH GOTO GRANT KILL LIST MSCK OPEN
    OPTIMIZE PRINT RAISERROR RECONFIGURE REFRESH RESET RESTORE REVERT REVOKE ROLLBACK SAVE SHOW
    SHUTDOWN THROW UNCACHE USE VACUUM WAITFOR"""
)


def scan(tokens: list[Token], dialect: Dialect) -> tuple[str | None, list[TableAccess]]:
    """What a statement does, and the tables it does it to, each once a direction.

    The first is None where the statement begins with words that are not known here, and then
    there is nothing to say of its tables.
    """
    head = tokens[0].word
    if not (head in _READERS or head in _VERBS[dialect]) or _is_replace_into(tokens):
        return (head if head in _SILENT else None), []
    walk = Walk(tokens, dialect)
    if head in _CALLS and (server := walk.linked_server(0)):
        return _scan_linked(tokens[2 : walk.closes[1]], server)
    found = _walked(walk)
    return walk.operation, found


def _walked(walk: Walk) -> list[TableAccess]:
    at = 0
    while at < walk.end:
        at = _step(walk, at)
    return _accesses(walk)


def _scan_linked(tokens: list[Token], server: str) -> tuple[str | None, list[TableAccess]]:
    """What statements do that run on a linked server: `EXEC (…) AT srv`."""
    operation = None
    found: list[TableAccess] = []
    for statement in split(tokens, Dialect.TSQL):
        walk = Walk(statement, Dialect.TSQL)
        walk.scope.server = server
        found += _walked(walk)
        operation = operation or walk.operation
    return operation or "EXEC", found


def _is_replace_into(tokens: list[Token]) -> bool:
    """REPLACE is ours only in CREATE OR REPLACE and REPLACE TABLE."""
    return [token.word for token in tokens[:2]] == ["REPLACE", "INTO"]


def _step(walk: Walk, at: int) -> int:
    """Take in one token; gives the place of the next."""
    scope, word = walk.scope, walk.word(at)
    if at == scope.end:
        walk.scopes.pop()
        if not scope.derived:
            return at + 1
        return _alias(walk, at + 1, walk.first_read(scope.start, scope.end), "")
    if scope.expects:
        return _expected(walk, at)
    if "." in (walk.word(at - 1), walk.word(at + 1)):
        if word == "DELETED" and scope.outputs and scope.target:
            walk.returned.append(scope.target)
    elif word in _VERBS[walk.dialect] and _is_verb(walk, at):
        return _VERBS[walk.dialect][word](walk, at)
    elif word in _CLAUSES:
        return _CLAUSES[word](walk, at)
    return at + 1


def _is_verb(walk: Walk, at: int) -> bool:
    """Whether a verb begins something: first, behind WITH, or inside `FROM (DELETE …)`."""
    if at == 0 or (walk.scope.derived and at == walk.scope.start + 1):
        return True
    first = walk.word(0)
    return walk.is_outermost and (
        (first == "WITH" and walk.scope.target is None)
        or (first in _MULTI_INSERT[walk.dialect] and walk.word(at) == "INSERT")
    )


def _open(walk: Walk, at: int) -> int:
    walk.scopes.append(Scope(at, walk.closes[at]))
    return at + 1


def _select(walk: Walk, at: int) -> int:
    walk.scope.has_from, walk.scope.in_from = True, False
    return at + 1


def _from(walk: Walk, at: int) -> int:
    scope = walk.scope
    # FOR SYSTEM_TIME FROM … TO …, IS DISTINCT FROM
    clause = walk.word(at - 1) not in ("SYSTEM_TIME", "DISTINCT")
    begins = at == scope.start + 1 or walk.word(at - 1) == "AS"  # CREATE VIEW v AS FROM t
    if clause and (scope.has_from or begins):
        scope.has_from = scope.in_from = scope.expects = True
    return at + 1


def _comma(walk: Walk, at: int) -> int:
    row = walk.scope.rows and walk.word(at - 1) == ")" and walk.word(at + 1) == "("
    walk.scope.expects = walk.scope.in_from and not row
    return at + 1


def _join(walk: Walk, at: int) -> int:
    walk.scope.expects = True
    return at + 1


def _using(walk: Walk, at: int) -> int:
    walk.scope.expects = walk.scope.target is not None and (
        walk.dialect is Dialect.TSQL or walk.operation == "MERGE"
    )
    return at + 1


def _insert(walk: Walk, at: int) -> int:
    """MERGE … THEN INSERT (a, b): the columns of its target."""
    target, columns = walk.scope.target, walk.columns(at + 1)
    if target and columns:
        walk.writes = [
            replace(write, columns=columns) if write.name == target.name else write
            for write in walk.writes
        ]
    return at + 1


def _output(walk: Walk, at: int) -> int:
    walk.scope.outputs, walk.scope.in_from = True, False
    return at + 1


def _into(walk: Walk, at: int) -> int:
    scope, found = walk.scope, walk.name(at + 1)
    if found is None or walk.dialect is Dialect.SPARK:
        return at + 1
    if scope.outputs:
        walk.write(found, "INSERT", walk.columns(found.end))
        scope.outputs = False
    elif walk.is_outermost and scope.has_from and not scope.in_from:
        walk.operation = "SELECT INTO"
        walk.write(found, walk.operation)
    return found.end


def _table(walk: Walk, at: int) -> int:
    """TABLE standing for a query or an argument: `INSERT INTO t TABLE u`, `f(TABLE u)`; Spark."""
    walk.scope.expects = walk.dialect is Dialect.SPARK and walk.word(at - 1) != "SELECT"
    return at + 1


# `t FOR SYSTEM_TIME AS OF …`, `t FOR VERSION AS OF …`
_TRAVELS = ("SYSTEM_", "VERSION", "TIMESTAMP", "PATH")


def _ends_from(walk: Walk, at: int) -> int:
    if not walk.word(at + 1).startswith(_TRAVELS):
        walk.scope.in_from = False
    return at + 1


_CLAUSES: Mapping[str, Callable[[Walk, int], int]] = {
    **dict.fromkeys(_ENDS_FROM, _ends_from),
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


def _expected(walk: Walk, at: int) -> int:
    """A place where a table should stand."""
    scope, word, follows = walk.scope, walk.word(at), walk.word(at + 1)
    if word in _BEFORE_TABLE and follows not in _NO_ALIAS | {".", ",", ")", "VIEW"}:
        return at + 1
    scope.expects = False
    if inside := _open_query(walk, at):
        return inside
    if word == "(":
        walk.scopes.append(Scope(at, walk.closes[at], expects=True, derived=True))
        return at + 1
    if word == "VALUES":
        scope.rows = True
        return at + 1  # rows in the place of a table
    found = None if word in _NO_ALIAS else walk.name(at)
    if found is None:
        return at  # a query, a literal, or something that was cut off
    return _source(walk, at, found)


def _source(walk: Walk, at: int, found: NameAt) -> int:
    """What stands by its name where a table should: that, a function, or what a query defines."""
    end = found.end
    if walk.word(end) == "(":
        if walk.word(end + 1) not in _HINTS:
            return _function(walk, found)
        end = walk.behind(end)
    if cte := _cte(walk, at, found):
        behind = walk.first_read(cte.start, cte.end)
        if behind is not None:
            walk.sources.append((at, behind))
        return _alias(walk, end, behind, "")
    if _is_pseudo_table(walk, found):
        return _alias(walk, end, None, "")
    walk.read(at, found)
    return _alias(walk, end, len(walk.reads) - 1, found.name[-1])


def _alias(walk: Walk, at: int, read: int | None, default: str) -> int:
    """Note what a table is called in this statement; gives the place behind that."""
    place = walk.skip(at, "AS")
    alias = default
    named = place < walk.end and walk.tokens[place].is_name and walk.word(place + 1) != "."
    if named and walk.word(place) not in _NO_ALIAS:
        alias, at = walk.tokens[place].text, place + 1
    if read is not None and alias:
        walk.aliases.setdefault(alias.casefold(), read)
    return at


def _function(walk: Walk, found: NameAt) -> int:
    """A function's result is no table, but some take one: `CHANGETABLE(CHANGES t, 0)`."""
    place = walk.skip(found.end + 1, "CHANGES", "VERSION")
    if walk.dialect is Dialect.SPARK or found.name[-1].upper() not in _TABLE_FUNCTIONS:
        return found.end
    walk.scopes.append(Scope(found.end, walk.closes[found.end], expects=True, derived=True))
    return place


def _open_query(walk: Walk, at: int) -> int | None:
    """The place of the query in `OPENQUERY(srv, SELECT …)`, if one begins here."""
    if [walk.word(at), walk.word(at + 1), walk.word(at + 3)] != ["OPENQUERY", "(", ","]:
        return None
    server = walk.tokens[at + 2].text
    walk.scopes.append(Scope(at + 1, walk.closes[at + 1], derived=True, server=server))
    return at + 4


def _is_pseudo_table(walk: Walk, found: NameAt) -> bool:
    """Whether a name is that of the rows that a trigger is told of."""
    return (
        walk.dialect is Dialect.TSQL
        and len(found.name) == 1
        and found.name[0].casefold() in _PSEUDO_TABLES
    )


def _cte(walk: Walk, at: int, found: NameAt) -> Cte | None:
    """The common table expression that a name means.

    In its own query it is one in T-SQL (recursion), and the table of that name in Spark.
    """
    if len(found.name) > 1:
        return None
    name, always = found.name[0].casefold(), walk.dialect is Dialect.TSQL
    return next(
        (
            cte
            for cte in walk.ctes
            if cte.name == name
            and (cte.start if always or cte.recursive else cte.end) < at < cte.visible_to
        ),
        None,
    )


def _accesses(walk: Walk) -> list[TableAccess]:
    """What was found; a write to an alias is one to the table that it stands for."""
    found: dict[tuple[Name, Direction], TableAccess] = {}
    only_named: set[int] = set()
    for write in walk.writes:
        index = _stands_for(walk, write)
        if index is not None:
            if write.operation == "DELETE" == walk.operation:
                only_named.add(index)  # it stands in FROM for its alias
            source = walk.reads[index].found
            if write.name in [target.name for target in walk.returned]:
                walk.returned.append(source)
            write = replace(write, name=source.name, kind=source.kind)
        found.setdefault((_folded(write.name), Direction.WRITE), write)
    read = [r.found for i, r in enumerate(walk.reads) if i not in only_named]
    written = {name for name, _ in found}
    read += [target for target in walk.returned if _folded(target.name) in written]
    for name, kind, _ in read:
        access = TableAccess(name, Direction.READ, walk.operation, kind)
        found.setdefault((_folded(name), Direction.READ), access)
    return list(found.values())


def _stands_for(walk: Walk, write: TableAccess) -> int | None:
    """The read that names the table behind the target of an UPDATE, DELETE, MERGE or INSERT."""
    if len(write.name) > 1 or write.operation not in ("UPDATE", "DELETE", "MERGE", "INSERT"):
        return None
    name = write.name[0].casefold()
    for cte in walk.ctes:
        if cte.name == name:
            return walk.first_read(cte.start, cte.end)
    return walk.aliases.get(name) if write.operation in ("UPDATE", "DELETE") else None


def _folded(name: Name) -> Name:
    return tuple(part.casefold() for part in name)
