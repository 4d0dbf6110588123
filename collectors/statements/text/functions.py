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
    for bracket in range(3, len(tokens)):
        if tokens[bracket].word != "(" or tokens[bracket - 2].word != ".":
            continue
        at = _begin_of_name(tokens, bracket)
        name = name_at(tokens, at, Dialect.TSQL)
        if name and name.end == bracket and _is_call(tokens, at, name):
            yield name.name


def _begin_of_name(tokens: list[Token], behind: int) -> int:
    """The place where the name begins that ends before a place; a part may be left out: `d..f`."""
    at = behind - 1
    while at > 1 and tokens[at - 1].word == ".":
        part = at - 2
        while part and tokens[part].word == ".":
            part -= 1
        if not tokens[part].is_name:
            break
        at = part
    return at


def _is_call(tokens: list[Token], at: int, name: NameAt) -> bool:
    if len(name.name) not in _PARTS or (at and tokens[at - 1].word in _NO_CALL):
        return False
    is_server = not _OF_SERVER.isdisjoint(map(str.casefold, name.name[:-1]))
    return not is_server and not is_method(tokens[name.end - 1])
