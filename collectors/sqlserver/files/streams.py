"""The bytes of a split as UTF-8, in pieces: unpacked and decoded as they are read."""

from __future__ import annotations

import codecs
import logging
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Protocol, TypeVar

import zstandard

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.sqlserver.event import FileSplit
from dbt_graft.lineage.errors import exception_reason

_log = logging.getLogger(__name__)

# Bytes of text that are in memory at once, and that one Chunk of events comes from.
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
    """A file, or the rest of one, cannot be read; the message has the reason.

    Attributes:
        unread: Its storage did not give it, now; else it is damaged.
    """

    def __init__(self, problem: str, *, unread: bool = False) -> None:
        super().__init__(problem)
        self.unread = unread


class _Source(Protocol):
    def read(self, nbytes: int) -> bytes: ...


def is_one_split(split: FileSplit) -> bool:
    """Whether a split is always a file of its own: byte ranges do not match its text."""
    return bool(split.compression) or split.encoding != "utf-8"


def pieces(split: FileSplit, start: int = 0) -> Iterator[bytes]:
    """The text of a split, from a byte on to the end of its file.

    Args:
        start: Only where the file has several splits.

    Raises:
        UnreadableError: The file is gone, or breaks off after the pieces before that.
    """
    try:
        files, path = filesystem(split.url)
        with files.open_input_file(path) as source:
            if start:
                source.seek(start)
            yield from _join_blocks(_decode(_unpack(source, split.compression), split.encoding))
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> UnreadableError:
    problem = f"the file cannot be read: {exception_reason(error, _log)}"
    return UnreadableError(problem, unread=isinstance(error, OSError))


def mark_last(texts: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Pieces, each with whether it is the last, which is empty, also where they break off.

    Raises:
        UnreadableError: As the pieces do, but after the last one.
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
    """Items in lists of limited length."""
    while batch := list(islice(items, _FEW)):
        yield batch


def read_range(split: FileSplit, start: int, end: int) -> bytes:
    """A range of a file that is not compressed.

    Raises:
        UnreadableError: The file is gone.
    """
    try:
        files, path = filesystem(split.url)
        with files.open_input_file(path) as source:
            source.seek(start)
            return bytes(source.read(end - start))
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error


def _join_blocks(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks as pieces; an error is raised after the piece of the blocks before it."""
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


def _unpack(source: _Source, compression: str) -> Iterator[bytes]:
    if compression == "gzip":
        yield from _gunzip(source)
    elif compression == "zstd":
        yield from _unzstd(source)
    else:
        while block := source.read(PIECE):
            yield block


def _gunzip(source: _Source) -> Iterator[bytes]:
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
                raise UnreadableError("the file ends within its gzip data: the rest is lost")
        # Members may follow one another, and a file may be filled up with zeros.
        packed = member.unused_data.lstrip(b"\0")
        while not packed and (chunk := source.read(_BLOCK)):
            packed = chunk.lstrip(b"\0")


def _unzstd(source: _Source) -> Iterator[bytes]:
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    packed = source.read(_PACKED)
    while packed:
        frame = unpacker.decompressobj()
        while not frame.eof:
            if not packed:
                raise UnreadableError("the file ends within its zstd data: the rest is lost")
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


def _decode(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()
