"""The contents of a published folder: the canaries in it, in any form, with their files."""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet as pq

# Runs of base64 and of hexadecimal that may hold a canary.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){12,}")
_ESCAPED = re.compile(r"\\+(?:u00|x)([0-9a-fA-F]{2})|\\+u\{([0-9a-fA-F]{2})\}")


def canaries_in(folder: Path, word: re.Pattern[str]) -> dict[str, set[str]]:
    """Canary -> the files that have it, in their names or in any form of their content."""
    result: dict[str, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        for text in (*_forms(name), *(_texts(path) if path.is_file() else ())):
            for canary in word.findall(text.casefold()):
                result[canary].add(name)
    return dict(result)


def _texts(path: Path) -> Iterator[str]:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        yield from _forms(f"{table.to_pylist()} {table.schema} {table.schema.metadata}")
        return
    yield from _forms(_unpacked(path.read_bytes()).decode("utf-8", "replace"))


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
    for run in _HEX.findall(text):
        yield binascii.unhexlify(run).decode("utf-8", "replace")
    for run in _BASE64.findall(text):
        plain = run.translate(str.maketrans("-_", "+/"))
        for start in range(4):
            part = plain[start:]
            packed = base64.b64decode(part + "A" * (-len(part) % 4))
            yield _inflated(packed).decode("utf-8", "replace")


def _inflated(content: bytes) -> bytes:
    """The content of packed bytes; other bytes as they are."""
    for bits in (31, 15):
        try:
            return zlib.decompressobj(bits).decompress(content)
        except zlib.error:
            continue
    return content
