"""The command `graft export declared`: the YAML of declared lineage that settles drift."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
import yaml

from dbt_graft.analysis.checks.drift import ENOUGH, drift, proposed_flows
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.lineage.dataset import DatasetId


@click.command(
    "declared",
    epilog="\b\nExamples:\n  graft export declared\n  graft export declared > lineage/proposed.yml",
)
@config_option
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=ENOUGH,
    show_default=True,
    help="So many runs without a trace of a declared edge make it a phantom.",
)
def declared(config_path: Path | None, runs: int) -> None:
    """Print the flows that would settle what `graft check --only drift` finds.

    Of each task that drifted all its flows: those that were seen, and those that are declared and
    are no phantoms. Put them in place of the task's `flows`; its other keys stay as they are.
    """
    lineage = AskedLineage(load_config(config_path)).described.lineage
    tasks = proposed_flows(lineage, drift(lineage, runs))
    if not tasks:
        click.echo("nothing drifted: there is nothing to propose", err=True)
        return
    document = {
        "version": 1,
        "tasks": {
            task: {"flows": [_flow(*flow) for flow in flows]} for task, flows in tasks.items()
        },
    }
    click.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), nl=False)


def _flow(sources: Iterable[DatasetId], targets: Iterable[DatasetId]) -> dict[str, list[str]]:
    ends = {"from": [*map(str, sources)], "to": [*map(str, targets)]}
    return {side: names for side, names in ends.items() if names}
