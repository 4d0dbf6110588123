"""The command `graft store purge`: the store without single runs that are old."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from dbt_graft.analysis.render.json import iso
from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors.store.retention import Purged, purge_store
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.commands.shared_options import waits
from dbt_graft.graft.project.config import FILE_NAME, ConfigError
from dbt_graft.graft.project.lineage_index import remove_lineage_index
from dbt_graft.graft.steps.turn import turn


@click.command(
    epilog="\b\nExit codes: 0 done, or nothing is that old; 1 the store is damaged or cannot be "
    "written; 2 invalid command line or graft.yml, or it has no `keep`; 5 another graft works on "
    "this store (--no-wait).\n\n"
    "\b\nExamples:\n"
    "  graft store purge --dry-run\n"
    "  graft store purge --json",
)
@config_option
@click.option("--dry-run", is_flag=True, help="Count what is older, and change nothing.")
@waits
@json_option
def purge(config_path: Path | None, wait: timedelta, *, dry_run: bool, as_json: bool) -> None:
    """Fold runs for good, and drop texts of statements, that are older than `keep` says.

    No table, task, edge, first or last run or count is lost. A collect does so by itself, each
    time that a twelfth of the time has passed.
    """
    config = load_config(config_path)
    if not config.keep.spans:
        raise ConfigError(
            "has no `keep`",
            place=FILE_NAME,
            remedy="say what is old: keep: {runs: 400d, statements: 90d}",
        )

    def say(text: str) -> None:
        click.echo(text, err=True)

    with turn(config, wait, say):
        done = purge_store(
            config.path(config.store),
            config.keep.spans,
            datetime.now(UTC),
            dry_run=dry_run,
            on_progress=say,
        )
        if not dry_run:
            remove_lineage_index(config)
    if as_json:
        print_json(_purged_json(done, dry_run=dry_run))
    else:
        for line in _purged_lines(done, dry_run=dry_run):
            click.echo(line)


def _purged_lines(done: Purged, *, dry_run: bool) -> Iterator[str]:
    """The result of a purge as text."""
    would = "would be " if dry_run else ""
    if limit := done.before.get("runs"):
        runs = done.runs
        if runs.logs:
            are = "would be" if dry_run else "are"
            yield (
                f"{count(runs.logs, 'log')} {are} closed: of {count(runs.runs, 'run')} before "
                f"{limit:%d %b %Y} {runs.left:,} stay, {count(runs.rows, 'row')} {are} counts now"
            )
        else:
            yield f"no log holds only runs before {limit:%d %b %Y}"
        if runs.open:
            yield (
                f"{count(runs.open, 'log')} with older runs stay as they are: they hold newer ones "
                "too, or runs of events, of dbt, or of tables that were renamed"
            )
    if limit := done.before.get("statements"):
        yield (
            f"{count(done.statements, 'statement')} not used since {limit:%d %b %Y}: "
            f"{would or 'are '}kept without text"
        )


def _purged_json(done: Purged, *, dry_run: bool) -> dict[str, Any]:
    """The result of a purge as JSON values."""
    return {
        "before": {name: iso(at) for name, at in done.before.items()},
        "closed_logs": done.runs.logs,
        "runs": done.runs.runs,
        "staying_runs": done.runs.left,
        "rows": done.runs.rows,
        "open_logs": done.runs.open,
        "statements": done.statements,
        "done": not dry_run,
    }
