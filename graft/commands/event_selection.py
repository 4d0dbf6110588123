"""The options that select events of OpenLineage."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from dbt_graft.exporters.openlineage.settings import ExportedKind
from dbt_graft.graft.commands.values import PastTime
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.steps.openlineage_events import AskedEvents

Command = Callable[..., Any]


def selects_events(command: Command) -> Command:
    """Add `--since`, `--task`, `--dataset` and `--events`; the command gets them as `selection`."""

    @click.option(
        "--since",
        type=PastTime(first=True),
        metavar="TIME",
        help="Only runs that ended then or later, and their jobs: 7d, 12h, 2026-10-01.",
    )
    @click.option("--task", "tasks", multiple=True, help="Only this task or dbt model; repeatable.")
    @click.option("--dataset", "names", multiple=True, help="Only the event of this; repeatable.")
    @click.option(
        "--events",
        "kinds",
        type=click.Choice([str(kind) for kind in ExportedKind]),
        multiple=True,
        help="Only events of this kind; repeatable.  [default: `openlineage.events` in graft.yml]",
    )
    @functools.wraps(command)
    def run(
        *args: Any,
        since: Moment | None,
        tasks: tuple[str, ...],
        names: tuple[str, ...],
        kinds: tuple[str, ...],
        **options: Any,
    ) -> Any:
        selection = AskedEvents(tasks, names, kinds, since.at if since else None)
        return command(*args, selection=selection, **options)

    return run
