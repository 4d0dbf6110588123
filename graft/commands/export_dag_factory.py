"""The command `graft export dag-factory`: the order of tasks as DAGs for Airflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.forms import FORMS
from dbt_graft.analysis.render.json import finding_json
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.exporters.dag_factory.document import documents, files, marker
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.dag_factory.overrides import Documents, override
from dbt_graft.exporters.dag_factory.plan import DagPlan
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.dag_overrides import dag_overrides
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.graft.steps.dag_files import WrittenFiles, write_files
from dbt_graft.lineage.errors import GraftError

_SHOWN = 10
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
    config = load_config(config_path)
    section = config.airflow
    folder = out or Path(config.path(section.out))
    settings = section.settings(config.site.url)
    described = Project(config).described(LineageView(results=False))
    plan = plan_dags(demanded_order(described.lineage, described.descriptions), settings)
    documents_by_id, wrong = override(documents(plan.dags, settings), dag_overrides(config))
    problems = (*plan.problems, *wrong)
    if problems and not documents_by_id:
        answer = Answer("no DAG can be written", findings=problems, question="dag-factory")
        click.echo(
            FORMS["json" if as_json else "text"](answer, _PROBLEMS), nl=False, err=not as_json
        )
        raise SystemExit(1)
    if not documents_by_id:
        raise GraftError("there are no tasks in the lineage", remedy="run `graft collect`")
    contents = files(documents_by_id, settings.name)
    # What cannot be written today stays as it was.
    done = write_files(folder, contents, marker(settings.name), remove=not problems, force=force)
    if as_json:
        answer_json = _as_json(plan, documents_by_id, problems, folder, done)
        click.echo(orjson.dumps(answer_json, option=orjson.OPT_INDENT_2))
    else:
        _print_plan(plan, documents_by_id, folder, done)
        if problems:
            answer = Answer("not all DAGs and tasks were written", findings=problems)
            click.echo(FORMS["text"](answer, _PROBLEMS), nl=False, err=True)
    raise SystemExit(1 if problems else 0)


def _print_plan(plan: DagPlan, dags: Documents, folder: Path, done: WrittenFiles) -> None:
    waits_for = {dag.dag_id: len(dag.waits_for) for dag in plan.dags}
    for dag_id, dag in list(dags.items())[:_SHOWN]:
        edges = sum(len(task.get("dependencies", ())) for task in dag["tasks"])
        waits = f", waits for {count(waits_for[dag_id], 'asset')}" if waits_for[dag_id] else ""
        tasks, dependencies = count(len(dag["tasks"]), "task"), _dependencies(edges)
        click.echo(one_line(f"{dag_id}: {tasks}, {dependencies}{waits}"))
    if len(dags) > _SHOWN:
        click.echo(f"and {count(len(dags) - _SHOWN, 'DAG')} more")
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


def _as_json(
    plan: DagPlan,
    dags: Documents,
    problems: Sequence[Finding],
    folder: Path,
    done: WrittenFiles,
) -> dict[str, Any]:
    def names(texts: Sequence[str]) -> list[str]:
        return list(texts)

    runs = {(dag.dag_id, task.task_id): task.nodes for dag in plan.dags for task in dag.tasks}
    return {
        "folder": str(folder),
        "dags": [
            {
                "dag_id": dag.dag_id,
                "schedule": dag.schedule or None,
                "waits_for": [str(asset.dataset) for asset in dag.waits_for],
                "tasks": [
                    {
                        "task_id": task["task_id"],
                        "group": task.get("task_group_name"),
                        "runs": names(runs.get((dag.dag_id, task["task_id"]), ())),
                        "dependencies": names(task.get("dependencies", ())),
                    }
                    for task in dags[dag.dag_id]["tasks"]
                ],
            }
            for dag in plan.dags
            if dag.dag_id in dags
        ],
        "left_out": dict(plan.left_out),
        "files": {
            "written": names(done.written),
            "unchanged": names(done.same),
            "removed": names(done.removed),
        },
        "findings": [finding_json(finding) for finding in problems],
        "exit_code": 1 if problems else 0,
    }
