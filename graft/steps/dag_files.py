"""DAG files in a folder that others write into, too: the first line of each of ours says so.

The second line has a digest of what follows: where it is another one, somebody edited the file.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.lineage.errors import GraftError, write_error
from dbt_graft.lineage.frozen import frozen
from dbt_graft.replaced_file import replace_file

_SUFFIXES = (".py", ".yml")
_SEAL = "# Digest of what follows: "
_SHOWN = 40  # lines of a difference


@frozen
class WrittenFiles:
    """The names of files that were written, were there already, or were removed, sorted."""

    written: tuple[str, ...]
    same: tuple[str, ...]
    removed: tuple[str, ...]


def write_files(
    folder: Path,
    files: Mapping[str, str],
    marker: str,
    *,
    remove: bool = True,
    force: bool = False,
    remedy: str = "keep additions in the file that `airflow.overrides` in graft.yml names; "
    "`--force` replaces what was edited",
) -> WrittenFiles:
    """Write files; those of an earlier export that are not among them are removed.

    Each is written beside its place and moved there, a DAG's YAML before the Python file that
    loads it. A file with the same content stays as it is.

    Args:
        marker: The first line of our files.
        remove: False leaves files of an earlier export where they are.
        force: Replace files that were edited by hand, too.
        remedy: The next step where one was edited.

    Raises:
        GraftError: Somebody else's file is in the way, or one of ours was edited, and nothing was
            written; or the folder cannot be written.
    """
    contents = {name: _sealed(text, marker) for name, text in files.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in contents:
            _check_place(folder / name, marker)
        gone = [path for path in our_files(folder, marker) if remove and path.name not in files]
        if not force:
            _check_edits(folder, contents, gone, remedy)
        written, same = [], []
        for name in sorted(contents, key=lambda name: (name.endswith(".py"), name)):
            path, content = folder / name, contents[name].encode()
            if path.is_file() and path.read_bytes() == content:
                same.append(name)
                continue
            replace_file(path, content)
            written.append(name)
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


def _sealed(text: str, marker: str) -> str:
    body = text.removeprefix(marker).lstrip("\n")
    return f"{marker}\n{_SEAL}{_digest(body)}\n{body}"


def _digest(body: str) -> str:
    """A digest that does not depend on how lines end: version control may change that."""
    lines = "\n".join(line.rstrip() for line in body.splitlines()).rstrip()
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _check_edits(
    folder: Path, contents: Mapping[str, str], gone: Iterable[Path], remedy: str
) -> None:
    edited = {}
    for path in (*(folder / name for name in contents), *gone):
        if path.is_file():
            new = contents.get(path.name, "")
            present = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
            if _is_edited(present) and _body(present) != _body(new):
                edited[path] = _difference(present, new)
    if not edited:
        return
    names = ", ".join(one_line(path.name) for path in edited)
    shown = "\n".join(line for lines in edited.values() for line in lines)
    raise GraftError(
        f"{count(len(edited), 'file')} edited by hand since the last export, and nothing was "
        f"written: {names}\n{shown}",
        place=str(folder),
        remedy=remedy,
    )


def _is_edited(text: str) -> bool:
    seal = text.split("\n", 2)[1:2]
    return seal != [f"{_SEAL}{_digest(_body(text))}"]


def _body(text: str) -> str:
    """The text behind the marker and the digest."""
    lines = text.split("\n", 2)
    return lines[2] if len(lines) > 2 and lines[1].startswith(_SEAL) else "\n".join(lines[1:])


def _difference(present: str, new: str) -> list[str]:
    """The lines that would be lost of a file, and those that would take their place."""
    lines = list(
        difflib.unified_diff(
            _body(present).splitlines(),
            _body(new).splitlines(),
            "edited",
            "new" if new else "removed",
            n=1,
            lineterm="",
        )
    )
    more = [f"  … and {count(len(lines) - _SHOWN, 'line')} more"] if len(lines) > _SHOWN else []
    return [*(f"  {one_line(line)}" for line in lines[:_SHOWN]), *more]
