"""The commands `graft store`: look after the lineage store."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors.store.backup import back_up
from dbt_graft.collectors.store.clean import clean_store
from dbt_graft.collectors.store.compaction import compact
from dbt_graft.collectors.store.contents import store_contents
from dbt_graft.collectors.store.forget import ForgottenLogs, count_forgotten, forget, stored_origins
from dbt_graft.collectors.store.retention import purge_store
from dbt_graft.graft.commands import store_text
from dbt_graft.graft.commands.command import CommandGroup, config_option, load_config
from dbt_graft.graft.commands.store_origins import group_by_source, match_origins
from dbt_graft.graft.doctor.store_files import secrets_line
from dbt_graft.graft.project.config import FILE_NAME, ConfigError
from dbt_graft.graft.steps.turn import Duration, turn
from dbt_graft.lineage.errors import GraftError

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_wait_option = click.option(
    "--wait",
    type=Duration(),
    metavar="DURATION",
    default=timedelta(hours=1),
    help="How long to wait for another graft that works on this store.  [default: 1h]",
)
_no_wait_option = click.option("--no-wait", is_flag=True, help="Do not wait: end with 5.")


@click.group(
    cls=CommandGroup, epilog="\b\nExample: graft store info && graft store backup /backup/store"
)
def store() -> None:
    """Look after the lineage store: info, clean, compact, purge, forget, backup."""


@store.command(
    epilog="\b\nExit codes: 0 shown; 1 the store is damaged or cannot be read; 2 invalid command "
    "line or graft.yml.\n\n"
    "\b\nExamples:\n"
    "  graft store info\n"
    "  graft store info --json | jq '.tables'"
)
@config_option
@_json_option
def info(config_path: Path | None, *, as_json: bool) -> None:
    """Show the contents of the store: batches, files, rows, logs. Nothing is written."""
    config = load_config(config_path)
    contents = store_contents(config.path(config.store))
    logs = group_by_source(config, [log.origin for log in contents.logs])
    if as_json:
        _print_json(store_text.contents_json(contents, logs))
    else:
        for line in store_text.contents_lines(contents, logs):
            click.echo(line)


@store.command(
    name="clean",
    epilog="\b\nExit codes: 0 done, or there were none; 1 the store is damaged or cannot be "
    "written; 2 invalid command line or graft.yml; 5 another graft works on this store "
    "(--no-wait).\n\n"
    "\b\nExamples:\n"
    "  graft store clean && graft build --full\n"
    "  graft store clean --json",
)
@config_option
@_wait_option
@_no_wait_option
@_json_option
def clean(config_path: Path | None, wait: timedelta, *, no_wait: bool, as_json: bool) -> None:
    """Take out passwords and keys that earlier versions stored in names.

    Their batches are written again, addresses of pages with them are given up, and copies from
    before an upgrade are deleted. Backups are yours to delete.
    """
    config = load_config(config_path)
    with turn(config, timedelta(0) if no_wait else wait, lambda text: click.echo(text, err=True)):
        secrets = clean_store(config.path(config.store))
    if as_json:
        _print_json(secrets.to_json())
    elif secrets:
        click.echo(f"taken out: {secrets_line(secrets)}")
        click.echo("publish the site again: graft build --full; and change what they open")
    else:
        click.echo("no secrets were found")


@store.command(
    name="compact",
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
@_json_option
def compact_store(config_path: Path | None, *, now: bool, as_json: bool) -> None:
    """Merge small batches into few.

    Each collect does so by itself when it is due. Other commands may work on the store meanwhile.
    """
    config = load_config(config_path)
    done = compact(config.path(config.store), timedelta(seconds=-1) if now else None)
    if as_json:
        _print_json(store_text.compaction_json(done))
    else:
        click.echo(store_text.compaction_line(done))


@store.command(
    name="purge",
    epilog="\b\nExit codes: 0 done, or nothing is that old; 1 the store is damaged or cannot be "
    "written; 2 invalid command line or graft.yml, or it has no `keep`; 5 another graft works on "
    "this store (--no-wait).\n\n"
    "\b\nExamples:\n"
    "  graft store purge --dry-run\n"
    "  graft store purge --json",
)
@config_option
@click.option("--dry-run", is_flag=True, help="Count what is older, and change nothing.")
@_wait_option
@_no_wait_option
@_json_option
def purge_runs(
    config_path: Path | None, wait: timedelta, *, dry_run: bool, no_wait: bool, as_json: bool
) -> None:
    """Fold runs for good, and drop texts of statements, that are older than `keep` says.

    No table, task, edge, first or last run or count is lost. A collect does so by itself, each
    time that a twelfth of the time has passed.
    """
    config = load_config(config_path)
    retention = config.keep.retention
    if not retention.runs and not retention.statements:
        raise ConfigError(
            "has no `keep`",
            place=FILE_NAME,
            remedy="say what is old: keep: {runs: 400d, statements: 90d}",
        )

    def say(text: str) -> None:
        click.echo(text, err=True)

    with turn(config, timedelta(0) if no_wait else wait, say):
        done = purge_store(
            config.path(config.store),
            retention,
            datetime.now(UTC),
            dry_run=dry_run,
            on_progress=say,
        )
    if as_json:
        _print_json(store_text.purged_json(done, dry_run=dry_run))
    else:
        for line in store_text.purged_lines(done, dry_run=dry_run):
            click.echo(line)


@store.command(
    name="forget",
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
@_wait_option
@_no_wait_option
@_json_option
def forget_logs(
    names: Sequence[str],
    config_path: Path | None,
    wait: timedelta,
    *,
    yes: bool,
    no_wait: bool,
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
    with turn(config, timedelta(0) if no_wait else wait, lambda text: click.echo(text, err=True)):
        listed = stored_origins(store_path)
        origins = sorted(
            {origin for name in names for origin in match_origins(config, listed, name)}
        )
        removal = count_forgotten(store_path, origins)
        if not as_json:
            for line in store_text.forgotten_lines(removal):
                click.echo(line)
        if sure := yes or (not as_json and _confirm_removal(removal)):
            forget(store_path, origins)
    if as_json:
        _print_json(store_text.forgotten_json(removal, done=sure))
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


@store.command(
    name="backup",
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
@_json_option
def backup(target: str, config_path: Path | None, *, as_json: bool) -> None:
    """Copy the store to PATH: a new folder or URL, or one with an earlier backup.

    Other commands may work on the store meanwhile. Of an earlier backup only what changed is
    copied.
    """
    config = load_config(config_path)
    done = back_up(config.path(config.store), target)
    answer: dict[str, Any] = {"batches": done.batches, "files": done.files, "bytes": done.bytes}
    if as_json:
        _print_json({"store": config.path(config.store), "backup": target, **answer})
    else:
        click.echo(
            f"{target}: {count(done.batches, 'batch', 'es')}; {count(done.files, 'file')} with "
            f"{store_text.size(done.bytes)} copied now"
        )


def _print_json(value: dict[str, Any]) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))
