"""The command `graft init`: a first graft.yml."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.graft.steps.start import write_config


@click.command(epilog="\b\nExample: graft init dbt_project")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--force", is_flag=True, help="Overwrite an existing graft.yml.")
def init(folder: Path, *, force: bool) -> None:
    """Write a commented graft.yml beside the dbt project in FOLDER.

    It names the logs that lie there: event logs of Spark, Extended Events, OpenLineage events,
    declared lineage.
    """
    written = write_config(folder, force=force)
    click.echo(f"wrote {written.path}")
    logs = written.logs
    for places, noun in (
        (logs.spark, "event logs of Spark"),
        (logs.xel, "Extended Events"),
        (logs.openlineage, "events of OpenLineage"),
        (logs.declared, "declared lineage"),
    ):
        for place in places:
            click.echo(f"found {noun} in {place}")
    click.echo(written.next_step)
