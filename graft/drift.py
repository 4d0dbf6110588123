"""The command `graft drift`: declared lineage against what runs are seen to do."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft import __version__
from dbt_graft.graft.command import config_option, load_config
from dbt_graft.graft.dag_check import finding_line, order_json
from dbt_graft.graft.described_lineage import described_lineage
from dbt_graft.graft.doctor.phrases import count
from dbt_graft.graft.drift_report import DriftReport, drift_report
from dbt_graft.graft.freshness import iso
from dbt_graft.graft.terminal import one_line
from dbt_graft.graft.turn import Duration
from dbt_graft.lineage.column_drift import ColumnDrift, ColumnDriftStatus
from dbt_graft.lineage.drift import ENOUGH, DriftEdge, DriftStatus

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
_ORDER = [
    DriftStatus.PHANTOM,
    DriftStatus.UNDECLARED,
    DriftStatus.UNVERIFIED,
    DriftStatus.VERIFIED,
]


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def drift(
    config_path: Path | None,
    runs: int,
    since: timedelta | None,
    dags: tuple[Path, ...],
    *,
    check: bool,
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
    report = drift_report(config, described_lineage(config), runs, begin, dags)
    if as_json:
        click.echo(orjson.dumps(_json(report, begin), option=orjson.OPT_INDENT_2))
    else:
        for place, why in report.unreadable:
            click.echo(one_line(f"{place}: {why}"), err=True)
        for line in _lines(report):
            click.echo(one_line(line))
    sys.exit(FAILS if check and report.has_drifted else 0)


def _json(report: DriftReport, since: datetime | None) -> dict[str, Any]:
    edges = report.edges
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "since": iso(since),
        "counts": {one.value: count for one, count in _counts(edges).items()},
        "edges": [
            {
                "task": one.task,
                "dataset": str(one.dataset),
                "direction": one.direction.value,
                "status": one.status.value,
                "runs": one.runs,
                "sources": list(one.sources),
                "first_at": iso(one.first_at),
                "last_at": iso(one.last_at),
            }
            for one in edges
        ],
        "columns": [
            {
                "dataset": str(one.dataset),
                "column": one.column,
                "status": one.status.value,
                "catalog_type": one.in_catalog or None,
                "seen_type": one.seen or None,
                "seen_at": iso(one.seen_at),
            }
            for one in report.columns
        ],
        "dags": [order_json(one) for one in report.orders],
    }


def _counts(edges: Sequence[DriftEdge]) -> dict[DriftStatus, int]:
    found = Counter(one.status for one in edges)
    return {status: found[status] for status in _ORDER}


def _lines(report: DriftReport) -> Iterator[str]:
    yield from _edge_lines(report.edges)
    if report.columns:
        counts = Counter(one.status for one in report.columns)
        named = (f"{number:,} {status.value.lower()}" for status, number in sorted(counts.items()))
        yield f"columns: {', '.join(named)}"
        for one in report.columns:
            yield f"  {one.status.value:<10} {one.dataset}.{one.column}  {column_text(one)}"
    if report.dags is not None:
        outcome = "" if report.orders else ": in the order that lineage demands"
        yield f"{count(report.dags, 'DAG')}{outcome}"
        yield from (f"  {finding_line(one)}" for one in report.orders)


def _edge_lines(edges: Sequence[DriftEdge]) -> Iterator[str]:
    if not edges:
        yield "nothing is declared of any task or dbt model that could be compared"
        return
    counts = _counts(edges)
    yield ", ".join(f"{count:,} {status.value.lower()}" for status, count in counts.items())
    for status in _ORDER[:-1]:
        for one in edges:
            if one.status is status:
                edge = f"{one.task} {one.direction.value}s {one.dataset}"
                yield f"  {status.value:<10} {edge}{_why(one)}"


def column_text(one: ColumnDrift) -> str:
    """The reason, in a few words."""
    seen = f"seen last at {one.seen_at:%Y-%m-%d %H:%M}" if one.seen_at else "seen"
    if one.status is ColumnDriftStatus.UNDECLARED:
        return f"{seen}, not in the catalog"
    if one.status is ColumnDriftStatus.RETYPED:
        return f"{one.in_catalog} in the catalog, {one.seen} {seen}"
    return "described in YAML, and neither in the catalog nor in a log"


def _why(edge: DriftEdge) -> str:
    runs = f"{edge.runs:,} run{'' if edge.runs == 1 else 's'}"
    if edge.status is DriftStatus.PHANTOM:
        return f"  declared, and in none of {runs}"
    if edge.status is DriftStatus.UNVERIFIED:
        return f"  declared; {runs} known"
    seen = f"seen last at {edge.last_at:%Y-%m-%d %H:%M}" if edge.last_at else "seen"
    return f"  {seen}, not declared"
