"""The options that the commands of steps share, and their summary at the end."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dbt_graft.graft.commands.answering import FAILS
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.steps.summary import Summary

allow_empty_option = click.option(
    "--allow-empty",
    is_flag=True,
    help="Go on with a lineage store that is empty, though the last build had lineage.",
)


full_option = click.option(
    "--full", is_flag=True, help="Make every page again, also those that did not change."
)


def prints_summary(command: Callable[..., Summary]) -> Callable[..., None]:
    """Add the options that every step has, and print its summary at the end."""

    @config_option
    @json_option
    @click.option(
        "-q", "--quiet", is_flag=True, help="Show no progress, only errors and the summary."
    )
    @click.option("--strict", is_flag=True, help="Exit with 3 if log input was rejected.")
    @functools.wraps(command)
    def run(
        config_path: Path | None, as_json: bool, quiet: bool, strict: bool, **options: Any
    ) -> None:
        summary = command(load_config(config_path), Progress(quiet=quiet), **options)
        if as_json:
            print_json(summary.to_json())
        else:
            click.echo(str(summary))
        if summary.damaged:
            sys.exit(1)
        sys.exit(FAILS if strict and summary.rejects else 0)

    return run
