"""The command `graft store clean`: the store without the secrets that earlier versions stored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from dbt_graft.collectors.store.clean import clean_store
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.commands.shared_options import waits
from dbt_graft.graft.doctor.store_state import secrets_line
from dbt_graft.graft.project.lineage_index import remove_lineage_index
from dbt_graft.graft.steps.turn import turn


@click.command(
    epilog="\b\nExit codes: 0 done, or there were none; 1 the store is damaged or cannot be "
    "written; 2 invalid command line or graft.yml; 5 another graft works on this store "
    "(--no-wait).\n\n"
    "\b\nExamples:\n"
    "  graft store clean && graft build --full\n"
    "  graft store clean --json",
)
@config_option
@waits
@json_option
def clean(config_path: Path | None, wait: timedelta, *, as_json: bool) -> None:
    """Take out passwords and keys that earlier versions stored in names.

    Their batches are written again, addresses of pages with them are given up, and copies from
    before an upgrade are deleted. Backups are yours to delete.
    """
    config = load_config(config_path)
    with turn(config, wait, lambda text: click.echo(text, err=True)):
        secrets = clean_store(config.path(config.store))
        remove_lineage_index(config)
    if as_json:
        print_json(secrets.to_json())
    elif secrets:
        click.echo(f"taken out: {secrets_line(secrets)}")
        click.echo("publish the site again: graft build --full; and change what they open")
    else:
        click.echo("no secrets were found")
