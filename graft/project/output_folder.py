"""Folders that graft writes into: its own only, each with a marker file that lists what it wrote.

A folder is refused, before any work is done, unless it is new, empty or has the marker; and
wherever a mistake would cost more than pages: at or above the project, dbt's target, the lineage
store and home folders, inside of the store, the target or `.git`. Files in it that the marker does
not list are somebody else's and stay.

New files are written beside the old ones, inside of the folder, and moved into place one by one:
that works for a mount point and behind a symbolic link, and a crash leaves each file old or new.
A file with the same bytes stays as it is, so that copying the folder moves only what changed.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from dbt_graft.file_lock import file_lock
from dbt_graft.lineage.errors import FULL_DISK, GraftError, write_error
from dbt_graft.lineage.frozen import frozen
from dbt_graft.replaced_file import is_leftover, replace_file

MARKER = ".dbt-graft.json"
_STAGING = ".dbt-graft-new"
_LOCK = ".dbt-graft-new.lock"
# Where systems keep the home folders of their users.
_HOMES = (Path("/home"), Path("/Users"), Path("C:/Users"))


@frozen
class OutputFolder:
    """A folder to write into, and the key of `graft.yml` that names it."""

    key: str
    path: Path

    def claim(self) -> None:
        """Make the folder and mark it as graft's.

        Raises:
            GraftError: It cannot be made, or it has files and no marker.
        """
        _check_content(self)
        with self._errors():
            self.path.mkdir(parents=True, exist_ok=True)
            if not (self.path / MARKER).is_file():
                self._mark(())

    @contextmanager
    def replaced(self, unchanged: Collection[str] = ()) -> Iterator[Path]:
        """A new folder for the content to be; at the end it replaces what graft wrote before.

        One at a time: another process that publishes into the same folder waits. What an earlier
        one left when it was killed is removed.

        Args:
            unchanged: The files of the old content, relative to it, that are part of the new one
                as they are; known at the end.

        Raises:
            GraftError: The folder cannot be written, or somebody else's file is in the way; the
                old content is still there.
        """
        self.claim()
        staging = self.path / _STAGING
        with self._errors(), file_lock(self.path / _LOCK):
            shutil.rmtree(staging, ignore_errors=True)
            content = staging / "content"
            content.mkdir(parents=True)
            try:
                yield content
                self._publish(content, unchanged)
            finally:
                shutil.rmtree(staging, ignore_errors=True)

    def _publish(self, content: Path, unchanged: Collection[str]) -> None:
        old = _read_marker(self.path)
        made = sorted(_files_below(str(content)))
        new = sorted({*made, *unchanged})
        _check_in_the_way(self, new, old)
        # Both until all is done: after a crash everything that graft wrote is known.
        self._mark({*old, *new})
        folded = {file.casefold() for file in new}  # some file systems ignore case
        gone = [file for file in sorted(old) if file.casefold() not in folded]
        for folder in _folders_above(new):
            if (self.path / folder).is_file():  # a file of ours, where a folder is now
                (self.path / folder).unlink()
        for file in made:
            if file in old and _same_bytes(f"{content}/{file}", f"{self.path}/{file}"):
                os.unlink(f"{content}/{file}")  # noqa: PTH108  # paths take longer than the files
                continue
            target = self.path / file
            target.parent.mkdir(parents=True, exist_ok=True)
            (content / file).replace(target)
        _remove_empty(content, made)
        for file in gone:
            if not (self.path / file).is_dir():
                (self.path / file).unlink(missing_ok=True)
        _remove_empty(self.path, gone)
        self._mark(new)

    def _mark(self, files: Iterable[str]) -> None:
        note = "Written by dbt-graft: the next build replaces these files and no others."
        content = json.dumps({"about": note, "files": sorted(files)}, indent=0)
        replace_file(self.path / MARKER, content.encode())

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # A file that did not fit says nothing: what was being written is gone again.
            is_place = isinstance(error.filename, str) and error.errno not in FULL_DISK
            remedy = f"make it writable, or name another folder as `{self.key}` in graft.yml"
            place = error.filename if is_place else self.path
            raise write_error(error, place, remedy) from error


def check(outputs: Collection[OutputFolder], protected: Mapping[str, Iterable[Path]]) -> None:
    """Refuse folders that are not graft's, or where writing could cost other files.

    Args:
        protected: What a folder must not hold, by its description. A folder inside of `the lineage
            store` or `dbt's target` is refused too.

    Raises:
        GraftError: A folder is refused; nothing was written.
    """
    for output in outputs:
        if reason := _refusal(output, outputs, protected):
            raise GraftError(
                f"`{output.key}` {reason}",
                place=str(output.path),
                remedy=f"name a folder of its own as `{output.key}` in graft.yml, such as "
                + ("build/site" if output.key == "site.out" else ".graft/artifacts"),
            )
        _check_content(output)


STORE, TARGET = "the lineage store", "dbt's target"


def _refusal(
    output: OutputFolder, outputs: Iterable[OutputFolder], protected: Mapping[str, Iterable[Path]]
) -> str:
    """The reason why a place cannot be an output folder; empty if it can."""
    path = output.path
    if path.parent == path:
        return "is the top of the file system"
    if ".git" in path.parts or (path / ".git").exists():
        return "is a folder of git"
    if path in _HOMES or path.parent in _HOMES or _holds(path, Path.home()):
        return "is, or holds, a home folder"
    for description, places in protected.items():
        for place in places:
            if _holds(path, place):
                return f"is, or holds, {description} ({place})"
            if description in (STORE, TARGET) and _holds(place, path):
                return f"is inside of {description} ({place})"
    for other in outputs:
        if other is not output and _holds(path, other.path):
            same = _holds(other.path, path)
            return f"{'is the same folder as' if same else 'holds'} `{other.key}`"
    return ""


def check_writable(path: Path, key: str) -> Path:
    """Refuse a place where no folder can be written; what there is of its path already.

    Raises:
        GraftError: A file is in the way, or a folder is read-only.
    """
    existing = next(ancestor for ancestor in (path, *path.parents) if ancestor.exists())
    if not existing.is_dir():
        raise GraftError(
            f"is a file; `{key}` must be a folder",
            place=str(existing),
            remedy=f"name another folder as `{key}` in graft.yml",
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise GraftError(
            f"`{key}` is read-only",
            place=str(existing),
            remedy=f"make it writable, or name another folder as `{key}` in graft.yml",
        )
    return existing


def _check_content(output: OutputFolder) -> None:
    path = output.path
    existing = check_writable(path, output.key)
    if existing != path or (path / MARKER).is_file():
        return
    if foreign := [path.name for path in path.iterdir() if not is_leftover(path.name, MARKER)]:
        raise GraftError(
            f"`{output.key}` has files that graft did not write, such as {min(foreign)}",
            place=str(path),
            remedy=f"empty it, or name a new folder as `{output.key}` in graft.yml",
        )


def _check_in_the_way(output: OutputFolder, new: Iterable[str], old: Collection[str]) -> None:
    """Refuse to write over, or through, what somebody else put into the folder."""
    root = str(output.path)
    folders = ((folder, True) for folder in _folders_above(new))
    for file, is_folder in chain(folders, ((file, False) for file in new)):
        try:
            mode = os.lstat(f"{root}/{file}").st_mode
        except OSError:  # nothing is there, or it cannot be reached
            continue
        if is_folder:
            is_taken = stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and file not in old)
        else:
            is_taken = stat.S_ISDIR(mode) or file not in old
        if is_taken:
            raise GraftError(
                "is in the way: graft did not write it",
                place=f"{root}/{file}",
                remedy=f"move it out of the folder that `{output.key}` in graft.yml names",
            )


def _files_below(folder: str, below: str = "") -> Iterator[str]:
    """The files in a folder and in those below it, relative to it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path, f"{below}{entry.name}/")
            else:
                yield f"{below}{entry.name}"


def _folders_above(files: Iterable[str]) -> dict[str, None]:
    """The folders that relative files lie in, and those above."""
    folders: dict[str, None] = {}
    for file in files:
        folder = file.rpartition("/")[0]
        while folder and folder not in folders:
            folders[folder] = None
            folder = folder.rpartition("/")[0]
    return folders


def _read_marker(folder: Path) -> set[str]:
    """The files that the marker lists and that lie in the folder."""
    try:
        read: Any = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        files = list(read["files"])
    except (ValueError, KeyError, TypeError) as error:
        raise GraftError(
            "is damaged: what graft wrote there is not known",
            place=str(folder / MARKER),
            remedy="empty the folder",
        ) from error
    return {file for file in files if isinstance(file, str) and _is_inside(file)}


def _is_inside(file: str) -> bool:
    return file[:1] not in ("", "/") and ".." not in file.split("/") and "\0" not in file


def _same_bytes(new: str, old: str) -> bool:
    """Whether a file need not be replaced: so its date says when it changed."""
    try:
        there = os.lstat(old)
        if not stat.S_ISREG(there.st_mode):
            return False
        here = os.lstat(new)
        if os.path.samestat(here, there):
            return True
        return here.st_size == there.st_size and Path(new).read_bytes() == Path(old).read_bytes()
    except OSError:
        return False


def _remove_empty(folder: Path, gone: Iterable[str]) -> None:
    """Remove the folders that held files which are gone, if nothing else is in them."""
    for parent in sorted(_folders_above(gone), reverse=True):
        with suppress(OSError):  # not empty, or gone
            os.rmdir(f"{folder}/{parent}")  # noqa: PTH106  # as above


def _holds(folder: Path, path: Path) -> bool:
    """Whether a path is a folder or inside of it, under whatever names."""
    return any(_same(folder, ancestor) for ancestor in (path, *path.parents))


def _same(a: Path, b: Path) -> bool:
    if a == b:
        return True
    try:
        return a.samefile(b)
    except OSError:
        return False
