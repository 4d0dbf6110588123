"""The commands `graft incident`: what bad data went into, and what must run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.dates.incident import files_table, incidents_answer
from dbt_graft.collectors.store.taints import recorded_taints
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import CommandGroup, load_config
from dbt_graft.graft.commands.incident_open import dag_option, open_incident


@click.group(
    cls=CommandGroup,
    epilog="\b\nExample: graft incident open raw.orders --dates 2026-10-05 --dry-run",
)
def incident() -> None:
    """Show what bad data went into and what must run again: open, close, list, show."""


incident.add_command(open_incident)


@incident.command(epilog="\b\nExample: graft incident close 3")
@click.argument("number", type=int, metavar="ID")
@answers(scale=())
def close(number: int, config_path: Path | None) -> Answer:
    """End an incident on record: its dates count as clean. It stays in the list."""
    from dbt_graft.graft.steps.incidents import close_incident

    config = load_config(config_path)
    close_incident(config, number)
    return incidents_answer(recorded_taints(config.path(config.store)))


@incident.command("list", epilog="\b\nExample: graft incident list --json")
@answers(scale=())
def list_incidents(config_path: Path | None) -> Answer:
    """List the incidents on record, the newest first."""
    config = load_config(config_path)
    return incidents_answer(recorded_taints(config.path(config.store)))


@incident.command(
    epilog="\b\nExamples:\n"
    "  graft incident show application_1730000000000_0042 --format markdown\n"
    "  graft incident show last --task load_orders --json\n"
    "  graft incident show shop/2026-10-24 --dag\n"
    "  graft incident show 3",
)
@click.argument("run_id", metavar="RUN|ID")
@answers(scale=())
@click.option("--task", metavar="TASK", help="The task of the run, where several have such a run.")
@dag_option
def show(run_id: str, config_path: Path | None, *, task: str | None, dag: str | None) -> Answer:
    """Report a bad run and all that came of it.

    The run with its code, error and tests; the last good run before it; all data that is bad since,
    with the paths; what must run again and how; whom to tell; and what is clean again. Of a run
    that failed: what is late. RUN is the id of a run as its page shows it, `last` with --task, or
    a run of a DAG (its id, or `dag/2026-10-01`); ID is that of an incident on record.
    """
    # Importing them takes longer than listing the incidents on record.
    from dbt_graft.graft.questions.run_report import report_run
    from dbt_graft.graft.steps.incidents import write_dag

    config = load_config(config_path)
    answer, plan = report_run(config, run_id, task)
    if dag is None or plan is None or not plan.steps:
        return answer
    return replace(answer, tables=(*answer.tables, files_table(write_dag(config, plan, dag))))
