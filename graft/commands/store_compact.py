"""The command `graft store compact`: few batches of many."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors.store import compaction
from dbt_graft.collectors.store.compaction import Compaction
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json


@click.command(
    epilog="\b\nExit codes: 0 done, or nothing was due; 1 the store is damaged or cannot be "
    "written; 2 invalid command line or graft.yml.\n\n"
    "\b\nExamples:\n"
    "  graft store compact\n"
    "  graft store compact --now --json",
)
@config_option
@click.option(
    "--now",
    is_flag=True,
    help="Delete at once what was merged, not after an hour: a build that reads now begins again.",
)
@json_option
def compact(config_path: Path | None, *, now: bool, as_json: bool) -> None:
    """Merge small batches into few.

    Each collect does so by itself when it is due. Other commands may work on the store meanwhile.
    """
    config = load_config(config_path)
    done = compaction.compact(config.path(config.store), timedelta(seconds=-1) if now else None)
    if as_json:
        print_json(_compaction_json(done))
    else:
        click.echo(_compaction_line(done))


def _compaction_line(done: Compaction) -> str:
    """The result of a compaction as text."""
    merged = (
        f"{count(done.merged, 'batch', 'batches')} merged into {done.made:,}"
        if done.merged
        else "nothing was due"
    )
    deleted = (
        f"{count(done.deleted, 'merged batch', 'merged batches')} deleted, {done.waiting:,} wait"
    )
    return f"{merged}; {count(done.counting, 'batch', 'batches')} to open; {deleted}"


def _compaction_json(done: Compaction) -> dict[str, Any]:
    """The result of a compaction as JSON values."""
    return {
        "merged": done.merged,
        "made": done.made,
        "deleted": done.deleted,
        "waiting": done.waiting,
        "batches": done.counting,
    }
