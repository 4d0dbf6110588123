"""One command at a time: builds and collects of one lineage store on this machine take turns.

A killed build blocks nobody. Where the store's file system has no locks, nothing is held: of two
collects the second to commit fails then, and of two builds the second to publish waits.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.file_lock import Hold, file_lock
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.outputs import check_outputs, output_of
from dbt_graft.graft.project.progress import Progress
from dbt_graft.lineage.errors import GraftError

_FILE = ".turn.lock"
_DEFAULT = timedelta(hours=1)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([smhd])")


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
    return f"another graft (process {process}, since {since:%Y-%m-%d %H:%M:%S} UTC)"
