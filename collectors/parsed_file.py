"""Results of parsing SQL, in a file that holds for one version of the parser.

The first line names the parser, with a checksum of the content: a file of another parser, or one
that is damaged, counts as none, and can be deleted.
"""

from __future__ import annotations

import hashlib
import logging
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from dbt_graft import __version__
from dbt_graft.lineage.own_values import dump_values, load_values
from dbt_graft.replaced_file import replace_file

_log = logging.getLogger(__name__)


def to_entry(value: object) -> str:
    """A value of our own types as an entry of a file."""
    return b64encode(dump_values(value)).decode()


def from_entry(entry: str) -> Any:
    """The value of an entry."""
    return load_values(b64decode(entry))


def read_entries(path: Path | None, *parser: str) -> dict[str, Any]:
    """The entries of a file, by the digest of their text; none without a file.

    Args:
        parser: The names of the packages whose code made them and has their types, beside sqlglot.
    """
    content = read_content(path, *parser)
    entries: dict[str, Any] = orjson.loads(content) if content else {}
    return entries


def read_content(path: Path | None, *parser: str) -> bytes | memoryview:
    """The content of a file, as `read_entries`; empty where there is none."""
    if path is None:
        return b""
    try:
        data = path.read_bytes()
    except OSError:
        return b""
    end = data.find(b"\n")
    content = memoryview(data)[end + 1 :]  # It may be of many megabytes.
    return content if data[: max(0, end)] == _head(content, parser) else b""


def write_entries(path: Path, entries: Mapping[str, Any], *parser: str) -> None:
    """Write entries for the next build; where that fails, it parses again, no more."""
    write_content(path, orjson.dumps(entries), *parser)


def write_content(path: Path, content: bytes, *parser: str) -> None:
    """Write the content that `read_content` reads, as `write_entries`."""
    try:
        replace_file(path, b"\n".join((_head(content, parser), content)))
    except OSError:
        _log.debug("%s is not kept", path, exc_info=True)


def _head(content: bytes | memoryview, parser: tuple[str, ...]) -> bytes:
    return f"{_version(parser)} {crc32(content):08x} {len(content)}".encode()


@cache
def _version(parser: tuple[str, ...]) -> str:
    """The version of the parser: ours, that of sqlglot, and our code on top of it."""
    digest = hashlib.sha256(b"".join(map(_code_digest, parser)))
    # The package itself and its metadata take longer to import than most questions need.
    version = hashlib.sha256((_folder("sqlglot") / "_version.py").read_bytes())
    return f"{__version__} sqlglot {version.hexdigest()[:12]} {digest.hexdigest()[:12]}"


@cache
def _code_digest(package: str) -> bytes:
    digest = hashlib.sha256()
    for file in sorted(_folder(package).glob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(package)
    return Path(spec.origin).parent
