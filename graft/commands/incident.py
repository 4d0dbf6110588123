"""The command `graft incident`: a bad run and all that came of it, on one page."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import bad_runs
from dbt_graft.analysis.dates.incident import incident_json, incident_markdown
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.analysis.dates.taint_plan import taint_plan
from dbt_graft.analysis.dates.tasks_around import tasks_of_taint
from dbt_graft.analysis.history.bad_streak import first_bad_run
from dbt_graft.collectors import store
from dbt_graft.exporters.reprocessing.commands import backfills, rerun_steps
from dbt_graft.exporters.reprocessing.document import taint_json
from dbt_graft.exporters.reprocessing.words import taint_markdown
from dbt_graft.exporters.run_manifest import run_manifest
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dated_lineage import dated_lineage
from dbt_graft.graft.project.names import find_run, tasks_beside
from dbt_graft.graft.project.output_file import write_file


@click.command(
    epilog="\b\nExit codes: 0 written; 1 there is no such run, or several; 2 invalid command "
    "line.\n\n"
    "\b\nExamples:\n"
    "  graft incident application_1730000000000_0042 --out incident.md\n"
    "  graft incident last --task load_orders --json",
)
@click.argument("run_id", metavar="RUN")
@config_option
@click.option("--task", metavar="TASK", help="The task of the run, where several have such a run.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.  [default: Markdown]")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to FILE, which is never there in part.  [default: standard output]",
)
def incident(
    run_id: str, config_path: Path | None, task: str | None, out: Path | None, *, as_json: bool
) -> None:
    """Report a bad run and all that came of it, on one page.

    The run with its code, error and tests; the last good run before it; all data that is bad since,
    with the paths; what must run again and how; whom to tell; and what is clean again. RUN is the
    id of a run as its page shows it, or `last` with --task. Spark is not started.
    """
    config = load_config(config_path)
    dated = dated_lineage(config, lambda history: _tasks(config, history, run_id, task))
    history = dated.history
    found_task, run = find_run(history.lineage, run_id, task)
    manifest = run_manifest(history, dated.descriptions, found_task, run)
    failed = [check["id"] for check in manifest["quality"]["checks"] if check["status"] == "failed"]
    first = first_bad_run(history.lineage, found_task, run, failed)
    bad = bad_runs(history, [(run.task, run.parent_run_id or run.run_id)])
    plan = taint_plan(history, bad, spread(history, bad), dated.consumers, dated.owners)
    steps, dags = rerun_steps(plan, dated.rerun), backfills(plan, dated.rerun)
    if as_json:
        taint = taint_json(plan, steps, dags, None) if bad else None
        document = incident_json(manifest, first, taint)
        text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    else:
        lines = taint_markdown(plan, steps, dags, level=2) if bad else ()
        text = "".join(f"{line}\n" for line in incident_markdown(manifest, first, lines)).encode()
    if out:
        write_file(out, text)
    else:
        click.echo(text, nl=False)


def _tasks(config: Config, history: AccessHistory, run_id: str, task: str | None) -> set[str]:
    """The tasks whose runs are all needed."""
    tasks = {task} if task else store.tasks_of_runs(config.path(config.store), [run_id])
    beside = {other for name in tasks for other in tasks_beside(history.lineage, name)}
    return tasks | beside | tasks_of_taint(history, history.written_by(tasks))
