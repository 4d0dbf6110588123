"""DAG files in a folder that others write into, too: the first line of each of ours says so."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dbt_graft.lineage.errors import GraftError, write_error
from dbt_graft.replaced_file import replace_file

_SUFFIXES = (".py", ".yml")


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The names of files that were written, were there already, or were removed, sorted."""

    written: tuple[str, ...]
    same: tuple[str, ...]
    removed: tuple[str, ...]


def write_files(folder: Path, files: Mapping[str, str], marker: str) -> WrittenFiles:
    """Write files; those of an earlier export that are not among them are removed.

    Each is written beside its place and moved there, a DAG's YAML before the Python file that
    loads it. A file with the same content stays as it is.

    Args:
        marker: The first line of our files.

    Raises:
        GraftError: Somebody else's file is in the way, and nothing was written; or the folder
            cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in files:
            _check_place(folder / name, marker)
        written, same = [], []
        for name in sorted(files, key=lambda name: (name.endswith(".py"), name)):
            path, content = folder / name, files[name].encode()
            if path.is_file() and path.read_bytes() == content:
                same.append(name)
                continue
            replace_file(path, content)
            written.append(name)
        gone = [path for path in our_files(folder, marker) if path.name not in files]
        for path in sorted(gone, key=lambda path: (not path.name.endswith(".py"), path)):
            path.unlink(missing_ok=True)
    except OSError as error:
        remedy = "make it writable, or name another folder as `airflow.out` in graft.yml"
        raise write_error(error, error.filename or folder, remedy) from error
    return WrittenFiles(
        tuple(sorted(written)), tuple(sorted(same)), tuple(sorted(path.name for path in gone))
    )


def our_files(folder: Path, marker: str) -> list[Path]:
    """The files of a folder that an export wrote, sorted."""
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.name.endswith(_SUFFIXES) and _is_ours(path, marker)
    )


def _check_place(path: Path, marker: str) -> None:
    if (path.exists() or path.is_symlink()) and not _is_ours(path, marker):
        raise GraftError(
            "is in the way: this export did not write it",
            place=str(path),
            remedy="move it away, or write another `airflow.out` or `airflow.name` in graft.yml",
        )


def _is_ours(path: Path, marker: str) -> bool:
    if path.is_symlink() or not path.is_file() or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        return file.read(len(marker.encode()) + 1).rstrip(b"\r\n") == marker.encode()
