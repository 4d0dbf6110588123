"""Functions of T-SQL's users that return one value: these are always called with their schema."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, NameAt, name_at
from dbt_graft.collectors.statements.text.tokens import Token, keywords

# Of XML columns and of hierarchyid; those of geography and geometry begin with `ST`.
_METHODS = keywords(
    """VALUE QUERY EXIST NODES MODIFY WRITE TOSTRING PARSE GETANCESTOR GETDESCENDANT GETLEVEL
    GETREPARENTEDVALUE ISDESCENDANTOF GETROOT"""
)
_SPATIAL = re.compile(r"ST[A-Z]")
# Behind these a name with brackets is a table, a procedure or a type.
_NO_CALL = keywords(
    """APPLY CALL CONSTRAINT DELETE EXEC EXECUTE FROM FUNCTION INDEX INSERT INTO JOIN MERGE PROC
    PROCEDURE REFERENCES TABLE TYPE UPDATE USING VIEW"""
)
_OF_SERVER = frozenset({"sys", "master", "$partition"})
_PARTS = (2, 3)


def is_method(token: Token) -> bool:
    """Whether a word is a method of XML, hierarchyid, geography or geometry."""
    return token.word in _METHODS or bool(_SPATIAL.match(token.text))


def called_functions(tokens: list[Token]) -> Iterator[Name]:
    """The functions of users that a statement calls for one value: `dbo.rate(a)`."""
    at = 0
    while at < len(tokens):
        name = name_at(tokens, at, Dialect.TSQL) if tokens[at].is_name else None
        if name is None or name.end <= at:
            at += 1
            continue
        if _is_call(tokens, at, name):
            yield name.name
        at = name.end


def _is_call(tokens: list[Token], at: int, name: NameAt) -> bool:
    called = len(name.name) in _PARTS and tokens[name.end : name.end + 1]
    if not called or called[0].word != "(" or (at and tokens[at - 1].word in _NO_CALL):
        return False
    is_server = not _OF_SERVER.isdisjoint(map(str.casefold, name.name[:-1]))
    return not is_server and not is_method(tokens[name.end - 1])
