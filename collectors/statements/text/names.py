"""Names of tables as statements write them: dotted, quoted, temporary, or a path."""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.tokens import Token, keywords, word_at
from dbt_graft.lineage.dataset import Kind

Name = tuple[str, ...]

# Spark reads files as tables: parquet.`/landing/orders`.
_FILE_FORMATS = keywords("parquet delta csv json orc avro text binaryfile xml iceberg hudi files")
# In T-SQL a file is files.[C:\x] or files.[https://…/x].
_PATH = re.compile(r"[\\/:]")
# Delta's time travel in a path: delta.`/landing/orders@v3`.
_VERSION = re.compile(r"@(?:v\d+|\d{17})$")
_MOST_PARTS = 4
# Spark's schema of global temporary views.
GLOBAL_TEMP = "global_temp"


def fold_name(name: Name) -> Name:
    """A name by which its spellings are one."""
    return tuple(part.casefold() for part in name)


class NameAt(NamedTuple):
    """A name found among tokens, and the place after it."""

    name: Name
    kind: Kind
    end: int

    def as_view(self) -> NameAt:
        """The same name, of a view."""
        return self._replace(kind=Kind.VIEW) if self.kind is Kind.TABLE else self

    def on_server(self, server: Name) -> NameAt:
        """The same name as of a linked server, which is the first of four parts.

        Args:
            server: The server, and the database that is chosen there, if one is.
        """
        if not server or self.kind is not Kind.TABLE or len(self.name) == _MOST_PARTS:
            return self
        database, *rest = ("", "", *self.name)[-3:]
        return self._replace(name=(server[0], database or "".join(server[1:]), *rest))


def name_at(tokens: list[Token], at: int, dialect: Dialect) -> NameAt | None:
    """The name that begins at a place; an omitted part (`db..t`) is empty.

    None where no name begins, or where it was cut off after a dot.
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
    if any("?" in part for part in parts) or _goes_on(tokens, at):
        return None  # a part of it is a value that is not known
    last = parts[-1]
    if dialect is Dialect.TSQL and last[0] in "#@":
        return NameAt((last,), Kind.TEMPORARY, at)
    quoted = not tokens[at - 1].word
    if dialect is Dialect.TSQL and quoted and parts[:-1] == ["files"] and _PATH.search(last):
        return NameAt((last,), Kind.PATH, at)
    if dialect is Dialect.SPARK and len(parts) == 2:
        return _spark_name(parts, quoted, at)
    return NameAt(tuple(parts), Kind.TABLE, at)


def _spark_name(parts: list[str], quoted: bool, end: int) -> NameAt:
    """A name of two parts: parquet.`/landing/orders`, global_temp.v, raw.orders."""
    first, last = parts[0].casefold(), parts[1]
    if quoted and (first in _FILE_FORMATS or "/" in last):
        return NameAt((_VERSION.sub("", last),), Kind.PATH, end)
    return NameAt(tuple(parts), Kind.TEMPORARY if first == GLOBAL_TEMP else Kind.TABLE, end)


def _goes_on(tokens: list[Token], at: int) -> bool:
    """Whether a value follows a name directly: `sales_?`"""
    return (
        at < len(tokens)
        and tokens[at].word in ("?", "??")
        and tokens[at - 1].end == tokens[at].start
    )


class Cte(NamedTuple):
    """A common table expression: its name, the places of its query, the end of its scope."""

    name: str
    start: int
    end: int
    visible_to: int
    recursive: bool


def common_tables(tokens: list[Token], closes: dict[int, int]) -> list[Cte]:
    """All common table expressions of a statement: `WITH a AS (…), b (c, d) AS (…)`."""
    ctes: list[Cte] = []
    ends = [len(tokens)]
    for at, token in enumerate(tokens):
        if at == ends[-1]:
            ends.pop()
        if token.word == "(":
            ends.append(closes[at])
        elif token.word == "WITH":
            ctes += _list_of_ctes(tokens, closes, at + 1, ends[-1])
    return ctes


def _list_of_ctes(
    tokens: list[Token], closes: dict[int, int], at: int, visible_to: int
) -> list[Cte]:
    word = partial(word_at, tokens)
    ctes: list[Cte] = []
    recursive = word(at) == "RECURSIVE"
    at += recursive
    while at < len(tokens) and tokens[at].is_name:
        name = tokens[at].text
        at += 1
        if word(at) == "(" and word(closes[at] + 1) in ("AS", ","):
            at = closes[at] + 1  # its columns; or XMLNAMESPACES (…)
        if word(at) == "AS":
            at += 1
        at += 2 if word(at) == "NOT" else 1 if word(at) == "MATERIALIZED" else 0
        if word(at) == "(":
            ctes.append(Cte(name.casefold(), at, closes[at], visible_to, recursive))
            at = closes[at] + 1
        if word(at) != ",":
            break
        at += 1
    return ctes
