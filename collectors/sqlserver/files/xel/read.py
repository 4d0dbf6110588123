"""A .xel file in splits, and the events of a split."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast

from dbt_graft.collectors.files import LogFile, filesystem
from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.xel import metadata
from dbt_graft.collectors.sqlserver.files.xel.blocks import (
    SMALLEST_SECTOR,
    Block,
    BlockHeader,
    RandomAccessFile,
    UnfinishedBlock,
    blocks,
    chain,
    read_block,
    sector_size,
)
from dbt_graft.collectors.sqlserver.files.xel.decode import BlockDecoder

_log = logging.getLogger(__name__)

_SIZE = 32 << 20
# The server writes a block at once; a file that has not changed for this long is complete.
_GROWS_WITHIN_NS = 3600 * 10**9


def xel_splits(log: LogFile, size: int = _SIZE) -> list[FileSplit]:
    """Cut a file where its blocks begin, into splits of about `size` bytes.

    Reads the headers of the blocks only, and of a small file nothing. After a broken header there
    is no cut: reading the last split finds the next block, or what is wrong with the file.
    """
    starts = [0]
    if log.size > size:
        # Reading the split gives the damage.
        with suppress(ValueError, OSError), open_log(log.url) as file:
            sector = sector_size(file)
            for header in chain(file, sector, sector, log.size):
                if header.position - starts[-1] >= size:
                    starts.append(header.position)
    ends = [*starts[1:], log.size]
    growing = time.time_ns() - log.changed_ns < _GROWS_WITHIN_NS
    return [
        FileSplit(log.url, log.origin, "xel", start, end, growing=growing)
        for start, end in zip(starts, ends, strict=True)
    ]


def read_xel(split: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    """The events of the blocks that begin in a split, in their order, a chunk for each block.

    A damaged block is a chunk with that damage, and so is a last block that is not all there: what
    the server has not finished writing is read when the file has changed.
    """
    try:
        with open_log(split.url) as file:
            yield from _chunks(file, split, wanted)
    except OSError as error:
        _log.debug("a reject: the file cannot be read", exc_info=True)
        # Arrow's own text names the path of the machine.
        reason = os.strerror(error.errno) if error.errno else "its storage is out of reach"
        position, problem = f"from byte {split.start} on", f"cannot be read: {reason}"
        yield Chunk(damages=[LogDamage(position, problem, unread=True)])


def _chunks(file: RandomAccessFile, split: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    size = file.size()
    if not size:
        nothing = UnfinishedBlock(0, 0, SMALLEST_SECTOR)
        yield Chunk(damages=[_unfinished_damage(nothing, growing=split.growing)])
        return
    try:
        sector = sector_size(file)
    except ValueError as error:
        _log.debug("a reject: the head of the file", exc_info=True)
        yield Chunk(damages=[LogDamage("byte 0", str(error))])
        return
    streams: dict[bytes, metadata.StreamMetadata] = {}
    decoders: dict[bytes, BlockDecoder] = {}
    for header in chain(file, sector, sector, split.start):
        data = read_block(file, header) if header.metadata else None
        if data is not None:
            _learn(data, header, streams)
    for block in blocks(file, size, sector, max(sector, split.start), min(split.end, size)):
        if isinstance(block, LogDamage):
            yield Chunk(damages=[block])
        elif isinstance(block, UnfinishedBlock):
            yield Chunk(damages=[_unfinished_damage(block, growing=split.growing)])
        elif block.header.metadata:
            decoders.clear()
            if damage := _learn(block.data, block.header, streams):
                yield Chunk(damages=[damage])
        else:
            yield from _events(block, streams, decoders, wanted)


def _unfinished_damage(block: UnfinishedBlock, *, growing: bool) -> LogDamage:
    there = f"{block.there:,} of at least {block.size:,} bytes are there"
    reason = (
        f"pending, {there}: it is read when the file has changed"
        if growing
        else f"the file is cut short: {there}; copy it again"
    )
    return LogDamage(f"block at byte {block.position}", reason)


def _learn(
    data: bytes, header: BlockHeader, streams: dict[bytes, metadata.StreamMetadata]
) -> LogDamage | None:
    """Add the records of a metadata block; gives the damage if it has one."""
    try:
        metadata.add_records(data, streams)
    except ValueError as error:
        _log.debug("a reject: a block of metadata", exc_info=True)
        return LogDamage(f"block at byte {header.position}", str(error))
    return None


def _events(
    block: Block,
    streams: dict[bytes, metadata.StreamMetadata],
    decoders: dict[bytes, BlockDecoder],
    wanted: EventFilter,
) -> Iterator[Chunk]:
    guid, position = block.header.stream, block.header.position
    if guid not in streams:
        reason = "no metadata describe its events"
        yield Chunk(damages=[LogDamage(f"block at byte {position}", reason)])
        return
    if guid not in decoders:
        decoders[guid] = BlockDecoder(streams[guid], wanted)
    yield from decoders[guid].chunks(block.data, position)


@contextmanager
def open_log(url: str) -> Iterator[RandomAccessFile]:
    """Open a file for reading blocks.

    Raises:
        OSError: It cannot be opened.
    """
    files, path = filesystem(url)
    with files.open_input_file(path) as file:
        yield cast("RandomAccessFile", file)  # Its published types lack arguments.
