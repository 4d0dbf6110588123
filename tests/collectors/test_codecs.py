"""Every codec has the text up to a cut; damage is reported; lengths are checked."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from io import BytesIO

import pytest
import zstandard

from dbt_graft.collectors.codecs import DecompressionError, decompress
from tests.cases import for_each
from tests.collectors.spark.packed import gz, lz4, snappy, zstd

LINE = b'{"Event":"SparkListenerTaskEnd","Stage ID":%d}\n'
TEXT = b"".join(LINE % (n * n) for n in range(40_000))
NOISE = random.Random(7).randbytes(300_000)  # noqa: S311
HALF = len(TEXT) // 2

Pack = Callable[..., bytes]
PACKS = {
    "zstd": zstd,
    "lz4": lz4,
    "lz4 raw": lambda *texts: lz4(*texts, raw=True),
    "snappy": snappy,
    "gzip": gz,
}


def text_of(data: bytes) -> tuple[bytes, DecompressionError | None]:
    """The text up to where it breaks off, and why it does."""
    found = b""
    try:
        for piece in decompress(BytesIO(data)):
            found += piece
    except DecompressionError as error:
        return found, error
    return found, None


@for_each("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("texts", [(TEXT,), (TEXT[:HALF], TEXT[HALF:]), (NOISE,), (b"", TEXT, b"")])
def test_the_text_is_complete(pack: Pack, texts: tuple[bytes, ...]) -> None:
    assert text_of(pack(*texts)) == (b"".join(texts), None)


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_a_cut_file_has_all_text_before_the_cut(pack: Pack) -> None:
    data = pack(*(TEXT[at : at + 20_000] for at in range(0, len(TEXT), 20_000)))
    # Not just behind a piece, where a cut is none.
    cut = data[: len(data) * 3 // 4 + 1]
    found, error = text_of(cut)
    assert TEXT.startswith(found)
    assert len(found) > len(TEXT) // 2
    assert error
    assert error.cut
    assert error.byte == len(cut)


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_damage_costs_what_is_behind_it(pack: Pack) -> None:
    good = pack(TEXT[:HALF])
    found, error = text_of(good + b"\xff\x17damage" * 9_000)
    assert found == TEXT[:HALF]
    assert error
    assert not error.cut
    assert error.byte >= len(good)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<8sBiii", b"LZ4Block", 0x25, 100, 2**31 - 1, 0) + b"x" * 100,
        struct.pack("<8sBiii", b"LZ4Block", 0x25, 2**31 - 1, 100, 0) + b"x" * 100,
        struct.pack("<8sBiii", b"LZ4Block", 0x25, -5, 100, 0) + b"x" * 100,
        struct.pack(">8siii", b"\x82SNAPPY\x00", 1, 1, 2**31 - 1) + b"x" * 100,
        struct.pack(">8siii", b"\x82SNAPPY\x00", 1, 1, 6) + b"\xff\xff\xff\xff\x07x",
    ],
    ids=["lz4 text", "lz4 block", "lz4 negative", "snappy block", "snappy text"],
)
def test_an_impossible_length_is_damage(data: bytes) -> None:
    found, error = text_of(data)
    assert found == b""
    assert error
    assert str(error) == "the compressed data is damaged"


def test_a_bomb_comes_in_pieces() -> None:
    bomb = zstandard.ZstdCompressor(level=1).compress(bytes(3 << 30 >> 2))
    largest = total = 0
    for piece in decompress(BytesIO(bomb)):
        largest, total = max(largest, len(piece)), total + len(piece)
    assert total == 3 << 30 >> 2
    assert largest <= 160 << 20


def test_zeros_behind_gzip_are_no_data() -> None:
    packed = gz(b"first ") + bytes(700) + gz(b"second") + bytes(1 << 19)
    assert text_of(packed) == (b"first second", None)
