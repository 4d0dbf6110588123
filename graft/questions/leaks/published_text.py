"""All text in the files of a published folder, however it is packed and escaped.

A file is read in windows that overlap, so that a large one does not fill the memory.
"""

from __future__ import annotations

import base64
import binascii
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from gzip import GzipFile
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from dbt_graft.graft.questions.leaks.shipped_code import FUNCTION, without_shipped
from dbt_graft.lineage.frozen import frozen

# Between parts of text that do not follow each other, such as the cells of a table.
BREAK = "\x00"
_WINDOW = 1 << 20  # bytes
_OVERLAP = 1 << 11
_ROWS = 10_000  # of Parquet at a time
_ROUNDS = 3  # of escapes in escapes
_DEPTH = 4  # of packed files in packed files
_UTF16 = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_WIDE = {
    "utf-16-le": re.compile(rb"(?:[\x09\x0a\x0d\x20-\x7e]\x00){3,}"),
    "utf-16-be": re.compile(rb"(?:\x00[\x09\x0a\x0d\x20-\x7e]){3,}"),
}
_PRINTABLE = re.compile(r"[\w\s.:/@+-]{6,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
# Text in other bytes: a word or a path before base64 has the same letters.
_RUN = re.compile(rb"(?:[\x20-\x7e\s]|[\xc2-\xf4][\x80-\xbf]{1,3}){12,}")
_DATA_URL = re.compile(r"(data:[\w./+-]*(?:;[\w=-]+)*;base64,)[A-Za-z0-9+/=]+")
# The way of a pen in SVG, also in the URL of a style: `M12C13.65 5` is no column `c13`.
_PEN = re.compile(r"""\bd=(?:\\*["']|%22)[Mm][\d\s.,+%-][MmZzLlHhVvCcSsQqTtAaEe\d\s.,+%-]*""")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " ", "v": " "}
# Tags inside of a word, and between words.
_IN_WORD = re.compile(r"</?(?:b|em|i|mark|strong|u|wbr)\b[^<>]*>", re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|abbr|code|kbd|s|small|span|sub|sup)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
# Arrow's schema of a table in base64, in which short names come by chance.
_PACKED_SCHEMA = b"ARROW:schema"
_PAGEFIND = b"pagefind_dcd"
_CBOR_LIST, _CBOR_TEXTS = 4, (2, 3)  # kinds of items: lists; bytes and texts
# A run of CBOR's numbers, lists and maps; and the head of a text of up to 23 or 255 bytes.
_CBOR_OTHER = re.compile(
    rb"(?:[\x00-\x17\x20-\x37\x80-\x97\xa0-\xb7\xf4-\xf7]|[\x18\x38\x98\xb8].|[\x19\x39\x99\xb9].."
    rb"|[\x1a\x3a\x9a\xba\xfa].{4}|[\x1b\x3b\x9b\xbb\xfb].{8})*",
    re.DOTALL,
)


@frozen
class PublishedText:
    """A piece of text in a file.

    Attributes:
        encoding: What it was unpacked and unescaped from, the outermost first: `gzip+json`;
            `plain` for nothing.
        is_binary: It is what looks like text in bytes that are none.
        has_stems: Its words are stems of other words.
    """

    encoding: str
    text: str
    is_binary: bool = False
    has_stems: bool = False


def published_texts(file: Path) -> Iterator[PublishedText]:
    """All text in a file.

    Raises:
        OSError: The file cannot be read.
    """
    with file.open("rb") as stream:
        yield from _of_stream(stream, ())


def unescaped_texts(
    text: str, encoding: tuple[str, ...] = (), *, is_binary: bool = False
) -> Iterator[PublishedText]:
    """A text as it stands, and as it is behind its escapes."""
    shortened = _DATA_URL.sub(r"\1", text) if ";base64," in text else text
    shortened = _PEN.sub(" ", shortened) if "d=" in shortened else shortened
    yield PublishedText(_name(encoding), shortened, is_binary)
    yield from _base64_texts(text, encoding)
    text = shortened
    for _ in range(_ROUNDS):
        before = text
        for name, sign, unescape_text in _ESCAPES:
            if sign in text and (plain := unescape_text(text)) != text:
                text, encoding = plain, (*encoding, name)
                yield PublishedText(_name(encoding), text, is_binary)
        if text == before:
            return
        yield from _base64_texts(text, encoding)


def _of_stream(stream: IO[bytes], encoding: tuple[str, ...]) -> Iterator[PublishedText]:
    head = stream.read(len(_PAGEFIND))
    stream.seek(0)
    if len(encoding) < _DEPTH:
        for magic, unpack in _PACKED.items():
            if head.startswith(magic):
                # What cannot be unpacked is searched as it is.
                with suppress(*_UNPACK_ERRORS):
                    yield from unpack(stream, encoding)
                stream.seek(0)
    for window in _windows(stream):
        yield from _of_bytes(window, encoding)


def _of_gzip(stream: IO[bytes], encoding: tuple[str, ...]) -> Iterator[PublishedText]:
    with cast("IO[bytes]", GzipFile(fileobj=stream, mode="rb")) as unpacked:
        yield from _of_stream(unpacked, (*encoding, "gzip"))


def _of_zip(stream: IO[bytes], encoding: tuple[str, ...]) -> Iterator[PublishedText]:
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            yield from unescaped_texts(member.filename, (*encoding, "zip"))
            with archive.open(member) as unpacked:
                yield from _of_stream(unpacked, (*encoding, "zip"))


def _of_pagefind(stream: IO[bytes], encoding: tuple[str, ...]) -> Iterator[PublishedText]:
    """The words of an index, which is a list in CBOR; its other files hold JSON, or programs."""
    content = stream.read()[len(_PAGEFIND) :]
    if content and content[0] >> 5 == _CBOR_LIST:
        yield PublishedText(_name(encoding), BREAK.join(_cbor_texts(content)))


def _cbor_texts(content: bytes) -> Iterator[str]:
    """The texts in CBOR, up to where it is something else."""
    at = 0
    while match := _CBOR_OTHER.match(content, at):
        at = match.end()
        head = content[at : at + 3]
        if not head:
            return
        kind, length = head[0] >> 5, head[0] & 31
        at += 1
        if length in (24, 25):
            size = length - 23
            length = int.from_bytes(head[1 : 1 + size], "big")
            at += size
        if kind not in _CBOR_TEXTS or length > len(content) - at:
            return
        yield content[at : at + length].decode("utf-8", "replace")
        at += length


def _of_parquet(stream: IO[bytes], encoding: tuple[str, ...]) -> Iterator[PublishedText]:
    encoding = (*encoding, "parquet")
    with pq.ParquetFile(stream) as file:
        schema = file.schema_arrow.to_string(truncate_metadata=False)
        texts = [schema, *_statistics(file.metadata)]
        for key, value in (file.metadata.metadata or {}).items():
            if key != _PACKED_SCHEMA:
                texts += [key.decode("utf-8", "replace"), value.decode("utf-8", "replace")]
        yield from unescaped_texts(BREAK.join(texts), encoding)
        for batch in file.iter_batches(_ROWS):
            for column in batch.columns:
                for values in _leaves(column):
                    text = BREAK.join(_text(value) for value in values.unique().to_pylist())
                    yield from unescaped_texts(text, encoding)


def _statistics(metadata: pq.FileMetaData) -> Iterator[str]:
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            statistics = metadata.row_group(group).column(number).statistics
            if statistics is not None and statistics.has_min_max:
                yield from (_text(statistics.min), _text(statistics.max))


def _leaves(column: Any) -> Iterator[Any]:
    """The columns of text in a column, which may be nested."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        yield from _leaves(column.dictionary)
    elif pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            yield from _leaves(column.field(number))
    elif pa.types.is_map(kind):
        yield from _leaves(column.keys)
        yield from _leaves(column.items)
    elif pa.types.is_nested(kind):
        yield from _leaves(column.flatten())
    elif pa.types.is_string(kind) or pa.types.is_binary(kind) or _is_large(kind):
        yield column


def _is_large(kind: pa.DataType) -> bool:
    return pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _windows(stream: IO[bytes]) -> Iterator[bytes]:
    """The content in pieces that overlap, cut where a line or a value ends."""
    rest = b""
    while read := stream.read(_WINDOW):
        window = rest + read
        if len(read) < _WINDOW:
            yield window
            rest = b""
            continue
        cut = _last_cut(window, len(window))
        yield window[:cut]
        rest = window[_last_cut(window, cut - _OVERLAP) :]
    if rest:
        yield rest


def _last_cut(window: bytes, end: int) -> int:
    """The end of the last piece before a place; the place itself if none is near."""
    near = max(end - _WINDOW // 2, 0)
    for signs in ((b"\n", FUNCTION.encode()), (b";", b",", b"<")):
        if (cut := max(window.rfind(sign, near, end) for sign in signs)) > 0:
            return cut
    return end


def _of_bytes(content: bytes, encoding: tuple[str, ...]) -> Iterator[PublishedText]:
    for mark, codec in _UTF16:
        if content.startswith(mark):
            yield from unescaped_texts(content.decode(codec, "replace"), (*encoding, "utf-16"))
            return
    try:
        text = _without_cut_characters(content).decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and BREAK not in text:
        yield from unescaped_texts(without_shipped(text), encoding)
        return
    for codec, pattern in _WIDE.items():
        wide = BREAK.join(match[0].decode(codec) for match in pattern.finditer(content))
        if wide:
            yield from unescaped_texts(wide, (*encoding, "utf-16"), is_binary=True)
    for codec in ("utf-8", "cp1252"):
        runs = BREAK.join(_PRINTABLE.findall(content.decode(codec, "replace")))
        yield from unescaped_texts(runs, encoding, is_binary=True)


def _without_cut_characters(content: bytes) -> bytes:
    """Content without the rest of a character that a window cuts, at both ends."""
    begin = next((at for at in range(min(4, len(content))) if content[at] & 0xC0 != 0x80), 0)
    for length in range(1, min(4, len(content)) + 1):
        lead = content[-length]
        if lead & 0xC0 != 0x80:
            size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return content[begin : len(content) - length] if size > length else content[begin:]
    return content[begin:]


def _base64_texts(text: str, encoding: tuple[str, ...]) -> Iterator[PublishedText]:
    """The texts in base64, as text or in a packed file."""
    if len(encoding) >= _DEPTH:
        return
    texts = []
    for run in _BASE64.findall(text):
        run = run.replace("-", "+").replace("_", "/").rstrip("=")
        # It may begin inside of a run.
        for begin in range(4):
            part = run[begin:]
            part = part[: len(part) - (len(part) % 4 == 1)]
            try:
                content = base64.b64decode(part + "=" * (-len(part) % 4))
            except binascii.Error:
                continue
            if content.startswith(tuple(_PACKED)):
                yield from _of_stream(BytesIO(content), (*encoding, "base64"))
            elif plain := _readable(content):
                texts.append(plain)
    if texts:
        yield from unescaped_texts(BREAK.join(texts), (*encoding, "base64"))


def _readable(content: bytes) -> str:
    """The text in bytes; empty if they have none."""
    for codec in ("utf-8", *(("utf-16-le", "utf-16-be") if b"\x00" in content else ())):
        with suppress(UnicodeDecodeError):
            text = content.decode(codec)
            if text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable():
                return text
    return b"\x00".join(_RUN.findall(content)).decode("utf-8", "replace")


def _without_json_escapes(text: str) -> str:
    return _ESCAPE.sub(_escaped_character, text)


def _escaped_character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return _CONTROL.get(match[3], match[3])


def _without_tags(text: str) -> str:
    return _TAG.sub(BREAK, _INLINE.sub(" ", _IN_WORD.sub("", text)))


def _name(encoding: tuple[str, ...]) -> str:
    return "+".join(dict.fromkeys(encoding)) or "plain"


_PACKED: dict[bytes, Callable[[IO[bytes], tuple[str, ...]], Iterator[PublishedText]]] = {
    b"\x1f\x8b": _of_gzip,
    b"PK\x03\x04": _of_zip,
    b"PAR1": _of_parquet,
    _PAGEFIND: _of_pagefind,
}
_UNPACK_ERRORS = (
    *(OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError),
    *(pa.ArrowException, ValueError),
)
# The name of an escape, a sign of it, and how it is taken away.
_ESCAPES: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("json", "\\", _without_json_escapes),
    ("percent", "%", unquote),
    ("html", "&", unescape),
    ("tags", "<", _without_tags),
)
