"""The command `graft export run-manifest`."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.completion import complete_tasks
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.names import RunName
from dbt_graft.graft.project.output_file import write_file
from dbt_graft.graft.questions.show.runs import manifest_of_run


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
@click.option(
    "--task",
    metavar="TASK",
    shell_complete=complete_tasks,
    help="The task of the run, where several have such a run.",
)
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
    described in docs/schemas/run-manifest.schema.json. Spark is not started.
    """
    asked = AskedLineage(load_config(config_path))
    document = manifest_of_run(asked, RunName(run_id, task))
    text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if out:
        write_file(out, text)
    else:
        click.echo(text, nl=False)
