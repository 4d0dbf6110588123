"""The command `graft incident open`: what bad data went into, and what must run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.dates.incident import bad_data_answer
from dbt_graft.collectors.public_address import public_address
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.bad_data_options import names_bad_data
from dbt_graft.graft.commands.command import load_config

if TYPE_CHECKING:
    from dbt_graft.graft.questions.incident import BadData


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
@names_bad_data
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
    named: BadData,
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
    if dry_run and (reason or link):
        raise click.UsageError("--reason and --link are for the record: leave out --dry-run")
    from dbt_graft.graft.questions.incident import follow_bad_data
    from dbt_graft.graft.steps.incidents import record_incident, write_dag

    config = load_config(config_path)
    followed = follow_bad_data(config, named)
    number = None
    if not dry_run:
        number = record_incident(
            config, followed.dated.history, followed.bad, followed.taint, reason, link
        )
    plan = followed.incident(number)
    return bad_data_answer(plan, write_dag(config, plan, dag) if dag is not None else ())
