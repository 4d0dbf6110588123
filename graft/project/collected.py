"""Whether there is any lineage to ask about."""

from __future__ import annotations

import click

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.view import Moment
from dbt_graft.lineage.errors import GraftError


def check_collected(config: Config, past: Moment | None = None) -> None:
    """Refuse to go on without any lineage; say so where it is dbt's alone.

    Raises:
        GraftError: Nothing was collected yet, and there are no artifacts of dbt, or they are not of
            the past.
    """
    from dbt_graft.collectors.store.batches import collected_at  # pyarrow with it

    if collected_at(config.path(config.store)) is None:
        if past or not (config.target_dir / "manifest.json").exists():
            raise not_collected(config)
        note_dbt_alone(config)


def not_collected(config: Config) -> GraftError:
    """The error of who needs lineage of logs."""
    return GraftError(
        "there is no lineage: nothing was collected yet",
        place=config.path(config.store),
        remedy="run `graft collect`",
    )


def note_dbt_alone(config: Config) -> None:
    """Say that nothing was collected yet."""
    store_folder = config.path(config.store)
    click.echo(
        f"note: {store_folder}: nothing was collected yet: this is dbt's lineage alone", err=True
    )
