"""The command `graft export dag-factory`: the order of tasks as DAGs for Airflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.render.forms import FORMS
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.exporters.dag_factory.document import files, marker
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.dag_factory.plan import DagPlan
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.project import LineageView, Project
from dbt_graft.graft.steps.dag_files import WrittenFiles, write_files
from dbt_graft.lineage.errors import GraftError

_SHOWN = 10
_PROBLEMS = 50


@click.command(
    "dag-factory",
    epilog="\b\nExit codes: 0 written; 1 a cycle or a task without a command, so that nothing was "
    "written;\n2 invalid command line or graft.yml.\n\n"
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def dag_factory(config_path: Path | None, out: Path | None, *, as_json: bool) -> None:
    """Write the tasks' order as DAGs for Airflow.

    Each DAG is a YAML file of dag-factory and a Python file that loads it. A task depends on the
    tasks that write what it reads. `airflow` in graft.yml says how tasks run and are grouped.
    """
    config = load_config(config_path)
    section = config.airflow
    folder = out or Path(config.path(section.out))
    settings = section.settings(config.site.url)
    described = Project(config).described(LineageView(results=False))
    plan = plan_dags(demanded_order(described.lineage, described.descriptions), settings)
    if plan.problems:
        answer = Answer("no DAG can be written", findings=plan.problems, question="dag-factory")
        click.echo(
            FORMS["json" if as_json else "text"](answer, _PROBLEMS), nl=False, err=not as_json
        )
        raise SystemExit(1)
    if not plan.dags:
        raise GraftError("there are no tasks in the lineage", remedy="run `graft collect`")
    done = write_files(folder, files(plan.dags, settings), marker(settings.name))
    if as_json:
        click.echo(orjson.dumps(_as_json(plan, folder, done), option=orjson.OPT_INDENT_2))
        return
    _print_plan(plan, folder, done)


def _print_plan(plan: DagPlan, folder: Path, done: WrittenFiles) -> None:
    for dag in plan.dags[:_SHOWN]:
        edges = sum(len(task.dependencies) for task in dag.tasks)
        waits = f", waits for {count(len(dag.waits_for), 'asset')}" if dag.waits_for else ""
        tasks, dependencies = count(len(dag.tasks), "task"), _dependencies(edges)
        click.echo(one_line(f"{dag.dag_id}: {tasks}, {dependencies}{waits}"))
    if len(plan.dags) > _SHOWN:
        click.echo(f"and {count(len(plan.dags) - _SHOWN, 'DAG')} more")
    for reason, number in sorted(Counter(plan.left_out.values()).items()):
        click.echo(f"{count(number, 'task')} left out: {reason}")
    parts = [
        f"{len(done.written)} written" if done.written else "",
        f"{len(done.same)} unchanged" if done.same else "",
        f"{len(done.removed)} removed" if done.removed else "",
    ]
    click.echo(one_line(f"{folder}: files {', '.join(filter(None, parts))}"))


def _dependencies(number: int) -> str:
    return f"{number:,} {'dependency' if number == 1 else 'dependencies'}"


def _as_json(plan: DagPlan, folder: Path, done: WrittenFiles) -> dict[str, Any]:
    def names(texts: Sequence[str]) -> list[str]:
        return list(texts)

    return {
        "folder": str(folder),
        "dags": [
            {
                "dag_id": dag.dag_id,
                "schedule": dag.schedule or None,
                "waits_for": [str(asset.dataset) for asset in dag.waits_for],
                "tasks": [
                    {
                        "task_id": task.task_id,
                        "group": task.group or None,
                        "runs": names(task.nodes),
                        "dependencies": names(task.dependencies),
                    }
                    for task in dag.tasks
                ],
            }
            for dag in plan.dags
        ],
        "left_out": dict(plan.left_out),
        "files": {
            "written": names(done.written),
            "unchanged": names(done.same),
            "removed": names(done.removed),
        },
        "exit_code": 0,
    }
