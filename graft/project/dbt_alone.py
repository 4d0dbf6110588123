"""The note where nothing was collected yet."""

from __future__ import annotations

import click

from dbt_graft.graft.project.config import Config


def note_dbt_alone(config: Config) -> None:
    """Say that nothing was collected yet."""
    store_folder = config.path(config.store)
    click.echo(
        f"note: {store_folder}: nothing was collected yet: this is dbt's lineage alone", err=True
    )
