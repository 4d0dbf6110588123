"""The command `graft export dag-factory`: the order of tasks as DAGs for Airflow."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.render.forms import FORMS
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.steps.exported_dags import export_dags

_PROBLEMS = 50


@click.command(
    "dag-factory",
    epilog="\b\nExit codes: 0 all is written; 1 not all of it: tasks of a cycle, one without a "
    "command,\na file that was edited by hand; 2 invalid command line or graft.yml.\n\n"
    "\b\nExamples:\n"
    "  graft export dag-factory\n"
    "  graft export dag-factory --out dags/ --json",
)
@config_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder for the DAGs.  [default: `airflow.out` in graft.yml]",
)
@click.option("--force", is_flag=True, help="Replace files that were edited by hand, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def dag_factory(config_path: Path | None, out: Path | None, *, force: bool, as_json: bool) -> None:
    """Write the tasks' order as DAGs for Airflow.

    Each DAG is a YAML file of dag-factory and a Python file that loads it. A task depends on the
    tasks that write what it reads. `airflow` in graft.yml says how tasks run and are grouped.
    """
    exported = export_dags(load_config(config_path), out, force=force)
    problems = exported.problems
    if problems and not exported.dags:
        answer = Answer("no DAG can be written", findings=problems, question="dag-factory")
        click.echo(
            FORMS["json" if as_json else "text"](answer, _PROBLEMS), nl=False, err=not as_json
        )
    elif as_json:
        click.echo(orjson.dumps(exported.document(), option=orjson.OPT_INDENT_2))
    else:
        for line in exported.lines():
            click.echo(line)
        if problems:
            answer = Answer("not all DAGs and tasks were written", findings=problems)
            click.echo(FORMS["text"](answer, _PROBLEMS), nl=False, err=True)
    raise SystemExit(1 if problems else 0)
