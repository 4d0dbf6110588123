"""Files with their sizes and times, and our modules so: what is made of them changes with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from glob import has_magic
from pathlib import Path

from dbt_graft import __version__, analysis, collectors, exporters, graft, injector, lineage


def stamps(files: Iterable[Path | os.DirEntry[str]]) -> Iterator[str]:
    """A line for each file; one that is replaced by an equal one is another."""
    for file in files:
        name = os.fspath(file)
        try:
            status = file.stat()
            yield f"{name} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
        except OSError:
            yield f"{name} is missing"


def named_files(path: str) -> Iterable[Path]:
    """The files that a path, a folder or a pattern means."""
    named_path = Path(path)
    if has_magic(path):
        return sorted(Path(named_path.anchor).glob(str(named_path.relative_to(named_path.anchor))))
    return sorted(named_path.rglob("*.y*ml")) if named_path.is_dir() else [named_path]


@cache
def code_stamps() -> tuple[str, ...]:
    """Our version and modules, as they are when the process asks first."""
    rooms = (lineage, analysis, collectors, exporters, injector, graft)
    return (
        __version__,
        *stamps(
            module for room in rooms for folder in room.__path__ for module in _modules(folder)
        ),
    )


def _modules(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _modules(entry.path)
            elif entry.name.endswith(".py"):
                yield entry
