"""The face of this package: a .xel file in parts, and the events of a part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast

from dbt_graft.collectors.files import LogFile, filesystem
from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.xel import metadata
from dbt_graft.collectors.sqlserver.files.xel.blocks import (
    Block,
    BlockHeader,
    RandomAccessFile,
    blocks,
    chain,
    read_block,
    sector_size,
)
from dbt_graft.collectors.sqlserver.files.xel.decode import BlockDecoder

_SIZE = 32 << 20


def xel_splits(log: LogFile, size: int = _SIZE) -> list[FileSplit]:
    """Cut a file where its blocks begin, into parts of about `size` bytes.

    Reads the headers of the blocks only, and of a small file nothing. Behind a broken header there
    is no cut: whoever reads the last part finds the next block, or tells what is wrong with the
    file.
    """
    starts = [0]
    if log.size > size:
        # What is wrong with the file, its reader tells.
        with suppress(ValueError, OSError), open_log(log.url) as file:
            sector = sector_size(file)
            for header in chain(file, sector, sector, log.size):
                if header.position - starts[-1] >= size:
                    starts.append(header.position)
    ends = [*starts[1:], log.size]
    return [
        FileSplit(log.url, log.origin, "xel", start, end)
        for start, end in zip(starts, ends, strict=True)
    ]


def read_xel(part: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    """The events of the blocks that begin in a part, in their order, a chunk for each block.

    A damaged block is a chunk of its own with what is wrong. What the server has not finished
    writing at the file's end is left for later, and is no damage.
    """
    try:
        with open_log(part.url) as file:
            yield from _chunks(file, part, wanted)
    except OSError as error:
        # Arrow's own text names the whole path.
        reason = os.strerror(error.errno) if error.errno else "its storage is out of reach"
        yield Chunk(damages=[LogDamage(f"from byte {part.start} on", f"cannot be read: {reason}")])


def _chunks(file: RandomAccessFile, part: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    size = file.size()
    if not size:
        return  # The server has just made it.
    try:
        sector = sector_size(file)
    except ValueError as error:
        yield Chunk(damages=[LogDamage("byte 0", str(error))])
        return
    streams: dict[bytes, metadata.StreamMetadata] = {}
    decoders: dict[bytes, BlockDecoder] = {}
    for header in chain(file, sector, sector, part.start):
        data = read_block(file, header) if header.metadata else None
        if data is not None:
            _learn(data, header, streams)
    for block in blocks(file, size, sector, max(sector, part.start), min(part.end, size)):
        if isinstance(block, LogDamage):
            yield Chunk(damages=[block])
        elif block.header.metadata:
            decoders.clear()
            if damage := _learn(block.data, block.header, streams):
                yield Chunk(damages=[damage])
        else:
            yield from _events(block, streams, decoders, wanted)


def _learn(
    data: bytes, header: BlockHeader, streams: dict[bytes, metadata.StreamMetadata]
) -> LogDamage | None:
    """Add what a metadata block says, and tell what of it is damaged."""
    try:
        metadata.add(data, streams)
    except ValueError as error:
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
        reason = "no metadata tell what its events mean"
        yield Chunk(damages=[LogDamage(f"block at byte {position}", reason)])
        return
    if guid not in decoders:
        decoders[guid] = BlockDecoder(streams[guid], wanted)
    yield from decoders[guid].chunks(block.data, position)


@contextmanager
def open_log(url: str) -> Iterator[RandomAccessFile]:
    """A file as blocks are read from it.

    Raises:
        OSError: It cannot be opened.
    """
    files, path = filesystem(url)
    with files.open_input_file(path) as file:
        yield cast("RandomAccessFile", file)  # Its published types lack arguments.
