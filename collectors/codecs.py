"""Decompression of logs; the codec is known by the first bytes, not by the file's name.

| first bytes | codec | piece |
|---|---|---|
| `28 b5 2f fd` | zstd | a frame; Spark's writer ends one whenever it flushes |
| `1f 8b` | gzip | a member |
| `LZ4Block` | lz4 as lz4-java frames it | a block; an empty one ends a stream |
| `82 SNAPPY 00` | snappy as snappy-java frames it | a block |

There is no end mark behind the pieces, so a file that is cut off gives all text before the cut.
Memory holds one piece of input and its text: a log may be of any size, and lengths that a damaged
or hostile file claims are checked.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import pyarrow as pa
import zstandard

_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b"
_LZ4 = b"LZ4Block"
_SNAPPY = b"\x82SNAPPY\x00"
# A codec that Spark can write, but never by default.
_LZF = b"ZV"

_READ = 1 << 18
# Expanded, at most 16 MB in zstd (a block of 128 KB in 4 bytes) and 8 MB in gzip.
_ZSTD_INPUT, _GZIP_INPUT = 1 << 9, 1 << 13
# The size to which pieces of text are joined.
_TEXT = 1 << 15
# lz4-java cannot make larger blocks; snappy-java's are 32 KB unless somebody sets another size.
_LARGEST_BLOCK = 1 << 25
_LZ4_HEADER = struct.Struct("<8sBiii")
_LZ4_RAW = 0x10
_SNAPPY_HEADER = 16


class ByteStream(Protocol):
    """A file open for reading bytes."""

    def read(self, size: int, /) -> bytes:
        """Read at most that many bytes; none at the end."""
        ...


class DecompressionError(Exception):
    """Decompression stopped.

    Attributes:
        cut: The file just ends there.
    """

    def __init__(self, problem: str, byte: int, cut: bool) -> None:
        super().__init__(problem)
        self.byte = byte
        self.cut = cut


class _Decompressor(Protocol):
    """The common interface of zstandard's and zlib's decompression objects."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: memoryview, /) -> bytes: ...


def decompress(file: ByteStream) -> Iterator[bytes]:
    """Yield the file's text in pieces of some hundred kilobytes.

    Raises:
        DecompressionError: The compressed data is damaged or cut off; all text before it was
            yielded.
        OSError: The file cannot be read.
    """
    first = file.read(_READ)
    if first.startswith(_ZSTD):
        frames = _frames(file, first, zstandard.ZstdDecompressor().decompressobj, _ZSTD_INPUT)
        return join_pieces(frames, _TEXT, DecompressionError)
    if first.startswith(_GZIP):
        frames = _frames(file, first, lambda: zlib.decompressobj(wbits=31), _GZIP_INPUT)
        return join_pieces(frames, _TEXT, DecompressionError)
    if first.startswith(_LZ4):
        return join_pieces(_lz4_blocks(_BlockReader(file, first)), _TEXT, DecompressionError)
    if first.startswith(_SNAPPY):
        return join_pieces(_snappy_blocks(_BlockReader(file, first)), _TEXT, DecompressionError)
    if first.startswith(_LZF):
        raise DecompressionError("lzf compression is not supported: use zstd", 0, cut=False)
    return _read_plain(file, first)


def _read_plain(file: ByteStream, chunk: bytes) -> Iterator[bytes]:
    while chunk:
        yield chunk
        chunk = file.read(_READ)


def join_pieces(pieces: Iterator[bytes], least: int, error: type[Exception]) -> Iterator[bytes]:
    """Join small pieces to some of at least so many bytes, also the last ones before an error."""
    held: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= least:
                yield b"".join(held)
                held, size = [], 0
    except error:
        if held:
            yield b"".join(held)
        raise
    if held:
        yield b"".join(held)


def _frames(
    file: ByteStream, chunk: bytes, new: Callable[[], _Decompressor], step: int
) -> Iterator[bytes]:
    start, frame = 0, None
    while chunk:
        view = memoryview(chunk)
        at = 0
        while at < len(view):
            if frame is None:
                # A file may be filled up with zeros.
                at = len(chunk) - len(chunk[at:].lstrip(b"\0"))
                frame = new() if at < len(chunk) else None
                continue
            piece = view[at : at + step]
            try:
                text = frame.decompress(piece)
            except (zstandard.ZstdError, zlib.error) as error:
                problem = "the compressed data is damaged"
                raise DecompressionError(problem, start + at, cut=False) from error
            at += len(piece)
            if frame.eof:
                at -= len(frame.unused_data)
                frame = None
            if text:
                yield text
        start += len(chunk)
        chunk = file.read(_READ)
    if frame is not None:
        raise DecompressionError("the compressed data is truncated", start, cut=True)


class _BlockReader:
    """Reads a file in blocks of known sizes."""

    def __init__(self, file: ByteStream, first: bytes) -> None:
        self._file = file
        self._buffer = memoryview(first)
        self._at = 0
        self._start = 0

    @property
    def byte(self) -> int:
        """The number of bytes read."""
        return self._start + self._at

    def take(self, size: int) -> memoryview:
        """Read that many bytes; fewer at the end of the file."""
        if len(self._buffer) - self._at < size:
            rest = bytes(self._buffer[self._at :])
            self._start += self._at
            self._at = 0
            while len(rest) < size and (chunk := self._file.read(max(_READ, size - len(rest)))):
                rest += chunk
            self._buffer = memoryview(rest)
        piece = self._buffer[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def header(self, size: int) -> memoryview:
        """Read that many bytes; none at the end of the file.

        Raises:
            DecompressionError: The file ends in between.
        """
        start = self.take(size)
        if start and len(start) < size:
            raise DecompressionError("the compressed data is truncated", self.byte, cut=True)
        return start

    def take_all(self, size: int) -> memoryview:
        """Read that many bytes of a block.

        Raises:
            DecompressionError: The file ends before.
        """
        if not 0 <= size <= _LARGEST_BLOCK:
            raise self.damage_error()
        piece = self.take(size)
        if len(piece) < size:
            raise DecompressionError("the compressed data is truncated", self.byte, cut=True)
        return piece

    def damage_error(self) -> DecompressionError:
        """The error for bytes that are not valid."""
        return DecompressionError("the compressed data is damaged", self.byte, cut=False)


def _lz4_blocks(pieces: _BlockReader) -> Iterator[bytes]:
    """Blocks of all streams: an appended log has several."""
    codec = pa.Codec("lz4_raw")
    while header := pieces.header(_LZ4_HEADER.size):
        magic, token, packed, size, _ = _LZ4_HEADER.unpack(header)
        if magic != _LZ4:
            raise pieces.damage_error()
        block = pieces.take_all(packed)
        if token & 0xF0 == _LZ4_RAW:
            yield bytes(block)
        elif size:
            yield _decompress_block(pieces, codec, block, size)


def _snappy_blocks(pieces: _BlockReader) -> Iterator[bytes]:
    codec = pa.Codec("snappy")
    while length := pieces.header(4):
        if length == _SNAPPY[:4]:  # a stream starts, the first or an appended one
            pieces.take_all(_SNAPPY_HEADER - 4)
            continue
        block = pieces.take_all(int.from_bytes(length, "big", signed=True))
        yield _decompress_block(pieces, codec, block, _snappy_size(block))


def _snappy_size(block: memoryview) -> int:
    """A raw block starts with its expanded size, seven bits a byte, the lowest first."""
    size = 0
    for at, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << (7 * at)
        if byte < 0x80:
            return size
    return -1


def _decompress_block(pieces: _BlockReader, codec: pa.Codec, block: memoryview, size: int) -> bytes:
    if not 0 <= size <= _LARGEST_BLOCK:
        raise pieces.damage_error()
    try:
        text: bytes = codec.decompress(block, size, asbytes=True)
    except OSError as error:
        raise pieces.damage_error() from error
    return text
