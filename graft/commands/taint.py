"""The command `graft taint`: what bad data went into, and what must run again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.access_index import Execution
from dbt_graft.analysis.dates.bad_writes import (
    BadWrite,
    bad_dates,
    bad_runs,
    runs_between,
    runs_named,
    runs_of_version,
)
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.analysis.dates.taint_plan import taint_plan
from dbt_graft.analysis.dates.tasks_around import tasks_of_taint
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors import store
from dbt_graft.collectors.public_address import public_address
from dbt_graft.exporters.dag_factory.document import marker
from dbt_graft.exporters.reprocessing.commands import backfills, rerun_steps
from dbt_graft.exporters.reprocessing.dag import reprocessing_dag
from dbt_graft.exporters.reprocessing.document import taint_json
from dbt_graft.exporters.reprocessing.words import taint_markdown, taint_text
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dated_lineage import dated_lineage
from dbt_graft.graft.project.names import find_dataset
from dbt_graft.graft.steps.dag_files import write_files
from dbt_graft.graft.steps.recorded import clear_taint, print_taints, record_taint
from dbt_graft.lineage.dates.date_text import parse_dates
from dbt_graft.lineage.errors import GraftError

_FORMATS = ("text", "json", "markdown", "dag-factory")


@click.command(
    epilog="\b\nExit codes: 0 answered; 1 a name is unknown or ambiguous, or the project cannot "
    "be read;\n2 invalid command line.\n\n"
    "\b\nExamples:\n"
    "  graft taint raw.orders --dates 2026-10-03..2026-10-05\n"
    "  graft taint --run app-20261004-0012 --format markdown\n"
    "  graft taint --task load_orders --code-version 4f1c2d9\n"
    "  graft taint raw.orders --dates 2026-10-03 --record --reason 'double rows' \\\n"
    "      --link https://incidents.example.com/512\n"
    "  graft taint --list\n"
    "  graft taint --clear 3"
)
@click.argument("dataset", required=False)
@config_option
@click.option("--dates", help="The bad dates: 2026-10-03..2026-10-05, 2026-10, 2026-10-03T05.")
@click.option("--run", "run_ids", multiple=True, metavar="RUN", help="A bad run, by its id.")
@click.option("--task", "task_name", metavar="TASK", help="All runs of a task were bad.")
@click.option("--code-version", metavar="VERSION", help="Of the task only those of this version.")
@click.option(
    "--between",
    nargs=2,
    metavar="RUN RUN",
    help="Of two runs of a task the earlier was good: those after it up to the later are bad.",
)
@click.option("--record", is_flag=True, help="Keep the taint in the store, for pages and sensors.")
@click.option("--reason", default="", help="With --record: what happened, in words.")
@click.option("--link", default="", metavar="URL", help="With --record: the incident.")
@click.option("--list", "listed", is_flag=True, help="List the taints on record.")
@click.option("--clear", type=int, metavar="ID", help="A taint on record counts no more.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="With --format dag-factory: the folder for the DAG.  [default: `airflow.out`]",
)
def taint(
    dataset: str | None,
    config_path: Path | None,
    dates: str | None,
    run_ids: Sequence[str],
    task_name: str | None,
    code_version: str | None,
    between: tuple[str, str] | None,
    reason: str,
    link: str,
    clear: int | None,
    form: str,
    out: Path | None,
    *,
    record: bool,
    listed: bool,
    as_json: bool,
) -> None:
    """Show what bad data went into, and what must run again.

    Bad are dates of DATASET, or all that bad runs wrote. Dates are mapped along each edge; only
    runs that read after the bad write count, until clean runs write the same dates again. Spark is
    not started, and nothing is run.
    """
    form = "json" if as_json else form
    _check_usage(record=record, reason=reason, link=link, out=out, form=form)
    config = load_config(config_path)
    if listed or clear is not None:
        if clear is not None:
            clear_taint(config, clear)
        print_taints(config, as_json=form == "json")
        return
    ways = sum(map(bool, (dates, run_ids, task_name, between)))
    if ways != 1 or (dates and not dataset) or (code_version and not task_name):
        raise click.UsageError(
            "name DATASET with --dates, or --run RUN, --task TASK [--code-version VERSION] or "
            "--between RUN RUN"
        )
    runs = (*run_ids, *(between or ()))
    dated = dated_lineage(
        config,
        lambda history: _tasks_around(config, history, dataset if dates else None, task_name, runs),
    )
    bad = _bad_writes(dated.history, dataset, dates, run_ids, task_name, code_version, between)
    taints = spread(dated.history, bad)
    number = None
    if record:
        number = record_taint(config, dated.history, bad, taints, reason, public_address(link))
    plan = taint_plan(dated.history, bad, taints, dated.consumers, dated.owners)
    steps, dags = rerun_steps(plan, dated.rerun), backfills(plan, dated.rerun)
    if form == "json":
        document = taint_json(plan, steps, dags, number)
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return
    if form == "dag-factory":
        settings = config.airflow.settings(config.site.url)
        _write_dag(config, reprocessing_dag(plan, steps, settings), out)
        return
    lines = (taint_markdown if form == "markdown" else taint_text)(plan, steps, dags)
    for line in lines:
        click.echo(line)
    if number is not None:
        click.echo(f"\nrecorded as {number}: `graft taint --clear {number}` ends it")


def _check_usage(*, record: bool, reason: str, link: str, out: Path | None, form: str) -> None:
    if (reason or link) and not record:
        raise click.UsageError("--reason and --link belong to --record")
    if out and form != "dag-factory":
        raise click.UsageError("--out belongs to --format dag-factory")
    if link and not link.lower().startswith(("https://", "http://")):
        raise click.BadParameter("write http(s)://…", param_hint="--link")
    try:
        public_address(link)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--link") from error


def _tasks_around(
    config: Config,
    history: AccessHistory,
    dataset: str | None,
    task: str | None,
    run_ids: Sequence[str],
) -> set[str]:
    """The tasks whose runs are all needed; bad is a dataset, a task, or runs."""
    if dataset:
        return tasks_of_taint(history, [find_dataset(history.lineage, dataset)])
    bad = {task} if task else store.tasks_of_runs(config.path(config.store), run_ids)
    return bad | tasks_of_taint(history, history.written_by(bad))


def _bad_writes(
    history: AccessHistory,
    name: str | None,
    dates: str | None,
    run_ids: Sequence[str],
    task: str | None,
    version: str | None,
    between: tuple[str, str] | None,
) -> list[BadWrite]:
    dataset = find_dataset(history.lineage, name) if name else None
    if dates and dataset:
        try:
            return bad_dates(history, dataset, parse_dates(dates))
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--dates") from error
    if task:
        if task not in history.lineage.tasks:
            raise GraftError("there is no such task", place=task)
        runs = runs_of_version(history, task, version or "")
    elif between:
        runs = runs_between(history, *(_one_run(history, run_id) for run_id in between))
    else:
        runs = [run for run_id in run_ids for run in _runs(history, run_id)]
    bad = [write for write in bad_runs(history, runs) if dataset in (None, write.dataset)]
    if not bad:
        raise GraftError(
            "these runs wrote nothing that the logs show",
            place=", ".join(run for _, run in runs[:3]) or task or "",
            remedy="list what a task did with `graft explain TASK`",
        )
    return bad


def _runs(history: AccessHistory, run_id: str) -> list[Execution]:
    executions = runs_named(history, run_id)
    if not executions:
        raise GraftError("there is no such run", place=run_id, remedy="take its id from a page")
    return executions


def _one_run(history: AccessHistory, run_id: str) -> Execution:
    executions = _runs(history, run_id)
    if len(executions) > 1:
        tasks = ", ".join(sorted({task for task, _ in executions})[:5])
        raise GraftError(f"it is a run of several tasks: {tasks}", place=run_id)
    return executions[0]


def _write_dag(config: Config, files: dict[str, str], out: Path | None) -> None:
    folder = out or Path(config.path(config.airflow.out))
    name = f"{config.airflow.name}_reprocess"
    ours = {
        file: text.replace(marker(config.airflow.name), marker(name), 1)
        for file, text in files.items()
    }
    done = write_files(folder, ours, marker(name))
    for file in (*done.written, *done.same):
        click.echo(one_line(str(folder / file)))
