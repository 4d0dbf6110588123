"""A file that a command writes where a person says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt_graft.lineage.errors import write_error
from dbt_graft.replaced_file import replaced_file


@contextmanager
def output_file(out: Path) -> Iterator[Path]:
    """A file to write, which becomes `out` at the end; without an end nothing is left.

    Raises:
        GraftError: It cannot be written.
    """
    try:
        with replaced_file(out) as new:
            yield new
    except OSError as error:
        remedy = "name a file in a folder that this account can write"
        raise write_error(error, out, remedy) from error


def write_file(out: Path, content: bytes) -> None:
    """Write a file, which is never there in part.

    Raises:
        GraftError: It cannot be written.
    """
    with output_file(out) as new:
        new.write_bytes(content)
