"""The files of declared lineage that a store does not have as they are now."""

from __future__ import annotations

import hashlib
import os
from itertools import takewhile
from pathlib import Path

from dbt_graft.analysis.finding import Finding
from dbt_graft.collectors.files import LogPath, report_nothing
from dbt_graft.collectors.folder_walk import Report, unlisted_folder
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Positions
from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

_GONE = "gone"


@frozen
class ChangedFile:
    """A file that is new, changed or gone since the last collect.

    Attributes:
        path: None for a file that is gone.
    """

    origin: str
    position: str
    path: Path | None


class NoFileError(GraftError):
    """There is no file of declared lineage at a path."""


def changed_files(
    files: LogPath, positions: Positions, report: Report = report_nothing
) -> list[ChangedFile]:
    """The files that the store does not have as they are now, and those that are gone.

    None is gone while a folder cannot be listed: it may be in there.

    Raises:
        GraftError: There is none.
    """
    present = {origin_of(files, path): path for path in file_paths(files)}
    positions = of_logs(positions, [f"declared:{files.label}"])
    changed = []
    for origin, path in present.items():
        position = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        if positions.get(origin, ("",))[0] != position:
            changed.append(ChangedFile(origin, position, path))
    closed = _closed_folders(files)
    for finding in closed:
        report(finding)
    gone = [
        origin
        for origin, (position, _) in positions.items()
        if origin.startswith(f"declared:{files.label}#")
        and origin not in present
        and position != _GONE
        and not closed
    ]
    return [*changed, *(ChangedFile(origin, _GONE, None) for origin in sorted(gone))]


def file_paths(files: LogPath) -> list[Path]:
    """The files of a path in `graft.yml`.

    Raises:
        NoFileError: There is none.
        GraftError: It is a URL.
    """
    if "://" in files.path:
        raise GraftError(
            "declared lineage cannot be read from a URL",
            place=files.label,
            remedy="use a local path",
        )
    path = Path(files.path)
    if "*" in files.path:
        base = _base(files)
        paths = sorted(base.glob(str(path.relative_to(base))))
    elif path.is_dir():
        paths = sorted((*path.rglob("*.yml"), *path.rglob("*.yaml")))
    else:
        paths = [path]
    if not [path for path in paths if path.is_file()]:
        raise NoFileError(
            "there is no such file", place=files.label, remedy="correct `path` in graft.yml"
        )
    return [path for path in paths if path.is_file()]


def _closed_folders(files: LogPath) -> list[Finding]:
    """The folders below a folder that cannot be listed."""
    faults: list[OSError] = []
    if Path(files.path).is_dir():
        for _ in os.walk(files.path, onerror=faults.append):
            pass
    return [
        unlisted_folder(origin_of(files, Path(fault.filename)), system_reason(fault))
        for fault in faults
    ]


def origin_of(files: LogPath, path: Path) -> str:
    """The path as `graft.yml` writes it and the file below it: the same on every machine."""
    return f"declared:{files.label}#{path.relative_to(_base(files))}"


def _base(files: LogPath) -> Path:
    """The folder above everything that a pattern can match."""
    path = Path(files.path)
    if "*" in files.path:
        return Path(*takewhile(lambda part: "*" not in part, path.parts))
    return path if path.is_dir() else path.parent
