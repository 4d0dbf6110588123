"""The commands that run the steps: init, collect, inject, site, build; and what they need."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.collectors import store
from dbt_graft.collectors.declared.source import schema as declared_schema
from dbt_graft.graft.commands.answering import FAILS
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.config import Config, json_schema
from dbt_graft.graft.project.damaged_store import is_damage
from dbt_graft.graft.project.outputs import check_outputs
from dbt_graft.graft.project.past import Moment, takes_as_of
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.steps import collecting
from dbt_graft.graft.steps import inject as pipeline
from dbt_graft.graft.steps.collecting import CollectResult
from dbt_graft.graft.steps.dbt_docs import generate_dbt_docs
from dbt_graft.graft.steps.sites import publish_sites
from dbt_graft.graft.steps.start import write_config
from dbt_graft.graft.steps.summary import Summary
from dbt_graft.graft.steps.turn import takes_turns
from dbt_graft.injector import artifacts
from dbt_graft.injector.report import Report
from dbt_graft.injector.report_text import render_report
from dbt_graft.lineage.errors import write_error
from dbt_graft.lineage.gaps import gaps


def _reports(command: Callable[..., Summary]) -> Callable[..., None]:
    """Add the options that every step has, and print its summary at the end."""

    @config_option
    @click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
    @click.option(
        "-q", "--quiet", is_flag=True, help="Show no progress, only errors and the summary."
    )
    @click.option("--strict", is_flag=True, help="Exit with 3 if log input was rejected.")
    @functools.wraps(command)
    def run(
        config_path: Path | None, as_json: bool, quiet: bool, strict: bool, **options: Any
    ) -> None:
        summary = command(load_config(config_path), Progress(quiet=quiet), **options)
        if as_json:
            click.echo(orjson.dumps(summary.to_json(), option=orjson.OPT_INDENT_2))
        else:
            click.echo(str(summary))
        if summary.damaged:
            sys.exit(1)
        sys.exit(FAILS if strict and summary.rejects else 0)

    return run


@click.command(epilog="\b\nExample: graft init dbt_project")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--force", is_flag=True, help="Overwrite an existing graft.yml.")
def init(folder: Path, *, force: bool) -> None:
    """Write a commented graft.yml beside the dbt project in FOLDER."""
    path = write_config(folder, force=force)
    click.echo(f"wrote {path}; add your logs under `collect`, then run `graft build`")


@click.command(epilog="\b\nExample: graft collect --json")
@click.option(
    "--again",
    is_flag=False,
    flag_value="",
    metavar="[SOURCE]",
    help="Read all logs again, or those of SOURCE: a path or URL below `collect`. The lineage of "
    "logs that are gone stays.",
)
@_reports
@takes_turns("artifacts")
def collect(config: Config, progress: Progress, *, again: str | None) -> Summary:
    """Read new logs into the lineage store."""
    collected = collecting.collect(config, progress, again=again)
    store_folder = config.path(config.store)
    records = store.read(store_folder)
    return Summary(
        store=store_folder,
        new_logs=collected.new_logs,
        rejects=tuple(dict.fromkeys((*records.rejects, *collected.unreadable))),
        unread=collected.unreadable,
        noise=store.noise(store_folder),
        gaps=gaps(records.shapes.values()),
    )


_allow_empty = click.option(
    "--allow-empty",
    is_flag=True,
    help="Go on with a lineage store that is empty, though the last build had lineage.",
)


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
@_allow_empty
@_reports
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


_full = click.option(
    "--full", is_flag=True, help="Make every page again, also those that did not change."
)


@click.command(epilog="\b\nExample: graft site && graft serve")
@_full
@_allow_empty
@_reports
@takes_as_of("site.out")
@takes_turns()
def site(
    config: Config, progress: Progress, *, full: bool, allow_empty: bool, past: Moment | None
) -> Summary:
    """Build the site from the store and dbt's artifacts, without reading logs."""
    grafted = pipeline.graft(config, progress, allow_empty=allow_empty, results=True, past=past)
    published = publish_sites(config, progress, grafted, full=full, past=past)
    return pipeline.summary(config, grafted, site=published)


@click.command(epilog="\b\nExample: graft build --dbt --strict")
@click.option(
    "--dbt", "run_dbt", is_flag=True, help="Run the project's dbt first: `dbt docs generate`."
)
@_full
@_allow_empty
@_reports
@takes_as_of("site.out")
@takes_turns()
def build(
    config: Config,
    progress: Progress,
    *,
    run_dbt: bool,
    full: bool,
    allow_empty: bool,
    past: Moment | None,
) -> Summary:
    """Run collect, inject and site."""
    if run_dbt:
        generate_dbt_docs(config, progress)
    collected = _collect_logs(config, progress)
    grafted = pipeline.graft(
        *(config, progress, collected.unreadable),
        allow_empty=allow_empty,
        results=True,
        past=past,
    )
    published = publish_sites(config, progress, grafted, full=full, past=past)
    return pipeline.summary(config, grafted, collected, published)


def _collect_logs(config: Config, progress: Progress) -> CollectResult:
    """New logs, collected; none of them into a damaged store, of which the rest is published."""
    try:
        return collecting.collect(config, progress)
    except store.StoreError as error:
        if not is_damage(error):
            raise
        progress.warn(f"nothing was collected: {error}")
        return CollectResult()


@click.command(
    epilog="\b\nExamples:\n"
    "  graft schema > graft.schema.json\n"
    "  graft schema declared > declared-lineage.schema.json"
)
@click.argument("name", type=click.Choice(["graft", "declared"]), default="graft")
def schema(name: str) -> None:
    """Print the JSON schema of graft.yml, or of another file, for an editor or a CI job.

    `declared` is that of files of declared lineage. Those of answers are in docs/schemas/.
    """
    document = json_schema() if name == "graft" else declared_schema()
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
