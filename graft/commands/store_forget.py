"""The command `graft store forget`: the store without what came from a source."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors.store import forget as forgetting
from dbt_graft.collectors.store.forget import ForgottenLogs, count_forgotten, stored_origins
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.commands.shared_options import waits
from dbt_graft.graft.commands.store_origins import match_origins
from dbt_graft.graft.project.lineage_index import remove_lineage_index
from dbt_graft.graft.steps.turn import turn
from dbt_graft.lineage.errors import GraftError

_SHOWN = 10


@click.command(
    epilog="\b\nExit codes: 0 done; 1 nothing came from SOURCE, or it was not confirmed; 2 "
    "invalid command line or graft.yml; 5 another graft works on this store (--no-wait).\n\n"
    "\b\nExamples:\n"
    "  graft store forget logs/old/\n"
    "  graft store forget mssql://crm:1433 --yes\n"
    "  graft store forget 'events/app-2025*' --json",
)
@click.argument("names", metavar="SOURCE...", nargs=-1, required=True)
@config_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@waits
@json_option
def forget(
    names: Sequence[str],
    config_path: Path | None,
    wait: timedelta,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove everything that came from SOURCE.

    SOURCE is a source, server or namespace as graft.yml names it, a log, a folder above logs, or a
    pattern of logs in which * stands for any text. The next collect reads again what graft.yml
    still names: take it out there to forget it for good. With --json nothing is removed without
    --yes.
    """
    config = load_config(config_path)
    store_path = config.path(config.store)
    with turn(config, wait, lambda text: click.echo(text, err=True)):
        listed = stored_origins(store_path)
        origins = sorted(
            {origin for name in names for origin in match_origins(config, listed, name)}
        )
        removal = count_forgotten(store_path, origins)
        if not as_json:
            for line in _forgotten_lines(removal):
                click.echo(line)
        if sure := yes or (not as_json and _confirm_removal(removal)):
            forgetting.forget(store_path, origins)
            remove_lineage_index(config)
    if as_json:
        print_json(_forgotten_json(removal, done=sure))
    elif sure:
        click.echo(
            "removed; files with what was removed are deleted after an hour by a collect or "
            "`graft store compact`, or now by `graft store compact --now`"
        )
    else:
        raise GraftError(
            "nothing was removed", place="graft store forget", remedy="confirm it, or add --yes"
        )


def _confirm_removal(removal: ForgottenLogs) -> bool:
    if not sys.stdin.isatty():
        return False
    return click.confirm(f"Remove {count(len(removal.origins), 'log')} from the store?", err=True)


def _forgotten_lines(removal: ForgottenLogs) -> Iterator[str]:
    """Logs that are to be removed, and their rows."""
    shown = [one_line(origin) for origin in removal.origins[:_SHOWN]]
    yield from shown
    if len(removal.origins) > _SHOWN:
        yield f"and {len(removal.origins) - _SHOWN:,} more"
    rows = ", ".join(f"{number:,} {table}" for table, number in removal.rows.items())
    yield (
        f"{count(len(removal.origins), 'log')} in {count(removal.batches, 'batch', 'batches')}: "
        f"{rows or 'no rows'}"
    )


def _forgotten_json(removal: ForgottenLogs, *, done: bool) -> dict[str, Any]:
    """Logs that were, or are to be, removed, as JSON values."""
    return {
        "removed": done,
        "origins": list(removal.origins),
        "rows": dict(removal.rows),
        "batches": removal.batches,
    }
