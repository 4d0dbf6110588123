"""The command `graft inject`: the lineage into copies of dbt's artifacts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import orjson

from dbt_graft.graft.commands.shared_options import takes_as_of
from dbt_graft.graft.commands.step import allow_empty_option, prints_summary
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.outputs import check_outputs
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.steps import inject as pipeline
from dbt_graft.graft.steps.summary import Summary
from dbt_graft.injector import artifacts
from dbt_graft.injector.report import Report
from dbt_graft.injector.report_text import render_report
from dbt_graft.lineage.errors import write_error


@click.command(epilog="\b\nExample: graft inject && dbt docs serve --target-path .graft/artifacts")
@click.option(
    "--report",
    "report",
    is_flag=False,
    flag_value="-",
    metavar="[FILE]",
    help="Report every change and decision, or write them to FILE (text) and FILE's .json.",
)
@click.option("--undo", is_flag=True, help="Restore the values that dbt wrote.")
@click.option(
    "--validate",
    is_flag=True,
    help="Check the result, with dbt's own loader and JSON schema where dbt-core is installed.",
)
@allow_empty_option
@prints_summary
@takes_as_of("artifacts")
def inject(
    config: Config,
    progress: Progress,
    *,
    report: str | None,
    undo: bool,
    validate: bool,
    allow_empty: bool,
    past: Moment | None,
) -> Summary:
    """Add the lineage in the store to copies of dbt's artifacts."""
    if undo:
        folder = Path(config.path(config.artifacts))
        artifacts.undo(folder)
        return Summary(config.path(config.store), artifacts=str(folder))
    check_outputs(config, "artifacts")
    inspect = validate or report is not None
    grafted = pipeline.graft(
        *(config, progress),
        inspect=inspect,
        validate=validate,
        allow_empty=allow_empty,
        past=past,
    )
    summary = pipeline.summary(config, grafted)
    if report == "-":
        return replace(summary, report=grafted.report)
    if report:
        _write_report(Path(report), grafted.report)
    return summary


def _write_report(path: Path, report: Report) -> None:
    try:
        path.write_text(render_report(report), encoding="utf-8")
        content = orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2)
        path.with_suffix(".json").write_bytes(content)
    except OSError as error:
        raise write_error(error, path, "name another file as `--report`") from error
