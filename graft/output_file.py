"""A file that a command writes where a person says: beside its place first, then moved there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dbt_graft.lineage.errors import GraftError


@contextmanager
def output_file(out: Path) -> Iterator[Path]:
    """A file to write, which becomes `out` at the end; without an end nothing is left.

    Raises:
        GraftError: It cannot be written.
    """
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        beside.replace(out)
    except OSError as error:
        raise GraftError(
            f"cannot be written: {error.strerror or error}",
            place=str(out),
            remedy="name a file in a folder that this account can write",
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_file(out: Path, content: bytes) -> None:
    """Write a file, which is never there in part.

    Raises:
        GraftError: It cannot be written.
    """
    with output_file(out) as beside:
        beside.write_bytes(content)
