"""The command `graft export declared`: the YAML of declared lineage that settles drift."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import yaml

from dbt_graft.analysis.checks.drift import ENOUGH, drift, proposed_flows
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import ColumnEdge, Evidence, Masking, Subtype


@click.command(
    "declared",
    epilog="\b\nExamples:\n  graft export declared\n  graft export declared > proposed.yml",
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
    are no phantoms, with their columns. Put them in place of the task's `flows`; its other keys
    stay as they are.
    """
    lineage = AskedLineage(load_config(config_path)).described.lineage
    tasks = proposed_flows(lineage, drift(lineage, runs))
    if not tasks:
        click.echo("nothing drifted: there is nothing to propose", err=True)
        return
    columns = group_by_key(
        (edge.task, edge)
        for edge in lineage.column_edges
        if edge.evidence is Evidence.DECLARED and not edge.place
    )
    document = {
        "version": 1,
        "tasks": {
            task: {"flows": [_flow(*flow, columns.get(task, ())) for flow in flows]}
            for task, flows in tasks.items()
        },
    }
    click.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), nl=False)


def _flow(
    sources: Sequence[DatasetId], targets: Sequence[DatasetId], edges: Iterable[ColumnEdge]
) -> dict[str, Any]:
    """A flow as it is declared, with the columns that are declared between its ends."""
    columns: dict[str, dict[str, list[Any]]] = {}
    for edge in edges:
        if edge.from_dataset in sources and edge.to_dataset in targets:
            outputs = columns.setdefault(str(edge.to_dataset), {})
            outputs.setdefault(edge.to_column, []).append(_upstream(edge))
    parts = {"from": [*map(_end, sources)], "to": [*map(_end, targets)], "columns": columns}
    return {key: part for key, part in parts.items() if part}


def _end(dataset: DatasetId) -> str | dict[str, str]:
    """A dataset as text, or by its parts where the text would mean another one."""
    if parse_dataset_id(str(dataset)) == dataset:
        return str(dataset)
    return {"namespace": dataset.namespace, "name": dataset.name}


def _upstream(edge: ColumnEdge) -> str | dict[str, str | bool]:
    column = f"{edge.from_dataset}.{edge.from_column}"
    if edge.subtype is Subtype.IDENTITY and not edge.masking:
        return column
    masked_by = edge.masked_by.value if edge.masked_by is not Masking.NONE else True
    return {
        "column": column,
        "how": edge.subtype.value,
        **({"masking": masked_by} if edge.masking else {}),
    }
