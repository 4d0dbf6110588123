"""The command `graft store info`: its contents."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.collectors.store.contents import store_contents
from dbt_graft.graft.commands import store_text
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import (
    json_option,
    print_json,
)
from dbt_graft.graft.commands.store_origins import group_by_source


@click.command(
    epilog="\b\nExit codes: 0 shown; 1 the store is damaged or cannot be read; 2 invalid command "
    "line or graft.yml.\n\n"
    "\b\nExamples:\n"
    "  graft store info\n"
    "  graft store info --json | jq '.data.tables'"
)
@config_option
@json_option
def info(config_path: Path | None, *, as_json: bool) -> None:
    """Show the contents of the store: batches, files, rows, logs. Nothing is written."""
    config = load_config(config_path)
    contents = store_contents(config.path(config.store))
    logs = group_by_source(config, [log.origin for log in contents.logs])
    if as_json:
        print_json(store_text.contents_json(contents, logs))
    else:
        for line in store_text.contents_lines(contents, logs):
            click.echo(line)
