"""Temporary tables of a session: which `#t` is the same table, and which has only its name.

Within a session a name is used again and again, often in a loop: made, filled, read, dropped. What
was put into one table must not come out of the next. So each table gets a name of its own,
`#t~1234`; two that the same statements were run on are one, so that a loop of a thousand rounds
still tells as much as one round.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# In texts without literals, in which one space stands between words.
_USED = re.compile(
    r"(?P<anew>\b(?:CREATE TABLE|DROP TABLE(?: IF EXISTS)?|TRUNCATE TABLE"
    r"|(?<!INSERT )(?<!MERGE )INTO) )?"
    r"(?:(?<![\w@$#.])\[?tempdb\]?\.\[?\w*\]?\.)?"
    r"(?:(?<![\w@$#\]])(?P<name>#[\w@$#]+)|\[(?P<quoted>#(?:[^\]]|\]\])+)\])",
    re.IGNORECASE,
)
# Between the tables of a segment, and between a name and what it is told apart by.
BETWEEN, BEHIND = "\n", "\t"
# Made before what was looked at.
UNKNOWN = "?"


class TempTableReference(NamedTuple):
    """How a text uses a name.

    Attributes:
        anew: The first thing that it does is to make or empty the table.
        ends: The last thing that it does is to drop or empty it.
    """

    name: str
    anew: bool
    ends: bool


def temp_table_references(text: str) -> tuple[TempTableReference, ...]:
    """The temporary tables that a text without literals names, those of all sessions left out."""
    found: dict[str, TempTableReference] = {}
    for used in _USED.finditer(text) if "#" in text else ():
        name = (used["name"] or used["quoted"]).casefold()
        verb = (used["anew"] or "").upper()
        ends = verb.startswith(("DROP", "TRUNCATE"))
        if not name.startswith("##"):
            anew = found[name].anew if name in found else bool(verb)
            found[name] = TempTableReference(name, anew, ends)
    return tuple(found.values())


@dataclass(slots=True, eq=False)
class TempTable:
    """One temporary table of a session.

    Attributes:
        texts: What was run on it.
        sign: What tells it apart; None while more may be run on it.
    """

    name: str
    texts: set[str] = field(default_factory=set)
    sign: str | None = None

    def signed(self, whose: str, *, open_: bool) -> str:
        """What tells it apart from now on: what was run on it, or who is still running it."""
        if self.sign is None:
            told = [whose, *sorted(self.texts)] if open_ else sorted(self.texts)
            digest = hashlib.blake2b("\n".join(told).encode(), digest_size=4).digest()
            self.sign = str(int.from_bytes(digest, "big"))
        return self.sign


class TempTables:
    """The temporary tables of one session, as its statements come."""

    def __init__(self) -> None:
        self._now: dict[str, TempTable] = {}

    def used(
        self, text: str, by: Sequence[TempTableReference], *, again: bool
    ) -> tuple[TempTable, ...]:
        """The tables that a text is run on.

        Args:
            again: It was seen already, by what ran inside of it, so it makes nothing anew.
        """
        found = []
        for name, anew, ends in by:
            if (anew and not again) or name not in self._now:
                known = anew or name in self._now
                self._now[name] = TempTable(name, sign=None if known else UNKNOWN)
            self._now[name].texts.add(text)
            found.append(self._now[name])
            if ends and not again:
                self._now[name] = TempTable(name)
        return tuple(found)

    def is_open(self, table: TempTable) -> bool:
        """Whether more may be run on it."""
        return self._now.get(table.name) is table

    def clear(self) -> None:
        """All of them are gone."""
        self._now.clear()


def encode(signs: Iterable[tuple[str, str]]) -> str:
    """Names and what tells each apart, as one text."""
    return BETWEEN.join(f"{name}{BEHIND}{sign}" for name, sign in signs)


def decode(text: str) -> dict[str, str]:
    """The reverse of `encode`."""
    pairs = (one.partition(BEHIND) for one in text.split(BETWEEN) if one)
    return {name: sign for name, _, sign in pairs}
