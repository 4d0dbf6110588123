"""Names of tables as statements write them: dotted, quoted, temporary, or a path."""

from __future__ import annotations

from typing import NamedTuple

from collectors.statements.dialect import Dialect
from collectors.statements.tokens import Token, keywords
from lineage.dataset import Kind

Name = tuple[str, ...]

# Spark reads files as tables: parquet.`/landing/orders`.
_FILE_FORMATS = keywords("parquet delta csv json orc avro text binaryfile xml")
_MOST_PARTS = 4


class NameAt(NamedTuple):
    """A name found among tokens, and the place behind it."""

    name: Name
    kind: Kind
    end: int


def name_at(tokens: list[Token], at: int, dialect: Dialect) -> NameAt | None:
    """The name that begins at a place; an omitted part (`db..t`) is empty.

    None where no name begins, or where it was cut off behind a dot.
    """
    parts: list[str] = []
    while at < len(tokens) and tokens[at].is_name:
        parts.append(tokens[at].text)
        at += 1
        dots = 0
        while at < len(tokens) and tokens[at].word == ".":
            dots += 1
            at += 1
        if not dots:
            break
        parts += [""] * (dots - 1)
        if at == len(tokens) or not tokens[at].is_name:
            return None
    if not parts or not parts[-1] or len(parts) > _MOST_PARTS:
        return None
    last = parts[-1]
    if dialect is Dialect.TSQL and last[0] in "#@":
        return NameAt((last,), Kind.TEMPORARY, at)
    quoted = not tokens[at - 1].word
    if dialect is Dialect.SPARK and len(parts) == 2 and quoted and parts[0] in _FILE_FORMATS:
        return NameAt((last,), Kind.PATH, at)
    return NameAt(tuple(parts), Kind.TABLE, at)


class Cte(NamedTuple):
    """A common table expression: what it is called, and where its query stands."""

    name: str
    start: int
    end: int


def common_tables(tokens: list[Token], closes: dict[int, int]) -> list[Cte]:
    """All common table expressions of a statement: `WITH a AS (…), b (c, d) AS (…)`."""
    found: list[Cte] = []
    for at, token in enumerate(tokens):
        if token.word == "WITH":
            found += _list_of_ctes(tokens, closes, at + 1)
    return found


def _list_of_ctes(tokens: list[Token], closes: dict[int, int], at: int) -> list[Cte]:
    def word(place: int) -> str:
        return tokens[place].word if place < len(tokens) else ""

    found: list[Cte] = []
    if word(at) == "RECURSIVE":
        at += 1
    while at < len(tokens) and tokens[at].is_name:
        name = tokens[at].text
        at += 1
        if word(at) == "(" and word(closes[at] + 1) in ("AS", ","):
            at = closes[at] + 1  # its columns; or XMLNAMESPACES (…)
        if word(at) == "AS":
            at += 1
        at += 2 if word(at) == "NOT" else 1 if word(at) == "MATERIALIZED" else 0
        if word(at) == "(":
            found.append(Cte(name.casefold(), at, closes[at]))
            at = closes[at] + 1
        if word(at) != ",":
            break
        at += 1
    return found
