"""The command `graft quality`: failed tests and late data, and who has them downstream."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.quality.carriers import has_data_of
from dbt_graft.analysis.quality.deadlines import forecasts
from dbt_graft.analysis.quality.downstream import faults_downstream
from dbt_graft.analysis.quality.faults import count_tests, quality_faults
from dbt_graft.analysis.quality.history import short_histories, write_history
from dbt_graft.analysis.quality.report import QualityReport, quality_json, quality_lines
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dated_lineage import dated_lineage
from dbt_graft.graft.project.impact_graph import impact_graph
from dbt_graft.graft.project.past import Moment
from dbt_graft.graft.project.project import LineageView, Project
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage

FAILS = 8
_LINES = 20


@click.command(
    epilog="\b\nExit codes: 0 answered; 1 the project cannot be read; 2 invalid command line or "
    "graft.yml; 8 a fault reaches a consumer, or a deadline is missed or will be (--check).\n\n"
    "\b\nExamples:\n"
    "  graft quality\n"
    "  graft quality --at 2026-11-22T06:30 --check\n"
    "  graft quality --json | jq '.deadlines[] | select(.status == \"will miss\")'"
)
@config_option
@click.option(
    "--at",
    type=click.DateTime(["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"]),
    help="The moment in UTC that is reported.  [default: now]",
)
@click.option("--check", is_flag=True, help="End with 8 if somebody downstream should know.")
@click.option("--all", "everything", is_flag=True, help="Cut nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def quality(
    config_path: Path | None, at: datetime | None, *, check: bool, everything: bool, as_json: bool
) -> None:
    """Show who reads data whose tests failed, or that is late.

    Failed tests, sources without new rows and failed writes go downstream along columns and tables
    to those who have the data. Consumers with a deadline or a freshness SLO get a forecast by the
    history of runs. Nothing is written, and Spark is not started.
    """
    config = load_config(config_path)
    now = datetime.now(UTC)
    moment = at.replace(tzinfo=UTC) if at else now
    past = Moment(moment, f"{moment:%Y-%m-%d %H:%M} UTC") if at and moment < now else None
    described = Project(config).described(LineageView(past))
    # The newest 30 runs of an hourly task are of a day.
    if past is None and (tasks := short_histories(described.lineage, described.consumers, now)):
        dated = dated_lineage(config, lambda _: tasks)
        described = replace(described, lineage=dated.history.lineage)
    report = quality_report(config, described, moment)
    if as_json:
        click.echo(orjson.dumps(quality_json(report), option=orjson.OPT_INDENT_2))
    else:
        for line in quality_lines(report, None if everything else _LINES):
            click.echo(one_line(line))
    sys.exit(FAILS if check and report.is_bad else 0)


def quality_report(config: Config, described: DescribedLineage, at: datetime) -> QualityReport:
    """The faults, what they reach, and the forecasts at a moment."""
    lineage, descriptions = described.lineage, described.descriptions
    history = write_history(lineage, descriptions)
    faults = quality_faults(lineage, descriptions)
    below = faults_downstream(
        impact_graph(config, described), faults, has_data_of(lineage, history)
    )
    writers: dict[DatasetId, list[str]] = {}
    for dataset, names in lineage.writer_names().items():
        writers[dataset] = list(names)
    for definition in lineage.definitions.values():
        writers.setdefault(definition.dataset, [definition.name])
    return QualityReport(
        at,
        faults,
        below,
        described.consumers,
        forecasts(history, described.consumers, at),
        count_tests(lineage, descriptions),
        writers,
    )
