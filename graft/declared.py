"""`graft declared`: files of declared lineage, checked in CI."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import orjson

from dbt_graft.collectors.declared.source import read
from dbt_graft.collectors.declared.source import schema as json_schema
from dbt_graft.graft.annotations import annotation, findings
from dbt_graft.graft.command import CommandGroup
from dbt_graft.lineage.errors import GraftError


@click.group(cls=CommandGroup, epilog="\b\nExample: graft declared check lineage/*.yml")
def declared() -> None:
    """Check files of declared lineage, or print their JSON schema."""


@declared.command(epilog="\b\nExample: graft declared check lineage/*.yml")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "github"]),
    default="text",
    show_default=True,
    help="With github, errors are also annotations for a pull request.",
)
def check(files: tuple[Path, ...], form: str) -> None:
    """Check FILES, and print each error with its line; exit with 2 if there is one."""
    faults = 0
    for path in files:
        try:
            read(path)
        except GraftError as error:
            click.echo(str(error), err=True)
            if form == "github":
                click.echo("\n".join(map(annotation, findings(error))))
            faults += 1
    click.echo(f"{len(files) - faults:,} of {len(files):,} files are valid")
    sys.exit(2 if faults else 0)


@declared.command(epilog="\b\nExample: graft declared schema > declared-lineage.schema.json")
def schema() -> None:
    """Print the JSON schema, for an editor or a CI job."""
    click.echo(orjson.dumps(json_schema(), option=orjson.OPT_INDENT_2))
