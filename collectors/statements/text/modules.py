"""Functions of T-SQL's users that return one value: these are always called with their schema.

Procedures, functions and triggers: where their bodies begin.

The body runs when the module is called, not when the batch that creates it runs. It goes on to the
end of its batch.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, NameAt, name_at
from dbt_graft.collectors.statements.text.tokens import Token, keywords

KINDS = keywords("PROC PROCEDURE FUNCTION TRIGGER")
_LONGEST_HEAD = 4  # CREATE OR ALTER PROCEDURE


def creates_module(tokens: list[Token]) -> bool:
    """Whether a statement creates or alters a procedure, function or trigger."""
    head = [token.word for token in tokens[:_LONGEST_HEAD]]
    if head[:1] not in (["CREATE"], ["ALTER"]):
        return False
    kind = head[3:4] if head[1:3] == ["OR", "ALTER"] else head[1:2]
    return bool(KINDS.intersection(kind))


def module_name(tokens: list[Token]) -> str:
    """The last part of the name in the head of a module; empty where it was cut off."""
    at = next(at for at, token in enumerate(tokens) if token.word in KINDS) + 1
    name = ""
    while at < len(tokens) and tokens[at].is_name:
        name = tokens[at].text
        at += 1
        if at == len(tokens) or tokens[at].word != ".":
            break
        at += 1
    return name


def body(tokens: list[Token], closes: dict[int, int], at: int) -> int:
    """The place of the body of the module that a statement from `at` on creates.

    `AS` introduces it, but not that of `@a AS int` or `EXECUTE AS OWNER`; functions may do
    without.
    """
    at += 1
    while at < len(tokens):
        word, before = tokens[at].word, tokens[at - 1].word
        if word == "AS" and before not in ("EXEC", "EXECUTE") and before[:1] != "@":
            return at + 1
        if word in ("BEGIN", "RETURN"):
            return at
        at = closes.get(at, at) + 1
    return at


# Of XML columns and of hierarchyid.
_METHODS = keywords(
    """VALUE QUERY EXIST NODES MODIFY WRITE TOSTRING PARSE GETANCESTOR GETDESCENDANT GETLEVEL
    GETREPARENTEDVALUE ISDESCENDANTOF GETROOT"""
)
# Of geography and geometry, in their own spelling: a table may be called STG_ORDERS.
_SPATIAL = words(
    """STArea STAsBinary STAsText STBoundary STBuffer STCentroid STContains STConvexHull STCrosses
    STCurveN STCurveToLine STDifference STDimension STDisjoint STDistance STEndPoint STEndpoint
    STEnvelope STEquals STExteriorRing STGeomCollFromText STGeomCollFromWKB STGeomFromText
    STGeomFromWKB STGeometryN STGeometryType STInteriorRingN STIntersection STIntersects STIsClosed
    STIsEmpty STIsRing STIsSimple STIsValid STLength STLineFromText STLineFromWKB STMLineFromText
    STMLineFromWKB STMPointFromText STMPointFromWKB STMPolyFromText STMPolyFromWKB STNumCurves
    STNumGeometries STNumInteriorRing STNumPoints STOverlaps STPointFromText STPointFromWKB
    STPointN STPointOnSurface STPolyFromText STPolyFromWKB STRelate STStartPoint STStartpoint
    STSymDifference STTouches STUnion STWithin"""
)
# Behind these a name with brackets is a table, a procedure or a type.
_NO_CALL = keywords(
    """APPLY CALL CONSTRAINT DELETE EXEC EXECUTE FROM FUNCTION INDEX INSERT INTO JOIN MERGE PROC
    PROCEDURE REFERENCES TABLE TYPE UPDATE USING VIEW"""
)
_OF_SERVER = frozenset({"sys", "master", "$partition"})
_PARTS = (2, 3)


def is_method(token: Token) -> bool:
    """Whether a word is a method of XML, hierarchyid, geography or geometry."""
    return token.word in _METHODS or token.text in _SPATIAL


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
