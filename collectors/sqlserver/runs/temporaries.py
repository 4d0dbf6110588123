"""Temporary tables of a session: which `#t` in two statements is one table.

Within a session a name is used again and again, often in a loop: made, filled, read, dropped. Rows
of one table must not come out of the next. So each table gets a name of its own, `#t~1234`; two
that the same statements were run on get the same name, so that a loop of a thousand rounds gives
as much lineage as one round.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# In texts without literals, in which one space stands between words.
_REFERENCE = re.compile(
    r"(?P<verb>\b(?:CREATE TABLE|DROP TABLE(?: IF EXISTS)?|TRUNCATE TABLE"
    r"|(?<!INSERT )(?<!MERGE )INTO) )?"
    r"(?:(?<![\w@$#.])\[?tempdb\]?\.\[?\w*\]?\.)?"
    r"(?:(?<![\w@$#\]])(?P<name>#[\w@$#]+)|\[(?P<quoted>#(?:[^\]]|\]\])+)\])",
    re.IGNORECASE,
)
# Between the tables of a segment, and between a table's name and its suffix.
TABLE_SEPARATOR, SUFFIX_SEPARATOR = "\n", "\t"
# The suffix of a table that an earlier part of the log made.
UNKNOWN = "?"


class TempTableReference(NamedTuple):
    """A temporary table that a text names.

    Attributes:
        begins: The first thing that the text does with it is to make or empty it.
        ends: The last thing that it does is to drop or empty it.
    """

    name: str
    begins: bool
    ends: bool


def temp_table_references(text: str) -> tuple[TempTableReference, ...]:
    """The temporary tables that a text without literals names, without those of all sessions."""
    references: dict[str, TempTableReference] = {}
    for match in _REFERENCE.finditer(text) if "#" in text else ():
        name = (match["name"] or match["quoted"]).casefold()
        verb = (match["verb"] or "").upper()
        ends = verb.startswith(("DROP", "TRUNCATE"))
        if not name.startswith("##"):
            begins = references[name].begins if name in references else bool(verb)
            references[name] = TempTableReference(name, begins, ends)
    return tuple(references.values())


@dataclass(slots=True, eq=False)
class TempTable:
    """One temporary table of a session.

    Attributes:
        suffix: Makes its name its own; None while more may be run on it.
    """

    name: str
    texts: set[str] = field(default_factory=set)
    suffix: str | None = None

    def settled_suffix(self, session: str, *, is_open: bool) -> str:
        """Its suffix from now on, by its texts, and by its session where more may be run on it."""
        if self.suffix is None:
            parts = [session, *sorted(self.texts)] if is_open else sorted(self.texts)
            digest = hashlib.blake2b("\n".join(parts).encode(), digest_size=4).digest()
            self.suffix = str(int.from_bytes(digest, "big"))
        return self.suffix


class TempTables:
    """The temporary tables of one session, as its statements come."""

    def __init__(self) -> None:
        self._now: dict[str, TempTable] = {}

    def use_tables(
        self, text: str, references: Sequence[TempTableReference], *, again: bool
    ) -> tuple[TempTable, ...]:
        """The tables that a text is run on.

        Args:
            again: The statements in it were run on them already, so it makes and ends none.
        """
        tables = []
        for name, begins, ends in references:
            if (begins and not again) or name not in self._now:
                is_known = begins or name in self._now
                self._now[name] = TempTable(name, suffix=None if is_known else UNKNOWN)
            self._now[name].texts.add(text)
            tables.append(self._now[name])
            if ends and not again:
                self._now[name] = TempTable(name)
        return tuple(tables)

    def is_open(self, table: TempTable) -> bool:
        """Whether more may be run on it."""
        return self._now.get(table.name) is table

    def clear(self) -> None:
        """Drop all of them."""
        self._now.clear()


def encode(suffixes: Iterable[tuple[str, str]]) -> str:
    """Names of tables and their suffixes, as one text."""
    return TABLE_SEPARATOR.join(f"{name}{SUFFIX_SEPARATOR}{suffix}" for name, suffix in suffixes)


def decode(text: str) -> dict[str, str]:
    """The reverse of `encode`."""
    pairs = (part.partition(SUFFIX_SEPARATOR) for part in text.split(TABLE_SEPARATOR) if part)
    return {name: suffix for name, _, suffix in pairs}
