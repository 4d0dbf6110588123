"""A .xel file as a chain of blocks: where they are, and whether they are intact.

A file begins with a sector that holds the magic number, the version and the sector's size. Blocks
follow, each a multiple of the sector; a block's header holds its total size, and so where the next
one begins. After a block's data come remains of the server's buffer, which are never read.

All integers are little-endian. A block's header, 0x4C bytes of metadata or 0x4D of events:

    0 u32 0 · 4 u32 buffer · 8 u32 sequence · 12 u16 version 10 · 14 u16 kind · 16 u32 total size ·
    20 u16 0 · 22 u16 header's length · 24 u32 data's length · 28 u32 checksum · 32 GUID of stream

The checksum is a CRC-32 without its last inversion, of the last 1,024 bytes of the data.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple, Protocol
from zlib import crc32

from dbt_graft.collectors.sqlserver.event import LogDamage

_MAGIC = 0xEFAB375A
_VERSION = 10
_FILE = struct.Struct("<IHH")
_HEADER = struct.Struct("<I8xHHIHHII16s")
_SUMMED = 1024
# Of sectors. 0x200 on Windows and 0x1000 on Linux were seen.
SMALLEST_SECTOR, _LARGEST = 0x200, 0x8000
_SCANNED_AT_ONCE = 1 << 20


class RandomAccessFile(Protocol):
    """A file that is read at any place, as pyarrow's are."""

    def size(self) -> int: ...

    def read_at(self, nbytes: int, offset: int) -> bytes: ...


class BlockHeader(NamedTuple):
    """The header of a block.

    Attributes:
        metadata: Whether it defines ids; otherwise it holds events.
        size: To the next block.
        stream: The GUID of the metadata records that its events follow.
    """

    position: int
    metadata: bool
    size: int
    data_at: int
    data_length: int
    checksum: int
    stream: bytes

    @property
    def data_end(self) -> int:
        """The offset in the file where its data end."""
        return self.position + self.data_at + self.data_length


class Block(NamedTuple):
    """A block that is intact."""

    header: BlockHeader
    data: bytes


class UnfinishedBlock(NamedTuple):
    """The last block of a file, not all of it there; without any block, its first one.

    Attributes:
        position: The offset of its first byte in the file.
        there: The bytes of it that are there.
        size: The bytes that it has by its header; of whole sectors, where that is not there.
    """

    position: int
    there: int
    size: int


def sector_size(file: RandomAccessFile) -> int:
    """The size of the sectors that a file is made of.

    Raises:
        ValueError: It is not a file of Extended Events, or of another version.
    """
    start = file.read_at(_FILE.size, 0)
    if len(start) < _FILE.size:
        raise ValueError("it ends before its header does")
    magic, version, sector = _FILE.unpack(start)
    if magic != _MAGIC:
        raise ValueError("it is not a .xel file of SQL Server 2012 or later")
    if version != _VERSION:
        raise ValueError(f"its format has version {version}; {_VERSION} is known")
    if not SMALLEST_SECTOR <= sector <= _LARGEST or sector & (sector - 1):
        raise ValueError(f"its sectors cannot have {sector} bytes")
    return int(sector)


def header_at(file: RandomAccessFile, position: int, sector: int) -> BlockHeader | None:
    """The header at an offset, or None where there is none that is plausible."""
    return _header(file.read_at(_HEADER.size, position), position, sector)


def _header(raw: bytes, position: int, sector: int) -> BlockHeader | None:
    if len(raw) < _HEADER.size:
        return None
    zero, version, kind, size, none, data_at, length, checksum, stream = _HEADER.unpack(raw)
    if zero or none or version != _VERSION or kind not in (0, 1):
        return None
    if not size or size % sector or not _HEADER.size <= data_at <= sector:
        return None
    if data_at + length > size:
        return None
    return BlockHeader(position, kind == 1, size, data_at, length, checksum, stream)


def chain(file: RandomAccessFile, sector: int, start: int, end: int) -> Iterator[BlockHeader]:
    """The headers from one block to the next, up to a broken one; reads nothing but them."""
    while start < end:
        header = header_at(file, start, sector)
        if header is None:
            return
        yield header
        start += header.size


def _has_checksum(header: BlockHeader, tail: bytes) -> bool:
    """Whether the last bytes of a block's data are those of its checksum."""
    return crc32(tail[-_SUMMED:]) ^ 0xFFFFFFFF == header.checksum


def read_block(file: RandomAccessFile, header: BlockHeader) -> bytes | None:
    """A block's data, or None where they do not agree with the checksum or end too early."""
    data = file.read_at(header.data_length, header.position + header.data_at)
    return data if len(data) == header.data_length and _has_checksum(header, data) else None


def blocks(
    file: RandomAccessFile, size: int, sector: int, start: int, end: int
) -> Iterator[Block | UnfinishedBlock | LogDamage]:
    """The blocks that begin within a range, or what is wrong in place of a block.

    After a broken header the next block is searched sector by sector. The server makes room in a
    file before it writes: sectors of zeros at the end are no block, and no damage. A file that is
    cut where a block begins looks like a whole one, unless it has no block at all.

    Args:
        start: Where a block begins.
    """
    if size <= sector:
        yield UnfinishedBlock(sector, 0, sector)
        return
    while start + _HEADER.size <= end:
        header = header_at(file, start, sector)
        lost_at, broken = start, "its header is broken"
        if header is not None:
            block = _content(file, size, sector, header) if header.data_end <= size else None
            if block is not None:
                yield block
                lost_at = header.data_end + -header.data_end % sector
            if start + header.size <= size:
                start += header.size
                continue
            broken = "its size is wrong" if block else "it runs past the file's end"
        next_start = _find_next(file, size, sector, max(lost_at, start + sector), end)
        if next_start is not None or (header is None and _is_written(file, start, end)):
            left_out = (end if next_start is None else next_start) - lost_at
            yield _damage(start, f"{broken}; {left_out:,} bytes were left out")
        elif header is None:
            break
        elif block is None or isinstance(block, Block):
            yield UnfinishedBlock(start, size - start, header.size)
        start = end if next_start is None else next_start
    there = size - start
    if end == size and (there % sector or _is_written(file, start, end)):
        yield UnfinishedBlock(start, there, there + -there % sector)


def _content(
    file: RandomAccessFile, size: int, sector: int, header: BlockHeader
) -> Block | UnfinishedBlock | LogDamage:
    data = read_block(file, header)
    end = header.data_end
    if data is not None:
        return Block(header, data)
    if header.position + header.size < size or _is_written(
        file, end - min(sector, header.data_length), end
    ):
        return _damage(header.position, "its checksum is wrong")
    raw = file.read_at(end - header.position, header.position)
    return UnfinishedBlock(header.position, len(raw.rstrip(b"\0")), header.size)


def _find_next(file: RandomAccessFile, size: int, sector: int, start: int, end: int) -> int | None:
    """The first offset within a range at which an intact block begins."""
    for window in range(start, end, _SCANNED_AT_ONCE):
        raw = file.read_at(min(_SCANNED_AT_ONCE, end - window), window)
        for at in range(0, len(raw), sector):
            header = _header(raw[at : at + _HEADER.size], window + at, sector)
            if header and header.data_end <= size:
                # Only the end: a false header may claim the rest of the file as its data.
                summed = min(_SUMMED, header.data_length)
                if _has_checksum(header, file.read_at(summed, header.data_end - summed)):
                    return header.position
    return None


def _is_written(file: RandomAccessFile, start: int, end: int) -> bool:
    """Whether a place has been written to, or is gone since the file was opened."""
    for at in range(start, end, _SCANNED_AT_ONCE):
        size = min(_SCANNED_AT_ONCE, end - at)
        if file.read_at(size, at) != bytes(size):
            return True
    return False


def _damage(position: int, reason: str) -> LogDamage:
    return LogDamage(f"block at byte {position}", reason)
