"""A file of named sections of bytes, which counts only with its key, and whole."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from dbt_graft.graft.project.code_stamps import code_stamps
from dbt_graft.graft.project.output_file import output_file
from dbt_graft.graft.project.output_folder import MARKER
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.own_values import dump_values, load_values

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
    if checksum != _checksum((content,)):
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
    parts = (names, b"\n", *sections.values())
    # To join the parts would copy them.
    with output_file(path) as new, new.open("wb") as file:
        file.writelines((f"{key}\n".encode(), _checksum(parts), *parts))


def _checksum(parts: Iterable[bytes]) -> bytes:
    """A line of the checksum and the size of parts that follow each other."""
    checksum = size = 0
    for part in parts:
        checksum, size = zlib.crc32(part, checksum), size + len(part)
    return f"{checksum:08x} {size}\n".encode()


_SECTION = "value"


@frozen
class RememberedValue:
    """The file of a value of our own types, which has no secret.

    Attributes:
        folder: That of the artifacts.
        key: Of all that the value is made of.
    """

    folder: Path
    name: str
    key: str

    def read(self) -> Any:
        """The value; None if it is not kept, or of another key."""
        sections = read_sections(self.folder / self.name, self.key)
        return load_values(sections[_SECTION]) if sections else None

    def write(self, value: object) -> None:
        """Keep a value, where there is a folder of artifacts already."""
        # Where it cannot be written, the next command makes it again, no more.
        with suppress(OSError, GraftError):
            if (self.folder / MARKER).is_file():
                sections = {_SECTION: dump_values(value)}
                write_sections(self.folder / self.name, self.key, sections)


def value_key(parts: Iterable[str]) -> str:
    """The key of a value that our code makes of these."""
    digest = blake2b(digest_size=16)
    for part in (*code_stamps(), *parts):
        digest.update(f"{part}\n".encode(errors="surrogateescape"))
    return f"dbt-graft value {digest.hexdigest()}"
