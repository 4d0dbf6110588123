"""One command at a time: builds and collects of one lineage store on this machine take turns.

A killed build blocks nobody. Where the store's file system has no locks, nothing is held: of two
collects the second to commit fails then, and of two builds the second to publish waits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.file_lock import Hold, file_lock
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.outputs import output_of
from dbt_graft.lineage.errors import GraftError

_FILE = ".turn.lock"


class BusyError(GraftError):
    """Another command works on the store."""

    exit_code = 5


@contextmanager
def turn(config: Config, wait: timedelta, notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the store of a `graft.yml` while no other command does.

    Args:
        notice: Called once with a line about the other command, if it must be waited for.

    Raises:
        BusyError: Another one still holds it after that time.
    """
    folder = _folder(config)
    file = folder / _FILE
    new_folders = [ancestor for ancestor in (folder, *folder.parents) if not ancestor.exists()]
    with suppress(OSError):  # the command gives the reason
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with ExitStack() as stack:
            hold = stack.enter_context(file_lock(file, 0))
            if hold is Hold.BUSY and wait:
                notice(f"waiting for {_other(file)}, which works on this lineage store")
                hold = stack.enter_context(file_lock(file, wait.total_seconds()))
            if hold is Hold.BUSY:
                raise BusyError(
                    f"{_other(file)} works on this lineage store",
                    place=config.path(config.store),
                    remedy="run it again when that one has ended, or wait longer with --wait",
                )
            if hold is Hold.HELD:
                with suppress(OSError):  # a note for others, no more
                    file.write_bytes(_note())
            yield
    finally:
        for new_folder in new_folders:
            with suppress(OSError):  # not empty
                new_folder.rmdir()


def _folder(config: Config) -> Path:
    """The folder of the lock: the store, or for one that is no folder the artifacts."""
    store_folder = config.path(config.store)
    if "://" not in store_folder:
        return Path(store_folder)
    output = output_of(config, "artifacts")
    output.claim()
    return output.path


def _note() -> bytes:
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return orjson.dumps({"process": os.getpid(), "since": at})


def _other(file: Path) -> str:
    """The command that holds the lock, by the note that it left."""
    try:
        note = orjson.loads(file.read_bytes())
        process, since = int(note["process"]), datetime.fromisoformat(note["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another graft"
    return f"another graft (process {process}, since {time_text(since, seconds=True)} UTC)"
