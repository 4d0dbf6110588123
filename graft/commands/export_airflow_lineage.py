"""The command `graft export airflow-lineage`."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.exporters.airflow_lineage import airflow_lineage as document_of
from dbt_graft.exporters.airflow_lineage import lines
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.output_file import write_file
from dbt_graft.graft.project.project import Project
from dbt_graft.lineage.errors import GraftError


@click.command(
    "airflow-lineage",
    epilog="\b\nExamples:\n"
    "  graft export airflow-lineage --out /opt/airflow/graft-lineage.json\n"
    "  graft export airflow-lineage | jq '.tasks.load_orders.outputs'",
)
@config_option
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to FILE, which is never there in part.  [default: standard output]",
)
def airflow_lineage(config_path: Path | None, out: Path | None) -> None:
    """Write what each task reads and writes, for the extractor in Airflow.

    For the package graft_airflow (docs/airflow.md): inputs, outputs and columns of each task and
    dbt model, and the last write of each dataset, as of the last collect. Spark is not started.
    """
    config = load_config(config_path)
    store_folder = config.path(config.store)
    as_of = collected_at(store_folder)
    if as_of is None:
        problem = "there is no lineage to export: nothing was collected yet"
        raise GraftError(problem, place=store_folder, remedy="run `graft collect`")
    text = lines(document_of(Project(config).described().lineage, as_of))
    if out is None:
        for line in text:
            click.echo(line)
        return
    write_file(out, "".join(f"{line}\n" for line in text).encode("ascii"))
