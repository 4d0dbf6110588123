"""The command `graft export`: the lineage for other tools."""

from __future__ import annotations

import click

from dbt_graft.graft.commands.lazy import LazyGroup

# Purpose -> command -> the module that has it, and its line in `graft export --help`.
EXPORTS = {
    "Formats": {
        "airflow-lineage": (
            "export_airflow_lineage",
            "Write what each task reads and writes, for the extractor in Airflow.",
        ),
        "declared": (
            "export_declared",
            "Print the declared lineage that settles drift, as YAML.",
        ),
        "dag-factory": ("export_dag_factory", "Write the tasks' order as DAGs for Airflow."),
        "openlineage": ("export_openlineage", "Write or send the lineage as OpenLineage events."),
        "run-manifest": (
            "export_run_manifest",
            "Write what a run read and wrote, by which code, and what tests found then.",
        ),
    }
}


@click.group(
    cls=LazyGroup,
    lazy=EXPORTS,
    epilog="\b\nExample: graft export openlineage --out events.ndjson",
)
def export() -> None:
    """Write the lineage for other tools."""
