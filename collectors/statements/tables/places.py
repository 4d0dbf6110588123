"""A place where a table should stand: what stands there, and what the statement calls it."""

from __future__ import annotations

from dbt_graft.collectors.statements.tables.clauses import ENDS_FROM
from dbt_graft.collectors.statements.tables.scan_state import Scope, Walk
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Cte, NameAt
from dbt_graft.collectors.statements.text.tokens import keywords

# What can stand behind a table without being its alias.
_NO_ALIAS = ENDS_FROM | keywords(
    """ON JOIN INNER LEFT RIGHT FULL CROSS OUTER NATURAL SEMI ANTI APPLY USING WITH PIVOT UNPIVOT
    TABLESAMPLE AS FROM INTO SELECT INSERT UPDATE DELETE MERGE OUTPUT VERSION TIMESTAMP DEFAULT
    EXEC EXECUTE"""
)
_HINTS = keywords(
    """NOLOCK READUNCOMMITTED READCOMMITTED READPAST ROWLOCK PAGLOCK TABLOCK TABLOCKX UPDLOCK XLOCK
    HOLDLOCK SERIALIZABLE NOEXPAND NOWAIT INDEX FORCESEEK FORCESCAN REPEATABLEREAD SNAPSHOT
    FASTFIRSTROW KEEPIDENTITY KEEPDEFAULTS IGNORE_CONSTRAINTS IGNORE_TRIGGERS"""
)
# The rows that a trigger is told of.
_PSEUDO_TABLES = frozenset({"inserted", "deleted"})
_TABLE_FUNCTIONS = keywords(
    """CHANGETABLE CONTAINSTABLE FREETEXTTABLE SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYTABLE
    SEMANTICSIMILARITYDETAILSTABLE"""
)
_BEFORE_TABLE = frozenset({"LATERAL", "TABLE", "ONLY", "STREAM"})


def expected(walk: Walk, at: int) -> int:
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
        return alias(walk, end, behind, "")
    if _is_pseudo_table(walk, found):
        return alias(walk, end, None, "")
    walk.read(at, found)
    return alias(walk, end, len(walk.reads) - 1, found.name[-1])


def alias(walk: Walk, at: int, read: int | None, default: str) -> int:
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
