"""The command `graft diff`: what is new, gone and changed in the lineage between two times."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.history.presence import GoneRule
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import load_config
from dbt_graft.graft.commands.values import PastTime
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.questions.diff import compare_times

_RULE = GoneRule()


@click.command(
    epilog="\b\nExamples:\n"
    "  graft diff\n"
    "  graft diff --from 2026-10-01 --to 2026-10-31 --format markdown\n"
    "  graft diff --from 7d --fail-on change\n"
    "  graft diff --from 7d --json | jq '.data.differences[] | select(.kind == \"gone edge\")'"
)
@answers(scale=("change",))
@click.option(
    "--from",
    "before",
    type=PastTime(),
    metavar="TIME",
    default="30d",
    show_default=True,
    help="The earlier time: 2026-10-01 (the end of that day, UTC), 2026-10-01T06:00, 12h, 30d.",
)
@click.option(
    "--to",
    "now",
    type=PastTime(),
    metavar="TIME",
    default="now",
    show_default=True,
    help="The later time.",
)
@click.option(
    "--runs",
    type=click.IntRange(1, 1000),
    default=_RULE.runs,
    show_default=True,
    help="An edge is gone when its task ran so many times since without making it.",
)
@click.option(
    "--intervals",
    type=click.FloatRange(1, 1000),
    default=_RULE.intervals,
    show_default=True,
    help="A task is gone when it has not run for so many times its usual interval.",
)
def diff(
    config_path: Path | None, *, before: Moment, now: Moment, runs: int, intervals: float
) -> Answer:
    """Show what is new, gone and changed in the lineage between two times.

    Datasets with their columns, tasks, and edges between datasets, from the times in the lineage
    store. Definitions (dbt's models, declared lineage) have no times, so they are in no difference.
    """
    if before.at > now.at:
        raise click.UsageError(f"--from {before.text} is later than --to {now.text}")
    return compare_times(load_config(config_path), before, now, GoneRule(runs, intervals))
