"""A part's bytes as UTF-8, in pieces: unpacked and decoded as they are read, never all at once."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Protocol, TypeVar

import zstandard

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.sqlserver.event import FileSplit

# What one step holds in memory, and what one Chunk of events comes from.
PIECE = 4 << 20
# The longest event, in bytes of its text. A session's buffers, and no event is longer than one,
# are a few megabytes; escaped as XML, text grows up to sixfold.
LONGEST = 32 << 20
# Of a compressed file at once. A byte of zstd unpacks to 32 KB at most, of gzip to 1 KB.
_PACKED = 512
_BLOCK = 1 << 16
_WINDOW = 128 << 20
_FEW = 20_000

_T = TypeVar("_T")


class UnreadableError(Exception):
    """A file, or the rest of one, cannot be read; the message says why."""


class _Source(Protocol):
    def read(self, nbytes: int) -> bytes: ...


def is_one_split(part: FileSplit) -> bool:
    """Whether a part is a whole file, of which byte ranges say nothing about its text."""
    return bool(part.compression) or part.encoding != "utf-8"


def pieces(part: FileSplit, start: int = 0) -> Iterator[bytes]:
    """A part's text from a byte on to the end of its file, behind the part's own end if need be.

    Args:
        start: Only where the part is not `is_one_split`.

    Raises:
        UnreadableError: The file is gone, or breaks off; what came before it was given.
    """
    try:
        files, path = filesystem(part.url)
        with files.open_input_file(path) as source:
            if start:
                source.seek(start)
            yield from _gathered(_decoded(_unpacked(source, part.compression), part.encoding))
    except (OSError, ValueError) as error:
        raise UnreadableError(f"the file cannot be read: {type(error).__name__}") from error


def with_last(texts: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Pieces, and an empty one, told to be the last, behind them: also where they break off.

    Raises:
        UnreadableError: As the pieces do, but behind the last one.
    """
    problem: UnreadableError | None = None
    try:
        for text in texts:
            yield text, False
    except UnreadableError as error:
        problem = error
    yield b"", True
    if problem:
        raise problem


def batched(items: Iterator[_T]) -> Iterator[list[_T]]:
    """Items in lists that stay small however short the texts are that they come from."""
    while some := list(islice(items, _FEW)):
        yield some


def read_range(part: FileSplit, start: int, end: int) -> bytes:
    """A range of a file that is not compressed.

    Raises:
        UnreadableError: The file is gone.
    """
    try:
        files, path = filesystem(part.url)
        with files.open_input_file(path) as source:
            source.seek(start)
            return bytes(source.read(end - start))
    except (OSError, ValueError) as error:
        raise UnreadableError(f"the file cannot be read: {type(error).__name__}") from error


def _gathered(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks as pieces; what came before an error is given before it is raised."""
    held: list[bytes] = []
    size = 0
    problem: UnreadableError | None = None
    while True:
        try:
            block = next(blocks, None)
        except UnreadableError as error:
            problem, block = error, None
        if block is None:
            break
        held.append(block)
        size += len(block)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
    if problem:
        raise problem


def _unpacked(source: _Source, compression: str) -> Iterator[bytes]:
    if compression == "gzip":
        yield from _gunzipped(source)
    elif compression == "zstd":
        yield from _unzstd(source)
    else:
        while block := source.read(PIECE):
            yield block


def _gunzipped(source: _Source) -> Iterator[bytes]:
    packed = source.read(_BLOCK)
    while packed:
        member = zlib.decompressobj(wbits=31)
        while True:
            try:
                block = member.decompress(packed, PIECE)
            except zlib.error as error:
                raise UnreadableError(
                    "the file holds damaged gzip data: the rest is lost"
                ) from error
            if block:
                yield block
            if member.eof:
                break
            packed = member.unconsumed_tail or source.read(_BLOCK)
            if not packed and not block:
                raise UnreadableError("the file breaks off within its gzip data: the rest is lost")
        # Members may follow one another, and a file may be filled up with zeros.
        packed = member.unused_data.lstrip(b"\0")
        while not packed and (more := source.read(_BLOCK)):
            packed = more.lstrip(b"\0")


def _unzstd(source: _Source) -> Iterator[bytes]:
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    packed = source.read(_PACKED)
    while packed:
        frame = unpacker.decompressobj()
        while not frame.eof:
            if not packed:
                raise UnreadableError("the file breaks off within its zstd data: the rest is lost")
            try:
                block = frame.decompress(packed)
            except zstandard.ZstdError as error:
                raise UnreadableError(
                    "the file holds damaged zstd data: the rest is lost"
                ) from error
            if block:
                yield block
            packed = b"" if frame.eof else source.read(_PACKED)
        packed = frame.unused_data or source.read(_PACKED)


def _decoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()
