"""A text with names of ours in the place of its tables: of tables a year, a tenant or a shard each.

Texts with one template are alike in all but the names of their tables, so what is worked out for
one is true of the others under their names. Only dotted names without quotes are replaced, where
nothing but a table can stand, and only if no part of them stands anywhere else: then nothing in the
text depends on how a table is called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from dbt_graft.collectors.statements.text.names import Name

_PART = r"[A-Za-z_]\w*+"
_DOTTED = rf"{_PART}(?:\.{_PART}){{1,3}}(?![\w.])"
_TABLES = re.compile(
    rf"(?:\A|[\s(])(?P<before>FROM|JOIN|USING|INTO|UPDATE|MERGE|TABLE)\s++(?P<name>{_DOTTED})"
    r"(?P<called>\s*+\()?",
    re.IGNORECASE,
)
_SOURCES = frozenset({"from", "join", "using"})
_WORD = re.compile(r"\w+")
_OURS = re.compile(r"__t(\d+)_(\d)")
# Schemas and databases that mean more than a place.
_SPECIAL = frozenset(
    {"sys", "information_schema", "tempdb", "files", "global_temp", "system", "inserted", "deleted"}
)
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class TableTemplate:
    """A template, and the names that it has for one text.

    Attributes:
        names: The tables' names as the text has them, in their order.
    """

    text: str
    names: tuple[tuple[str, ...], ...]

    def restore(self, text: str) -> str:
        """A text made of the template, under the tables' own names."""
        return _OURS.sub(lambda ours: self.names[int(ours[1])][int(ours[2])], text)

    def restore_name(self, name: Name) -> Name:
        """A name in what was made of the template, as the text has it."""
        return tuple(self.restore(part) if part.startswith("__t") else part for part in name)


def make_template(text: str) -> TableTemplate | None:
    """The template of a text; None where it names no table that can be replaced."""
    if len(text) > _LONGEST or "__t" in text:
        return None
    numbers: dict[str, int] = {}

    def replace_name(match: re.Match[str]) -> str:
        before, name, called = match["before"], match["name"], match["called"]
        if called and before.casefold() in _SOURCES:
            return match.group()  # a function
        number = numbers.setdefault(name, len(numbers))
        start, end = match.start(), match.start("name")
        return f"{text[start:end]}{_name_of_ours(number, name.count('.'))}{called or ''}"

    template = _TABLES.sub(replace_name, text)
    if not numbers:
        return None
    names = [tuple(name.split(".")) for name in numbers]
    folded = {tuple(name.casefold().split(".")) for name in numbers}
    tables, places = {name[-1] for name in folded}, {part for name in folded for part in name[:-1]}
    # Of `FROM t.a` and `FROM d.t`, the first may be a column of the second: EXTRACT (day FROM t.a).
    is_clear = len(folded) == len(names) and not tables & places
    if not is_clear or places & _SPECIAL or _names_any(template, tables | places):
        return None
    return TableTemplate(template, tuple(names))


def _names_any(text: str, words: set[str]) -> bool:
    """Whether one of these words, folded, stands in a text."""
    folded = text.casefold()
    maybe = {word for word in words if word in folded}
    return not maybe.isdisjoint(_WORD.findall(folded)) if maybe else False


@lru_cache(1_000)
def _name_of_ours(number: int, dots: int) -> str:
    return ".".join(f"__t{number}_{part}" for part in range(dots + 1))
