"""The contents of a published folder: the canaries in it, in any form, with their files."""

from __future__ import annotations

import binascii
import gzip
import html
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

# Runs of base64 and of hexadecimal that may hold a canary.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){12,}")
_URL_SAFE = str.maketrans("-_", "+/")
_ESCAPED = re.compile(r"\\+(?:u00|x)([0-9a-fA-F]{2})|\\+u\{([0-9a-fA-F]{2})\}")


def canaries_in(folder: Path, word: re.Pattern[str]) -> dict[str, set[str]]:
    """Canary -> the files that have it, in their names or in any form of their content."""
    result: dict[str, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        for canary in _canaries_of(name, word):
            result[canary].add(name)
        if path.is_file():
            for canary in _canaries_of_file(path.read_bytes(), path.suffix, word):
                result[canary].add(name)
    return dict(result)


@cache  # sites have many files in common
def _canaries_of_file(content: bytes, suffix: str, word: re.Pattern[str]) -> frozenset[str]:
    if suffix == ".parquet":
        table = pq.read_table(pa.BufferReader(content))
        text = f"{table.to_pylist()} {table.schema} {table.schema.metadata}"
    else:
        text = _unpacked(content).decode("utf-8", "replace")
    return _canaries_of(text, word)


def _canaries_of(text: str, word: re.Pattern[str]) -> frozenset[str]:
    return frozenset(canary for form in _forms(text) for canary in word.findall(form.casefold()))


def _unpacked(content: bytes) -> bytes:
    while content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return content


def _forms(text: str) -> Iterator[str]:
    """A text as it stands, and what its escapes and encodings stand for."""
    yield text
    yield html.unescape(text)
    yield unquote(html.unescape(text))
    yield _ESCAPED.sub(lambda code: chr(int(code[1] or code[2], 16)), text)
    # One text of all: a canary has no line break, and a search of each would take minutes.
    yield "\n".join(_unpacked_runs(text))


def _unpacked_runs(text: str) -> Iterator[str]:
    for run in _HEX.findall(text):
        yield binascii.unhexlify(run).decode("utf-8", "replace")
    for run in _BASE64.findall(text):
        plain = run.translate(_URL_SAFE)
        for start in range(4):
            part = plain[start:]
            packed = binascii.a2b_base64(part + "A" * (-len(part) % 4))
            yield _inflated(packed).decode("utf-8", "replace")


def _inflated(content: bytes) -> bytes:
    """The content of packed bytes; other bytes as they are."""
    head = int.from_bytes(content[:2])
    is_gzip, is_zlib = head == 0x1F8B, head >> 8 & 15 == 8 and head % 31 == 0  # RFC 1952 and 1950
    if is_gzip or is_zlib:
        with suppress(zlib.error):
            return zlib.decompressobj(31 if is_gzip else 15).decompress(content)
    return content
