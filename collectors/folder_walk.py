"""The files below a folder, each folder entered once, whatever links lead to it.

Of a folder that is reached in two ways the way without a link counts. A link back to a folder above
it is not followed, so that the walk ends; neither is a link to a folder that was listed before. A
folder below the top that cannot be listed costs its own files only. All of that is reported.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from pyarrow import fs

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.collectors.system_reason import system_reason

# Takes what is left out: folders that cannot be listed, and links.
Report = Callable[[Finding], None]


class ListedFile(NamedTuple):
    """A file below a folder.

    Attributes:
        below: Its path below the folder, with the slash before it.
        changed_ns: Its time of change, in nanoseconds since 1970; 0 where it is not known.
        identity: Equal for two names of one file.
    """

    below: str
    size: int
    changed_ns: int
    identity: object


def is_hidden(below: str) -> bool:
    """Whether a path below a folder has a part that is hidden, or is still being written."""
    return any(part.startswith((".", "_temporary")) for part in below.split("/"))


def local_files(
    top: str, label: str, report: Report, enters: re.Pattern[str]
) -> Iterator[ListedFile]:
    """The files below a folder of this machine, hidden ones left out; links are followed.

    Args:
        label: The folder's name in what is reported.
        enters: Matches the path, below the top, of each folder that is to be listed.

    Raises:
        OSError: The folder itself cannot be listed.
    """
    return _LocalWalk(top.rstrip("/"), label.rstrip("/"), report, enters).files()


@dataclass(slots=True)
class _LocalWalk:
    """A walk through the folders of this machine.

    Attributes:
        folders: Paths below the top, and resolved paths, of folders that are not listed yet.
        links: Paths below the top; they are followed when no folder is left.
        listed: The resolved paths of the folders that were listed.
    """

    top: str
    label: str
    report: Report
    enters: re.Pattern[str]
    folders: deque[tuple[str, str]] = field(default_factory=deque)
    links: deque[str] = field(default_factory=deque)
    listed: set[str] = field(default_factory=set)

    def files(self) -> Iterator[ListedFile]:
        self.folders.append(("", _resolve_links(self.top or "/")))
        while self.folders or self.links:
            if self.folders:
                yield from self._folder(*self.folders.popleft())
            else:
                yield from self._link(self.links.popleft())

    def _folder(self, below: str, resolved: str) -> Iterator[ListedFile]:
        if resolved in self.listed:
            return  # A link led to it, and now one to a folder above it.
        self.listed.add(resolved)
        try:
            with os.scandir(f"{self.top}{below}" or "/") as entries:
                content = sorted(entries, key=lambda entry: entry.name)
            for entry in content:
                yield from self._entry(entry, f"{below}/{entry.name}", f"{resolved}/{entry.name}")
        except OSError as error:
            if not below:
                raise
            self.report(unlisted_folder(f"{self.label}{below}", system_reason(error)))

    def _entry(self, entry: os.DirEntry[str], below: str, resolved: str) -> Iterator[ListedFile]:
        if is_hidden(entry.name) or not self._is_text(below):
            return
        if entry.is_symlink():
            self.links.append(below)
        elif entry.is_dir(follow_symlinks=False) and self.enters.match(below):
            self.folders.append((below, resolved))
        elif entry.is_file(follow_symlinks=False):
            yield from self._file(below, resolved)

    def _link(self, below: str) -> Iterator[ListedFile]:
        path = f"{self.top}{below}"
        target = _resolve_links(path)
        try:
            kind = Path(path).stat().st_mode
            if S_ISREG(kind):
                yield from self._file(below, target)
            elif S_ISDIR(kind) and self.enters.match(below):
                self._linked_folder(below, target)
        except OSError as error:
            self._note(below, f"the link cannot be followed: {system_reason(error)}")

    def _linked_folder(self, below: str, target: str) -> None:
        above = _resolve_links(f"{self.top}{below.rpartition('/')[0]}" or "/")
        if f"{above}/".startswith(f"{target}/"):
            self._note(below, "the link leads back to a folder above it, and is not followed")
        elif target in self.listed:
            self._note(below, "the link leads to a folder that is listed already")
        else:
            self.folders.append((below, target))

    def _file(self, below: str, target: str) -> Iterator[ListedFile]:
        try:
            state = Path(f"{self.top}{below}").stat()
        except FileNotFoundError:
            return  # It has gone since its folder was listed.
        # Some network drives have inodes that are not unique, but none with several names.
        identity = (state.st_dev, state.st_ino) if state.st_nlink > 1 else target
        yield ListedFile(below, state.st_size, state.st_mtime_ns, identity)

    def _is_text(self, below: str) -> bool:
        """Whether a name can stand in the store; one that is not UTF-8 is reported."""
        try:
            below.encode()
        except UnicodeEncodeError:
            name = below.encode(errors="backslashreplace").decode()
            self.report(
                Finding(
                    *("FOLDER", Severity.WARNING, f"{self.label}{name}"),
                    "its name is not UTF-8: it is left out",
                    "rename it; the next collect reads it",
                )
            )
            return False
        return True

    def _note(self, below: str, problem: str) -> None:
        self.report(Finding("FOLDER", Severity.NOTE, f"{self.label}{below}", problem))


def _resolve_links(path: str) -> str:
    """A path without links, and without a slash at its end, the root's neither."""
    return os.path.realpath(path).replace(os.sep, "/").rstrip("/")


def remote_files(
    files: fs.FileSystem, top: str, label: str, report: Report
) -> Iterator[ListedFile]:
    """The files below a folder of another file system, in one request if all of it can be listed.

    Args:
        label: The folder's name in what is reported.

    Raises:
        OSError: The folder itself cannot be listed.
    """
    top, label = top.rstrip("/"), label.rstrip("/")
    try:
        content: Iterable[fs.FileInfo] = files.get_file_info(fs.FileSelector(top, recursive=True))
    except OSError:
        content = _folder_by_folder(files, top, label, report)
    for info in content:
        below = info.path[len(top) :]
        if info.type is fs.FileType.File and not is_hidden(below):
            yield ListedFile(below, info.size, info.mtime_ns or 0, info.path)


def _folder_by_folder(
    files: fs.FileSystem, top: str, label: str, report: Report
) -> Iterator[fs.FileInfo]:
    folders = deque([top])
    while folders:
        folder = folders.popleft()
        try:
            content = files.get_file_info(fs.FileSelector(folder))
        except OSError as error:
            if folder == top:
                raise
            report(unlisted_folder(f"{label}{folder[len(top) :]}", system_reason(error)))
            continue
        for info in content:
            if info.type is not fs.FileType.Directory:
                yield info
            elif not is_hidden(info.path[len(top) :]):
                folders.append(info.path)


def unlisted_folder(subject: str, reason: str) -> Finding:
    """The finding for a folder whose logs are not seen."""
    return Finding(
        *("FOLDER", Severity.WARNING, subject),
        f"this folder cannot be listed: {reason}",
        "let this account read it; the next collect reads its logs",
    )
