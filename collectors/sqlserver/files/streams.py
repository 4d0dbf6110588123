"""The bytes of a split as UTF-8, in pieces: unpacked and decoded as they are read."""

from __future__ import annotations

import codecs
import logging
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

from dbt_graft.collectors.codecs import ByteStream, DecompressionError, decompress, join_pieces
from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.sqlserver.event import FileSplit
from dbt_graft.lineage.errors import exception_reason

_log = logging.getLogger(__name__)

# Bytes of text that are in memory at once, and that one Chunk of events comes from.
PIECE = 4 << 20
# The longest event, in bytes of its text. A session's buffers, and no event is longer than one,
# are a few megabytes; escaped as XML, text grows up to sixfold.
LONGEST = 32 << 20
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
            blocks = _decode(_unpack(source, split.compression), split.encoding)
            yield from join_pieces(blocks, PIECE, UnreadableError)
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


def _unpack(source: ByteStream, compression: str) -> Iterator[bytes]:
    try:
        yield from decompress(source) if compression else iter(lambda: source.read(PIECE), b"")
    except DecompressionError as error:
        problem = "ends within its" if error.cut else "holds damaged"
        raise UnreadableError(f"the file {problem} {compression} data: the rest is lost") from error


def _decode(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()
