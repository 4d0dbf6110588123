"""The command `graft drift`: declared lineage against what runs are seen to do."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft import __version__
from dbt_graft.analysis.checks.drift import ENOUGH
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.questions.checks.dag_check import order_json
from dbt_graft.graft.questions.checks.drift_report import DriftReport, drift_report
from dbt_graft.graft.questions.checks.drift_text import drift_lines, status_counts
from dbt_graft.graft.questions.checks.freshness import iso
from dbt_graft.graft.steps.turn import Duration

FAILS = 8
VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/drift.schema.json"
runs_option = click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=ENOUGH,
    show_default=True,
    help="How many runs without a trace of it make a declared edge a phantom.",
)


@click.command(
    epilog="\b\nExit codes: 0 answered; 1 the project cannot be read; 2 invalid command line or "
    "graft.yml; 8 something drifted (--check).\n\n"
    "\b\nExamples:\n"
    "  graft drift\n"
    "  graft drift --since 30d --check\n"
    "  graft drift --dags dags/\n"
    "  graft drift --json | jq '.edges[] | select(.status == \"PHANTOM\")'\n"
    "  graft declared propose"
)
@config_option
@runs_option
@click.option(
    "--since",
    type=Duration(),
    metavar="DURATION",
    help="Look at runs of this time only: 30d.  [default: all that are known]",
)
@click.option(
    "--dags",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE|FOLDER",
    help="Compare the order of these DAGs with lineage: dag-factory's YAML, or OpenLineage events "
    "of Airflow.  [default: `check: {dags: …}` in graft.yml]",
)
@click.option("--check", is_flag=True, help="End with 8 where something drifted.")
@click.option("--all", "everything", is_flag=True, help="List what is verified, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def drift(
    config_path: Path | None,
    runs: int,
    since: timedelta | None,
    dags: tuple[Path, ...],
    *,
    check: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """Compare declared lineage with what runs are seen to do.

    Of each task in files of declared lineage, and of each dbt model that runs on Spark: what is
    declared and seen, what is declared and never seen though it ran, and what is seen and not
    declared. Then columns: dbt's catalog and YAML against what logs show; and the order of DAGs.
    Nothing is written; `graft declared propose` prints the YAML that settles tasks.
    """
    begin = datetime.now(UTC) - since if since else None
    config = load_config(config_path)
    report = drift_report(config, Project(config).described(), runs, begin, dags)
    if as_json:
        click.echo(orjson.dumps(_json(report, begin), option=orjson.OPT_INDENT_2))
    else:
        for path, why in report.unreadable:
            click.echo(one_line(f"{path}: {why}"), err=True)
        for line in drift_lines(report, everything=everything):
            click.echo(one_line(line))
    sys.exit(FAILS if check and report.has_drifted else 0)


def _json(report: DriftReport, since: datetime | None) -> dict[str, Any]:
    edges = report.edges
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "since": iso(since),
        "counts": {status.value: count for status, count in status_counts(edges).items()},
        "edges": [
            {
                "task": edge.task,
                "dataset": str(edge.dataset),
                "direction": edge.direction.value,
                "status": edge.status.value,
                "runs": edge.runs,
                "runs_from": iso(edge.runs_from),
                "run_id": edge.run_id or None,
                "sources": list(edge.sources),
                "first_at": iso(edge.first_at),
                "last_at": iso(edge.last_at),
            }
            for edge in edges
        ],
        "columns": [
            {
                "dataset": str(column.dataset),
                "column": column.column,
                "status": column.status.value,
                "catalog_type": column.in_catalog or None,
                "seen_type": column.seen or None,
                "seen_at": iso(column.seen_at),
            }
            for column in report.columns
        ],
        "dags": [order_json(order) for order in report.orders],
    }
