"""The command `graft export run-manifest`."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from dbt_graft.exporters.run_manifest import run_manifest as manifest_of
from dbt_graft.graft.command import config_option, load_config
from dbt_graft.graft.dated_lineage import dated_lineage
from dbt_graft.graft.output_file import write_file
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Run

_SHOWN = 8


@click.command(
    "run-manifest",
    epilog="\b\nExit codes: 0 written; 1 there is no such run, or several; 2 invalid command "
    "line.\n\n"
    "\b\nExamples:\n"
    "  graft export run-manifest application_1730000000000_0042\n"
    "  graft export run-manifest last --task load_orders --out run.json",
)
@click.argument("run_id", metavar="RUN")
@config_option
@click.option("--task", metavar="TASK", help="The task of the run, where several have such a run.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to FILE, which is never there in part.  [default: standard output]",
)
def run_manifest(run_id: str, config_path: Path | None, task: str | None, out: Path | None) -> None:
    """Write what a run read and wrote, by which code, and what tests found then.

    RUN is the id of a run as its page shows it, or `last` with --task: its newest run. The JSON is
    described in docs/run-manifest.schema.json. Spark is not started.
    """
    dated = dated_lineage(load_config(config_path), lambda history: _tasks(history.lineage, task))
    lineage = dated.history.lineage
    found = _run(lineage, run_id, task)
    document = manifest_of(lineage, dated.descriptions, *found)
    text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if out:
        write_file(out, text)
    else:
        click.echo(text, nl=False)


def _tasks(lineage: Lineage, name: str | None) -> set[str]:
    """The task and those that write the same datasets; all where any of them may have the run."""
    task = lineage.tasks.get(name or "")
    if task is None:
        return set(lineage.tasks)
    outputs = set(task.writes)
    return {task.name, *(one.name for one in lineage.tasks.values() if outputs & set(one.writes))}


def _run(lineage: Lineage, run_id: str, name: str | None) -> tuple[Task, Run]:
    if name is not None and name not in lineage.tasks:
        raise GraftError(
            "there is no such task",
            place=name,
            remedy='`graft query "select task from tasks"` lists them',
        )
    tasks = [lineage.tasks[name]] if name is not None else list(lineage.tasks.values())
    if run_id == "last":
        if name is None:
            raise click.UsageError("name the task whose last run you mean with --task")
        found = [(tasks[0], tasks[0].runs[0])] if tasks[0].runs else []
    else:
        found = [(task, run) for task in tasks for run in task.runs if run.run_id == run_id]
    if not found:
        raise GraftError(
            "there is no such run in the store",
            place=run_id,
            remedy='`graft query "from runs"` lists runs',
        )
    if len({task.name for task, _ in found}) > 1:
        names = ", ".join(task.name for task, _ in found[:_SHOWN])
        raise GraftError(
            f"{len(found)} tasks have this run", place=run_id, remedy=f"add --task: {names}"
        )
    return found[0]
