"""One command at a time: builds and collects of one lineage store on this machine take turns.

The system holds the lock of a process and lets go when it ends, however it does: a killed build
blocks nobody. Where a system has no such lock (Windows, some network file systems) nothing is held:
of two collects the second to commit fails then, and of two builds the second to publish waits.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.outputs import check_outputs, output_of
from dbt_graft.graft.project.progress import Progress
from dbt_graft.lineage.errors import GraftError

_FILE = ".turn.lock"
_LOOK = 0.2
_DEFAULT = timedelta(hours=1)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([smhd])")
_BUSY = frozenset({errno.EAGAIN, errno.EACCES})


class BusyError(GraftError):
    """Another command works on the store."""

    exit_code = 5


class Duration(click.ParamType):  # type: ignore[type-arg]
    """A duration of the command line: `90s`, `10m`, `26h`, `7d`."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """The duration of a text."""
        if isinstance(value, timedelta):
            return value
        match = _SPAN.fullmatch(str(value).strip().lower())
        if not match:
            self.fail(f"{value!r} is no duration: write 90s, 10m, 26h or 7d", param, ctx)
        return timedelta(**{_UNITS[match[2]]: float(match[1])})


def takes_turns(*outputs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--wait` and `--no-wait` to a command, which then runs when no other does.

    Args:
        outputs: The keys of `graft.yml` whose folders it writes, of all without any; they are
            refused before anything is written, as `check_outputs` says.
    """

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--wait",
            type=Duration(),
            metavar="DURATION",
            default=_DEFAULT,
            help="How long to wait for another graft that works on this store: 90s, 10m, 2h.  "
            "[default: 1h]",
        )
        @click.option("--no-wait", is_flag=True, help="Do not wait: end with 5.")
        @functools.wraps(command)
        def run(
            config: Config, progress: Progress, *, wait: timedelta, no_wait: bool, **options: Any
        ) -> Any:
            check_outputs(config, *outputs)
            with turn(config, timedelta(0) if no_wait else wait, progress.warn):
                return command(config, progress, **options)

        return run

    return with_options


@contextmanager
def turn(config: Config, wait: timedelta, notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the store of a `graft.yml` while no other command does.

    Args:
        notice: Called once with a line about the other command, if it must be waited for.

    Raises:
        BusyError: Another one still holds it after that time.
    """
    file, new_folders = _make_folder(config)
    try:
        handle = _hold(file, config, wait, notice) if file else None
        if file is None or handle is None:
            yield
            return
        try:
            yield
        finally:
            # Still held: whoever waits for it sees that it is gone, and makes another.
            file.unlink(missing_ok=True)
            os.close(handle)
    finally:
        for folder in new_folders:
            with suppress(OSError):  # not empty
                folder.rmdir()


def _make_folder(config: Config) -> tuple[Path | None, list[Path]]:
    """The lock's file, and the folders that were made for it, the innermost first.

    It is in the store, or for one that is no folder among the artifacts; None where there is no
    lock.
    """
    try:
        import fcntl  # noqa: F401 (there is none on Windows)
    except ImportError:
        return None, []
    store_folder = config.path(config.store)
    if "://" in store_folder:
        output = output_of(config, "artifacts")
        output.claim()
        folder = output.path
    else:
        folder = Path(store_folder)
    new_folders = [ancestor for ancestor in (folder, *folder.parents) if not ancestor.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # the command gives the reason
        return None, new_folders
    return folder / _FILE, new_folders


def _hold(file: Path, config: Config, wait: timedelta, notice: Callable[[str], None]) -> int | None:
    """The file, locked; None where it cannot be, as in a store that may be read only."""
    until = time.monotonic() + wait.total_seconds()
    while True:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return None
        try:
            _wait(handle, config, until, notice)
            if _is_at(handle, file):
                with suppress(OSError):  # a note for others, no more
                    os.ftruncate(handle, 0)
                    os.pwrite(handle, _note(), 0)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is_at(handle: int, file: Path) -> bool:
    """Whether the open file is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except OSError:
        return False


def _wait(handle: int, config: Config, until: float, notice: Callable[[str], None]) -> None:
    import fcntl

    noticed = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _BUSY:
                return  # this file system has no locks
        else:
            return
        other = _other(handle)
        if time.monotonic() >= until:
            raise BusyError(
                f"{other} works on this lineage store",
                place=config.path(config.store),
                remedy="run it again when that one has ended, or wait longer with --wait",
            )
        if not noticed:
            notice(f"waiting for {other}, which works on this lineage store")
            noticed = True
        time.sleep(min(_LOOK, max(until - time.monotonic(), 0)))


def _note() -> bytes:
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return orjson.dumps({"process": os.getpid(), "since": at})


def _other(handle: int) -> str:
    """The command that holds the lock, by the note that it left."""
    try:
        note = orjson.loads(os.pread(handle, 200, 0))
        process, since = int(note["process"]), datetime.fromisoformat(note["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another graft"
    return f"another graft (process {process}, since {since:%Y-%m-%d %H:%M:%S} UTC)"
