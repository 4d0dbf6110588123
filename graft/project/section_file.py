"""A file of named sections of bytes, which counts only with its key, and whole."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Mapping
from pathlib import Path

import orjson

from dbt_graft.graft.project.output_file import write_file

_log = logging.getLogger(__name__)


def has_key(path: Path, key: str) -> bool:
    """Whether a file has a key; whether it is whole is not looked at."""
    try:
        with path.open("rb") as file:
            return file.readline() == f"{key}\n".encode()
    except OSError:
        return False


def read_sections(path: Path, key: str | None = None) -> dict[str, memoryview] | None:
    """The sections of a file; None if it is not there, damaged, or has another key.

    Args:
        key: One line; None for whatever it is.
    """
    try:
        with path.open("rb") as file:
            if file.readline() != f"{key}\n".encode() and key is not None:
                return None
            checksum, content = file.readline(), file.read()
    except OSError as error:
        _log.debug("%s is not read: %s", path, error)
        return None
    if checksum != _checksum(content):
        _log.debug("%s is damaged", path)
        return None
    names, _, _ = content.partition(b"\n")
    sections, begin = {}, len(names) + 1
    for name, size in orjson.loads(names):
        sections[name] = memoryview(content)[begin : begin + size]
        begin += size
    return sections


def write_sections(path: Path, key: str, sections: Mapping[str, bytes]) -> None:
    """Write a file, which is never there in part.

    Raises:
        GraftError: It cannot be written.
    """
    names = orjson.dumps([(name, len(section)) for name, section in sections.items()])
    content = b"".join((names, b"\n", *sections.values()))
    write_file(path, b"".join((f"{key}\n".encode(), _checksum(content), content)))


def _checksum(content: bytes) -> bytes:
    return f"{zlib.crc32(content):08x} {len(content)}\n".encode()
