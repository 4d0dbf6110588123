"""The name index: the beginnings of names, for a search that needs no server.

Each name has a key for every word in it: `raw.customerOrders` is found by `raw.cust`, `customer_o`
and `orders`. `_`, `.`, `/` and capitals are borders of words; keys leave them out. Keys that begin
alike share a shard: a classic script, since browsers forbid pages opened as files to fetch data. A
shard that would be too large is split by the next letter; in its place a shard holds the best names
of each kind.

`site/scripts/names.js` reads it; both take names apart in the same way.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import orjson

from dbt_graft.catalog.markup import printable

FOLDER = "search/names"
SHARD_BYTES = 64_000
# Letters of a key; words of a name that have one; names of a kind in place of a shard that is
# split; names of a kind with one key.
KEY, _WORDS, _BEST, _ALIKE = 32, 12, 40, 200

_CAMEL = (
    (re.compile("([a-z0-9])([A-Z])"), r"\1 \2"),
    (re.compile("([A-Z])([A-Z][a-z])"), r"\1 \2"),
)
_WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile("[a-z0-9]")


class NameKind(IntEnum):
    """Kinds of things that have names, in the order of search results.

    DBT: A page that only dbt docs has.
    TEST: A generic test of dbt, found by its full name alone: it is on its dataset's page too.
    """

    DATASET = 0
    COLUMN = 1
    TASK = 2
    TAG = 3
    OWNER = 4
    DBT = 5
    TEST = 6


@dataclass(frozen=True, slots=True)
class IndexedName:
    """A name that search finds.

    Attributes:
        path: Relative to the site's root; a page's ends in a slash, before its anchor.
        platforms, owners: Of all that has this name; search can be limited to one of them.
        note: A few words beside it: `in 12 datasets`.
    """

    kind: NameKind
    name: str
    path: str
    platforms: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    note: str = ""


def words(name: str) -> list[str]:
    """The words of a name, folded: `raw`, `customer`, `orders` of `raw.customerOrders`."""
    name = unicodedata.normalize("NFKC", name)
    for camel, apart in _CAMEL:
        name = camel.sub(apart, name)
    return [word.lower() for word in _WORD.findall(name)]


def keys(name: str, by_words: bool = True) -> set[str]:
    """The keys of a name: itself, and what is left of it from each of its words on."""
    # A name of other characters alone, such as emoji, is one word.
    parts = words(name) or ["".join(name.lower().split())]
    count = min(len(parts), _WORDS) if by_words else 1
    return {"".join(parts[at:])[:KEY] for at in range(count)} - {""}


_Row = tuple[str, int, bytes]


def write_name_index(site: Path, entries: Iterable[IndexedName]) -> None:
    """Write the shards, and the list of them."""
    ordered = sorted(entries, key=lambda one: (one.kind, len(one.name), one.name, one.path))
    rows = [
        (key, at, content)
        for at, content in enumerate(map(_row, ordered))
        for key in keys(printable(ordered[at].name), ordered[at].kind is not NameKind.TEST)
    ]
    rows.sort(key=itemgetter(0, 1))
    kinds = [one.kind for one in ordered]
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    full: list[str] = []
    split: list[str] = []
    for prefix, shard, omitted in _shards("", rows, kinds):
        (split if omitted else full).append(prefix)
        name = orjson.dumps(prefix).decode()
        content = b",\n".join(content for _, _, content in shard)
        counts = orjson.dumps([omitted.get(kind, 0) for kind in NameKind]) if omitted else b"null"
        (folder / file_name(prefix)).write_bytes(
            b"graft.names.add(%s, %s, [\n%s\n])\n" % (name.encode(), counts, content)
        )
    listed = orjson.dumps([sorted(full), sorted(split)])[1:-1]
    (folder / "index.js").write_bytes(b"graft.names.list(%s)\n" % listed)


def file_name(prefix: str) -> str:
    """The file of a shard; no device of Windows is called so."""
    safe = (char if _PLAIN.match(char) else f"_{ord(char):x}_" for char in prefix)
    return f"n-{''.join(safe)}.js"


def _row(entry: IndexedName) -> bytes:
    """A name as JSON: kind, name, path, platforms, owners, note; the last ones only if there."""
    values: list[object] = [
        int(entry.kind),
        printable(entry.name),
        entry.path,
        list(map(printable, entry.platforms)),
        list(map(printable, entry.owners)),
        printable(entry.note),
    ]
    while not values[-1]:
        values.pop()
    return orjson.dumps(values)


def _shards(
    prefix: str, rows: Sequence[_Row], kinds: Sequence[NameKind]
) -> Iterator[tuple[str, Sequence[_Row], dict[NameKind, int]]]:
    """The shards of rows whose keys begin alike: prefix, rows, and those left out by kind."""
    unique = _each_once(rows)
    if sum(len(content) + 2 for _, _, content in unique) <= SHARD_BYTES:
        yield prefix, unique, {}
        return
    prefix = _common(rows[0][0], rows[-1][0])  # they are sorted
    alike = [row for row in rows if row[0] == prefix]
    best = _best(alike, _ALIKE, kinds) + _best(unique, _BEST, kinds)
    shown = _each_once(best)
    omitted: dict[NameKind, int] = defaultdict(int)
    ids = {at for _, at, _ in shown}
    for _, at, _ in unique:
        if at not in ids:
            omitted[kinds[at]] += 1
    yield prefix, shown, dict(omitted) or {NameKind.DATASET: 0}
    longer = [row for row in rows if row[0] != prefix]
    for letter, some in groupby(longer, key=lambda row: row[0][len(prefix)]):
        yield from _shards(prefix + letter, list(some), kinds)


def _common(a: str, b: str) -> str:
    pairs = enumerate(zip(a, b, strict=False))
    return a[: next((at for at, (one, other) in pairs if one != other), min(len(a), len(b)))]


def _each_once(rows: Iterable[_Row]) -> list[_Row]:
    """Rows in the order of their names; a name can have several keys that begin alike."""
    return sorted({row[1]: row for row in rows}.values(), key=itemgetter(1))


def _best(rows: Iterable[_Row], most: int, kinds: Sequence[NameKind]) -> list[_Row]:
    """The first rows of each kind."""
    found: dict[NameKind, list[_Row]] = defaultdict(list)
    for row in rows:
        if len(some := found[kinds[row[1]]]) < most:
            some.append(row)
    return [row for some in found.values() for row in some]
