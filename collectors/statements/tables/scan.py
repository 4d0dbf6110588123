"""The tables of a statement, from its tokens alone: where a name stands decides what it is.

No grammar: a keyword such as FROM or INTO says that a table comes next, a bracket opens a scope of
its own, and whatever is not understood is passed over. That is why a statement that was cut off,
or that no parser knows, still tells its tables. Names of common table expressions and aliases are
never tables.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.statements.tables.clauses import CLAUSES
from dbt_graft.collectors.statements.tables.places import alias, expected
from dbt_graft.collectors.statements.tables.scan_state import TableAccess, Walk
from dbt_graft.collectors.statements.tables.spark_verbs import SPARK_VERBS
from dbt_graft.collectors.statements.tables.verbs import VERBS
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import Token, keywords
from dbt_graft.lineage.records import Direction

# Statements that a call carries to another server.
_CALLS = frozenset({"EXEC", "EXECUTE"})
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
        return alias(walk, at + 1, walk.first_read(scope.start, scope.end), "")
    if scope.expects:
        return expected(walk, at)
    if "." in (walk.word(at - 1), walk.word(at + 1)):
        if word == "DELETED" and scope.outputs and scope.target:
            walk.returned.append(scope.target)
    elif word in _VERBS[walk.dialect] and _is_verb(walk, at):
        return _VERBS[walk.dialect][word](walk, at)
    elif word in CLAUSES:
        return CLAUSES[word](walk, at)
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
