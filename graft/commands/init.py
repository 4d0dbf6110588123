"""The command `graft init`: a first graft.yml."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.graft.steps.start import write_config


@click.command(epilog="\b\nExample: graft init dbt_project")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--force", is_flag=True, help="Overwrite an existing graft.yml.")
def init(folder: Path, *, force: bool) -> None:
    """Write a commented graft.yml beside the dbt project in FOLDER."""
    path = write_config(folder, force=force)
    click.echo(f"wrote {path}; add your logs under `collect`, then run `graft build`")
