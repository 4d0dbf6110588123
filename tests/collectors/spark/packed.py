"""Text packed as Spark packs event logs."""

from __future__ import annotations

import gzip
import struct

import pyarrow as pa
import zstandard

BLOCK = 1 << 15


def zstd(*pieces: bytes) -> bytes:
    """A frame for each flush of Spark's writer."""
    return b"".join(zstandard.ZstdCompressor().compress(piece) for piece in pieces)


def lz4(*streams: bytes, raw: bool = False) -> bytes:
    """As lz4-java's `LZ4BlockOutputStream` writes it, with checksums of zero."""
    codec = pa.Codec("lz4_raw")
    out = b""
    for text in streams:
        for at in range(0, len(text), BLOCK):
            block = text[at : at + BLOCK]
            data = block if raw else codec.compress(block, asbytes=True)
            token = (0x10 if raw else 0x20) | 5
            out += struct.pack("<8sBiii", b"LZ4Block", token, len(data), len(block), 0) + data
        out += struct.pack("<8sBiii", b"LZ4Block", 0x10 | 5, 0, 0, 0)
    return out


def snappy(*streams: bytes) -> bytes:
    """As snappy-java's `SnappyOutputStream` writes it."""
    codec = pa.Codec("snappy")
    out = b""
    for text in streams:
        out += struct.pack(">8sii", b"\x82SNAPPY\x00", 1, 1)
        for at in range(0, len(text), BLOCK):
            data = codec.compress(text[at : at + BLOCK], asbytes=True)
            out += struct.pack(">i", len(data)) + data
    return out


def gz(*members: bytes) -> bytes:
    """As `gzip` writes it, member after member."""
    return b"".join(gzip.compress(member) for member in members)
