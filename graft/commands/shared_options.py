"""Options that several commands have: `--as-of` for questions and for steps, and taking turns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from dbt_graft.graft.commands.values import Duration, PastTime
from dbt_graft.graft.project.config import Config, Engine
from dbt_graft.graft.project.outputs import check_outputs
from dbt_graft.graft.project.past import past_config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.steps.turn import turn

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def takes_as_of(output: str) -> Decorator:
    """Add `--as-of` to a step, with `--out` and `--target-dir` that belong to it.

    The step gets a configuration whose outputs are folders of their own, and the time.

    Args:
        output: The key of `graft.yml` whose folder `--out` replaces.
    """

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--as-of",
            "past",
            type=PastTime(),
            metavar="TIME",
            help="The lineage as it stood then: 2026-10-01 (the end of that day, UTC), "
            "2026-10-01T06:00, 30d. Written to folders of its own.",
        )
        @click.option(
            "--out",
            type=click.Path(path_type=Path),
            metavar="FOLDER",
            help=f"With --as-of: the folder to write.  [default: `{output}` with the date]",
        )
        @click.option(
            "--target-dir",
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            metavar="FOLDER",
            help="With --as-of: dbt's artifacts of that time, if you kept them.",
        )
        @functools.wraps(command)
        def run(
            config: Config,
            progress: Progress,
            *,
            past: Moment | None,
            out: Path | None,
            target_dir: Path | None,
            **options: Any,
        ) -> Any:
            if past is None:
                if out or target_dir:
                    raise click.UsageError(
                        "--out and --target-dir need --as-of; the folders of a build stand in "
                        f"graft.yml: `{output}`, `dbt.target_dir`"
                    )
                return command(config, progress, past=None, **options)
            config = past_config(config, past, output, out, target_dir)
            return command(config, progress, past=past, **options)

        return run

    return with_options


def waits(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--wait` and `--no-wait`; the command gets the time that it may `wait`."""

    @click.option(
        "--wait",
        type=Duration(),
        metavar="DURATION",
        default=timedelta(hours=1),
        help="How long to wait for another graft that works on this store: 90s, 10m, 2h.  "
        "[default: 1h]",
    )
    @click.option("--no-wait", is_flag=True, help="Do not wait: end with 5.")
    @functools.wraps(command)
    def run(*args: Any, wait: timedelta, no_wait: bool, **options: Any) -> Any:
        return command(*args, wait=timedelta(0) if no_wait else wait, **options)

    return run


def takes_engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--engine` to a step that reads logs; it gets a configuration with that engine."""

    @click.option(
        "--engine",
        type=click.Choice(["spark", "local"]),
        envvar="GRAFT_ENGINE",
        show_envvar=True,
        help="Where logs are read: on Spark, or in processes of this machine without Spark and "
        "Java.  [default: `engine` in graft.yml; Spark where it is installed]",
    )
    @functools.wraps(command)
    def run(config: Config, progress: Progress, *, engine: Engine | None, **options: Any) -> Any:
        if engine:
            config = replace(config, engine=engine)
        return command(config, progress, **options)

    return run


def takes_turns(*outputs: str) -> Decorator:
    """Make a step wait until no other command works on its store.

    Args:
        outputs: The keys of `graft.yml` whose folders it writes, of all without any; they are
            refused before anything is written, as `check_outputs` says.
    """

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @waits
        @functools.wraps(command)
        def run(config: Config, progress: Progress, *, wait: timedelta, **options: Any) -> Any:
            check_outputs(config, *outputs)
            with turn(config, wait, progress.warn):
                return command(config, progress, **options)

        return run

    return with_options
