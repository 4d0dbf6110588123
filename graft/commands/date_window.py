"""The options of a window of dates."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from dbt_graft.graft.questions.show.dates import DateWindow
from dbt_graft.lineage.dates.period import Grain

Command = Callable[..., Any]


def takes_window(command: Command) -> Command:
    """Add `--from`, `--to` and `--grain`; the command gets them as `window`."""

    @click.option(
        "--from", "first", metavar="DATE", help="Dates from this on.  [default: 30 before the last]"
    )
    @click.option("--to", "last", metavar="DATE", help="Dates up to this.  [default: the newest]")
    @click.option(
        "--grain",
        type=click.Choice([grain.value for grain in Grain]),
        help="The unit of dates.  [default: that in which it is written]",
    )
    @functools.wraps(command)
    def run(
        *args: Any, first: str | None, last: str | None, grain: str | None, **options: Any
    ) -> Any:
        window = DateWindow(first, last, Grain(grain) if grain else None)
        return command(*args, window=window, **options)

    return run
