"""The commands `graft privacy`: where sensitive values are, and how they came there."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.privacy.report import privacy_json, privacy_lines
from dbt_graft.analysis.privacy.report_markdown import privacy_markdown
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import CommandGroup, config_option, load_config
from dbt_graft.graft.project.past import Moment, as_of_option
from dbt_graft.graft.project.privacy_report import privacy_report
from dbt_graft.graft.project.project import LineageView, Project

FAILS = 8
_LINES = 30


@click.group(cls=CommandGroup, epilog="\b\nExample: graft privacy report --json")
def privacy() -> None:
    """Show where sensitive values are, and how they came there: report."""


@privacy.command(
    epilog="\b\nExit codes: 0 answered; 1 the project cannot be read; 2 invalid command line or "
    "graft.yml; 8 there are findings (--check).\n\n"
    "\b\nExamples:\n"
    "  graft privacy report\n"
    "  graft privacy report --json | jq '.findings'\n"
    "  graft privacy report --format markdown --all > privacy.md\n"
    "  graft privacy report --check"
)
@config_option
@click.option("--check", is_flag=True, help="End with 8 where there are findings.")
@click.option("--all", "everything", is_flag=True, help="Cut nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    show_default=True,
    help="Output format: markdown for a comment or a wiki.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@as_of_option
def report(
    config_path: Path | None,
    *,
    check: bool,
    everything: bool,
    form: str,
    as_json: bool,
    past: Moment | None,
) -> None:
    """Show all sensitive columns, with the way on which the values came there.

    Labels of columns are those of dbt's tags and meta, and of `privacy` in graft.yml; they go along
    all edges that carry values. Findings are sensitive columns that nothing labels, that reports
    read, or that are in files, and labels that are too low. Nothing is written.
    """
    config = load_config(config_path)
    overview = privacy_report(config, Project(config).described(LineageView(past)))
    most = None if everything else _LINES
    if as_json or form == "json":
        click.echo(orjson.dumps(privacy_json(overview), option=orjson.OPT_INDENT_2))
    elif form == "markdown":
        click.echo(privacy_markdown(overview, most), nl=False)
    else:
        for line in privacy_lines(overview, most):
            click.echo(one_line(line))
    sys.exit(FAILS if check and overview.findings else 0)
