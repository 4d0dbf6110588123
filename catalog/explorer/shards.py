"""Shards: records in files of at most 64 kB, as scripts, since browsers load no data from `file://`.

Records are in the order of their ids, so datasets of a schema are together. Where a shard begins
is decided by the ids alone, as far as sizes allow: a new table changes the shard that it is in,
and no other. A directory lists where each shard begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import orjson

# What a browser may load at once; shards end before, where an id allows it.
MOST = 64_000
_LEAST = 24_000
_ONE_IN = 48
# A longer record is divided.
_LONGEST_RECORD = 16_000
# Characters that could end a script or that old browsers take for the end of a line.
_ESCAPED = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


@dataclass(frozen=True, slots=True)
class Record:
    """A record: its id, a head of fixed size, and items that may be divided."""

    id: str
    head: object
    items: Sequence[object]


def write_shards(folder: Path, kind: str, records: Iterable[Record]) -> list[tuple[str, str]]:
    """Write records, which come in the order of their ids, as shards of a kind.

    Returns:
        The directory: for each shard the beginning of its first id, as far as needed to part it
        from the last id of the shard before, and its name.
    """
    target = folder / kind
    target.mkdir(parents=True, exist_ok=True)
    directory: list[tuple[str, str]] = []
    last = ""
    for shard in _shards(_pieces(records)):
        first = shard[0][0]
        name = sha256(first.encode()).hexdigest()[:10]
        content = b"[" + b",\n".join(piece for _, piece in shard) + b"]"
        (target / f"{name}.js").write_bytes(script(f"{kind}/{name}", content))
        directory.append((_beginning(first, last) if directory else "", name))
        last = shard[-1][0]
    return directory


def script(name: str, content: bytes) -> bytes:
    """JSON as a script that hands it to the explorer."""
    return b'graft.explore.take("%s",%s)\n' % (name.encode(), content)


def json(value: object) -> bytes:
    """A value as JSON that no script element ends in."""
    text = orjson.dumps(value)
    for char, escaped in _ESCAPED.items():
        text = text.replace(char, escaped)
    return text


_Piece = tuple[str, bytes]


def _pieces(records: Iterable[Record]) -> Iterator[_Piece]:
    """Each record as JSON `[id, pieces, head, items]`; what does not fit is in `[id, items]`."""
    for record in records:
        head, *rest = _divide_items([json(item) for item in record.items])
        start = json([record.id, len(rest), record.head])
        yield record.id, start[:-1] + b"," + head + b"]"
        for number, items in enumerate(rest, 1):
            # A blank comes before every character of an id: nothing sorts between.
            id_ = f"{record.id} {number:04}"
            yield id_, b"[" + json(id_) + b"," + items + b"]"


def _divide_items(items: Sequence[bytes]) -> Iterator[bytes]:
    part: list[bytes] = []
    size = 0
    for item in items:
        if part and size + len(item) > _LONGEST_RECORD:
            yield b"[" + b",".join(part) + b"]"
            part, size = [], 0
        part.append(item)
        size += len(item) + 1
    yield b"[" + b",".join(part) + b"]"


def _shards(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    shard: list[_Piece] = []
    size = 0
    for id_, content in pieces:
        begins = size >= _LEAST and crc32(id_.encode()) % _ONE_IN == 0
        if shard and (begins or size + len(content) > MOST - 100):
            yield shard
            shard, size = [], 0
        shard.append((id_, content))
        size += len(content) + 2
    if shard:
        yield shard


def _beginning(first: str, last: str) -> str:
    """The shortest beginning of an id that sorts behind another."""
    for at in range(1, len(first) + 1):
        if first[:at] > last:
            return first[:at]
    return first
