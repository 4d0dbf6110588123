"""The command `graft store purge`: the store without single runs that are old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from dbt_graft.collectors.store.retention import purge_store
from dbt_graft.graft.commands import store_text
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import (
    json_option,
    print_json,
)
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
        print_json(store_text.purged_json(done, dry_run=dry_run))
    else:
        for line in store_text.purged_lines(done, dry_run=dry_run):
            click.echo(line)
