"""The command `graft store backup`: a copy of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors.store.backup import back_up
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.commands.store_info import size


@click.command(
    epilog="\b\nExit codes: 0 done; 1 the store is damaged or empty, or PATH is refused or cannot "
    "be written; 2 invalid command line or graft.yml.\n\n"
    "\b\nExamples:\n"
    "  graft store backup /backup/lineage\n"
    "  graft store backup s3a://backup/lineage --json\n\n"
    "\b\nTo restore: move the damaged store away and copy the backup to its place,\n"
    "or let `store` in graft.yml name the backup.",
)
@click.argument("target", metavar="PATH")
@config_option
@json_option
def backup(target: str, config_path: Path | None, *, as_json: bool) -> None:
    """Copy the store to PATH: a new folder or URL, or one with an earlier backup.

    Other commands may work on the store meanwhile. Of an earlier backup only what changed is
    copied.
    """
    config = load_config(config_path)
    done = back_up(config.path(config.store), target)
    answer: dict[str, Any] = {"batches": done.batches, "files": done.files, "bytes": done.bytes}
    if as_json:
        print_json({"store": config.path(config.store), "backup": target, **answer})
    else:
        click.echo(
            f"{target}: {count(done.batches, 'batch', 'batches')}; {count(done.files, 'file')} "
            f"with {size(done.bytes)} copied now"
        )
