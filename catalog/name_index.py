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
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path

import orjson

from dbt_graft.catalog.markup import printable
from dbt_graft.lineage.frozen import frozen

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
_PARTS = re.compile(r"[./\\]")
_PLAIN = re.compile("[a-z0-9]")


class NameKind(IntEnum):
    """Kinds of things that have names, in the order of search results.

    DBT: A page that only dbt docs has.
    TEST: A generic test of dbt, found by its full name alone: it is on its dataset's page too.
    OTHER: Another name of a dataset, found by its last part or all of it: paths begin alike.
    """

    DATASET = 0
    COLUMN = 1
    TASK = 2
    TAG = 3
    OWNER = 4
    DBT = 5
    TEST = 6
    OTHER = 7


@frozen
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


def keys(name: str, kind: NameKind = NameKind.DATASET) -> set[str]:
    """The keys of a name: itself, and what is left of it from each of its words on."""
    if kind is NameKind.OTHER:
        name = _PARTS.split(name.rstrip("./\\"))[-1]
    # A name of other characters alone, such as emoji, is one word.
    parts = words(name) or ["".join(name.lower().split())]
    count = 1 if kind in (NameKind.TEST, NameKind.OTHER) else min(len(parts), _WORDS)
    return {"".join(parts[at:])[:KEY] for at in range(count)} - {""}


def write_name_index(site: Path, entries: Iterable[IndexedName]) -> None:
    """Write the shards, and the list of them."""
    names = _Names(entries)
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    full: list[str] = []
    split: list[str] = []
    for shard in names.shards():
        (split if shard.omitted else full).append(shard.prefix)
        prefix = orjson.dumps(shard.prefix)
        content = b",\n".join(map(names.row, shard.names))
        omitted = [shard.omitted.get(kind, 0) for kind in NameKind]
        counts = orjson.dumps(omitted) if shard.omitted else b"null"
        (folder / file_name(shard.prefix)).write_bytes(
            b"graft.names.add(%s, %s, [\n%s\n])\n" % (prefix, counts, content)
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


@frozen
class _Shard:
    """The names whose keys begin alike, by number; of each kind, how many more there are."""

    prefix: str
    names: Sequence[int]
    omitted: Mapping[NameKind, int]


class _Names:
    """All names, numbered in the order of results."""

    def __init__(self, entries: Iterable[IndexedName]) -> None:
        ordered = sorted(
            entries, key=lambda entry: (entry.kind, len(entry.name), entry.name, entry.path)
        )
        # In one piece: each of orjson's results keeps the memory of what it was written into.
        self._rows = bytearray()
        self._starts = array("Q", [0])
        for entry in ordered:
            self._rows += _row(entry)
            self._starts.append(len(self._rows))
        self._kinds = bytes(entry.kind for entry in ordered)
        # Sorted, so that keys that begin alike are a range: no part of them is ever copied.
        self._keys = sorted(
            (key, at)
            for at, entry in enumerate(ordered)
            for key in keys(printable(entry.name), entry.kind)
        )

    def row(self, at: int) -> bytes:
        """A name as JSON."""
        return bytes(self._rows[self._starts[at] : self._starts[at + 1]])

    def shards(self) -> Iterator[_Shard]:
        """The shards of all names."""
        waiting = [("", 0, len(self._keys))]
        while waiting:
            prefix, start, end = waiting.pop()
            if self._fits(start, end):
                yield _Shard(prefix, self._each_once(start, end), {})
                continue
            prefix = _common_prefix(self._keys[start][0], self._keys[end - 1][0])
            longer = start
            while longer < end and self._keys[longer][0] == prefix:
                longer += 1
            yield self._best_of(prefix, start, longer, end)
            waiting += reversed(list(self._by_next_letter(prefix, longer, end)))

    def _by_next_letter(self, prefix: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """Keys that go on after a prefix, in parts that begin alike."""
        while start < end:
            longer = self._keys[start][0][: len(prefix) + 1]
            after = start
            while after < end and self._keys[after][0].startswith(longer):
                after += 1
            yield longer, start, after
            start = after

    def _fits(self, start: int, end: int) -> bool:
        size, seen = 0, set()
        for position in range(start, end):
            at = self._keys[position][1]
            if at not in seen:
                seen.add(at)
                size += self._starts[at + 1] - self._starts[at] + 2
                if size > SHARD_BYTES:
                    return False
        return True

    def _best_of(self, prefix: str, start: int, longer: int, end: int) -> _Shard:
        """The first names of each kind, more of those whose key is the prefix."""
        names = self._each_once(start, end)
        shown = {
            *self._first(self._each_once(start, longer), _ALIKE),
            *self._first(names, _BEST),
        }
        omitted = Counter(NameKind(self._kinds[at]) for at in names if at not in shown)
        return _Shard(prefix, sorted(shown), omitted or {NameKind.DATASET: 0})

    def _each_once(self, start: int, end: int) -> list[int]:
        """Names in their order; a name can have several keys that begin alike."""
        return sorted({self._keys[position][1] for position in range(start, end)})

    def _first(self, names: Iterable[int], most: int) -> Iterator[int]:
        counts: Counter[int] = Counter()
        for at in names:
            counts[self._kinds[at]] += 1
            if counts[self._kinds[at]] <= most:
                yield at


def _common_prefix(a: str, b: str) -> str:
    pairs = enumerate(zip(a, b, strict=False))
    return a[: next((at for at, (char, other) in pairs if char != other), min(len(a), len(b)))]
