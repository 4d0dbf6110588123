"""Files that are replaced in one step: whoever reads them never sees one in part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A new file to write, which takes the place of `path` at the end, or goes at an error.

    It lies beside `path`, hidden and with the number of this process: `.manifest.json.4711`. What
    processes that were killed left of `path` is removed first.

    Raises:
        OSError: It cannot be written; `path` is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    handle = _locked(new)
    try:
        yield new
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    finally:
        if handle is not None:
            os.close(handle)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file, which is never there in part.

    Raises:
        OSError: It cannot be written; it is as it was.
    """
    with replaced_file(path) as new:
        new.write_bytes(content)


def is_leftover(name: str, of: str) -> bool:
    """Whether a file's name is one under which the file `of` is written."""
    number = name.removeprefix(f".{of}.")
    return number != name and number.isascii() and number.isdigit()


def _locked(new: Path) -> int | None:
    """The file, locked while it is written; None where a system has no such lock.

    Processes of other containers and machines, whose numbers say nothing here, see the lock.
    """
    if not fcntl:
        return None
    safely = os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | safely, 0o666)
        with suppress(OSError):  # no locks on this file system
            fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), new.stat()):
                return handle
        os.close(handle)  # another thread has replaced its own file with it, or it was removed


def _remove_leftovers(path: Path) -> None:
    """Remove what was left; what this account may not remove stays."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        names = [entry.name for entry in entries if is_leftover(entry.name, path.name)]
        for name in names:
            if not _is_running(int(name.rpartition(".")[2])):
                _remove_unlocked(path.with_name(name))


def _is_running(process: int) -> bool:
    """Whether a process of this machine has the number; True where it cannot be asked."""
    if not fcntl:  # there the question would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _remove_unlocked(file: Path) -> None:
    """Remove a file, unless a process elsewhere still writes it."""
    with suppress(OSError):
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
        finally:
            os.close(handle)
