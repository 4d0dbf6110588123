"""The command `graft incident open`: what bad data went into, and what must run again."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.dates.incident import bad_data_answer
from dbt_graft.collectors.public_address import public_address
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import load_config
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.dates.date_text import parse_dates


def _parse_dates(_: click.Context, __: click.Parameter, value: str | None) -> Dates | None:
    try:
        return parse_dates(value) if value else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _address(_: click.Context, __: click.Parameter, value: str) -> str:
    if value and not value.lower().startswith(("https://", "http://")):
        raise click.BadParameter("write http(s)://…")
    try:
        return public_address(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


dag_option = click.option(
    "--dag",
    is_flag=False,
    flag_value="",
    metavar="[FOLDER]",
    help="Write a DAG of Airflow that runs the plan once, in its order.  [default of FOLDER: "
    "`airflow.out`]",
)


@click.command(
    "open",
    epilog="\b\nExamples:\n"
    "  graft incident open raw.orders --dates 2026-10-03..2026-10-05 --dry-run\n"
    "  graft incident open --run app-20261004-0012 --format markdown\n"
    "  graft incident open --task load_orders --code-version 4f1c2d9 --dag\n"
    "  graft incident open raw.orders --dates 2026-10-03 --reason 'double rows' \\\n"
    "      --link https://incidents.example.com/512",
)
@click.argument("dataset", required=False)
@click.option(
    "--dates",
    callback=_parse_dates,
    help="The bad dates: 2026-10-03..2026-10-05, 2026-10, 2026-10-03T05.",
)
@click.option("--run", "run_ids", multiple=True, metavar="RUN", help="A bad run, by its id.")
@click.option("--task", metavar="TASK", help="All runs of a task were bad; with runs, those of it.")
@click.option("--code-version", metavar="VERSION", help="Of the task only those of this version.")
@click.option(
    "--between",
    nargs=2,
    metavar="RUN RUN",
    help="Of two runs of a task the earlier was good: those after it up to the later are bad.",
)
@answers(scale=())
@click.option("--reason", default="", help="What happened, in words: pages show it.")
@click.option(
    "--link", default="", callback=_address, metavar="URL", help="The page of the incident."
)
@click.option("--dry-run", is_flag=True, help="Record nothing: show the plan only.")
@dag_option
def open_incident(
    config_path: Path | None,
    *,
    dataset: str | None,
    dates: Dates | None,
    run_ids: tuple[str, ...],
    task: str | None,
    code_version: str | None,
    between: tuple[str, str] | None,
    reason: str,
    link: str,
    dry_run: bool,
    dag: str | None,
) -> Answer:
    """Record bad data, and show what must run again.

    Bad are dates of DATASET, or all that bad runs wrote. Dates are mapped along each edge; only
    runs that read after the bad write count, until clean runs write the same dates again. Pages,
    and sensors that wait for clean dates, have what is on record until it is closed. Nothing is
    run, and Spark is not started.
    """
    runs = run_ids or between
    if (
        sum(map(bool, (dates, run_ids, between))) + bool(task and not runs) != 1
        or (dates and not dataset)
        or (code_version and (runs or not task))
    ):
        raise click.UsageError(
            "name DATASET with --dates, or --run RUN, --task TASK [--code-version VERSION] or "
            "--between RUN RUN"
        )
    if dry_run and (reason or link):
        raise click.UsageError("--reason and --link are for the record: leave out --dry-run")
    # Importing it takes longer than listing the incidents on record.
    from dbt_graft.graft.questions.incident import BadData, follow_bad_data
    from dbt_graft.graft.steps.incidents import record_incident, write_dag

    config = load_config(config_path)
    named = BadData(dataset or "", dates, run_ids, between, task or "", code_version or "")
    followed = follow_bad_data(config, named)
    number = None
    if not dry_run:
        number = record_incident(
            config, followed.dated.history, followed.bad, followed.taint, reason, link
        )
    plan = followed.incident(number)
    return bad_data_answer(plan, write_dag(config, plan, dag) if dag is not None else ())
