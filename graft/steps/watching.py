"""The inputs of a build on this machine, and their changes.

The system's messages of changed files only wake us: what has changed is found by looking at all
inputs. So nothing is missed that changes during a build, a file that is written and comes out the
same starts none, and folders whose system sends no messages are looked at every few seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from watchfiles import watch

from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.frozen import frozen

ARTIFACTS = (
    *("manifest.json", "catalog.json", "run_results.json", "sources.json"),
    *("index", "index.html"),  # a folder of tables, and dbt's page
)
# Milliseconds between messages, and to a look without one; seconds without a change after which
# files are complete.
_STEP, _LOOK, _QUIET = 50, 4_000, 0.5
# Size and date of each file.
Files = Mapping[Path, tuple[int, int]]


@frozen
class Inputs:
    """The files and folders that a build reads on this machine.

    Attributes:
        places: Files, folders with all that is below, and patterns of names in a folder.
        outputs: Folders that the build writes: what lies there is no input.
    """

    places: tuple[Path, ...]
    outputs: tuple[Path, ...] = ()

    def files(self) -> Files:
        """All files that there are now."""
        return {
            file: (status.st_size, status.st_mtime_ns)
            for path in self.places
            for file in _files(path)
            if not any(file.is_relative_to(output) for output in self.outputs)
            and (status := _status(file))
        }


def inputs(config: Config, file: Path, *others: Path) -> Inputs:
    """The inputs that a `graft.yml` names, itself, and more places."""
    entries = (
        section
        for entry in config.collect
        for section in (entry.sqlserver, entry.spark, entry.declared, entry.dbt, entry.openlineage)
    )
    written = [
        text
        for entry in entries
        for text in (getattr(entry, "path", None), getattr(entry, "snapshot", None))
    ]
    written += [
        config.docs.favicon,
        config.docs.duckdb,
        *(entry.path for entry in config.python_code),
        *(text for task in config.tasks.values() for text in (task.path, task.code)),
    ]
    places = [config.path(text) for text in written if text]
    folders = (config.store, config.artifacts, config.site.out)
    return Inputs(
        (
            file.absolute(),
            *(config.target_dir / name for name in ARTIFACTS),
            *(Path(path) for path in places if "://" not in path),
            *others,
        ),
        tuple(Path(path) for path in map(config.path, folders) if "://" not in path),
    )


def next_files(watched: Inputs, before: Files) -> Files:
    """Wait until inputs are other than before, and until nothing writes them any more."""
    now = watched.files()
    while now == before:
        _wait(watched)
        now = watched.files()
    while (later := _after_a_while(watched)) != now:
        now = later
    return now


def changed_files(before: Files, now: Files) -> list[Path]:
    """The files that are new, gone or written, sorted."""
    return sorted(file for file in {*before, *now} if before.get(file) != now.get(file))


def _wait(watched: Inputs) -> None:
    """Wait for a message of the system, or a few seconds."""
    there = {path for path in watched.places if path.exists()}
    try:
        next(
            watch(
                *there,
                watch_filter=None,
                step=_STEP,
                rust_timeout=_LOOK,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            )
        )
    except (OSError, RuntimeError):  # more folders than the system watches
        time.sleep(_LOOK / 1000)


def _after_a_while(watched: Inputs) -> Files:
    time.sleep(_QUIET)
    return watched.files()


def _files(path: Path) -> Iterable[Path]:
    if path.is_dir():
        return (file for file in path.rglob("*") if file.is_file())
    if path.is_file():
        return (path,)
    if any(char in path.name for char in "*?["):
        return path.parent.glob(path.name)
    return ()


def _status(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except OSError:  # it is gone again
        return None
