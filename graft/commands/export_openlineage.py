"""The command `graft export openlineage`: the lineage as OpenLineage events, written or sent."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dbt_graft.analysis.render.phrases import count
from dbt_graft.exporters.openlineage import files
from dbt_graft.exporters.openlineage.settings import ExportedKind
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.commands.values import PastTime
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.steps.openlineage_events import AskedEvents, select_events, write_events
from dbt_graft.graft.steps.sending import ALL, REFUSED, send


@click.command(
    epilog="\b\nExit codes: 0 written or sent; 1 the project cannot be read, or events were not "
    "delivered\nand `openlineage` in graft.yml says that this fails; 2 invalid command line.\n\n"
    "\b\nExamples:\n"
    "  graft export openlineage --out events.ndjson.gz\n"
    "  graft export openlineage --task load_orders --events run\n"
    "  graft export openlineage --dataset raw.orders\n"
    "  graft export openlineage --since 7d --url http://localhost:5000\n"
    "  graft export openlineage --send\n"
    "  graft export openlineage --airflow --since 2d --send"
)
@config_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File with an event a line (.gz compresses), or FOLDER/ for a file each.  "
    "[default: standard output]",
)
@click.option("--url", help="Send them to this endpoint; /api/v1/lineage is added to a bare host.")
@click.option("--send", "is_sent", is_flag=True, help="Send them to the `url` of graft.yml.")
@click.option(
    "--again",
    type=click.Choice([REFUSED, ALL]),
    help="When sending: also what the endpoint refused before; or all, delivered ones too.",
)
@click.option(
    "--since",
    type=PastTime(first=True),
    metavar="TIME",
    help="Only runs that ended then or later, and their jobs: 7d, 12h, 2026-10-01.",
)
@click.option("--task", "tasks", multiple=True, help="Only this task or dbt model; repeatable.")
@click.option("--dataset", "names", multiple=True, help="Only the event of this; repeatable.")
@click.option(
    "--events",
    "kinds",
    type=click.Choice([str(kind) for kind in ExportedKind]),
    multiple=True,
    help="Only events of this kind; repeatable.  [default: `openlineage.events` in graft.yml]",
)
@click.option(
    "--airflow",
    is_flag=True,
    help="Only what Airflow's runs did, under the run ids and jobs of Airflow.",
)
@click.option(
    "--airflow-namespace",
    default="default",
    show_default=True,
    help="With --airflow: `namespace` in the section openlineage of Airflow.",
)
@json_option
def openlineage(
    config_path: Path | None,
    out: Path | None,
    url: str | None,
    again: str | None,
    since: Moment | None,
    tasks: tuple[str, ...],
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    *,
    is_sent: bool,
    airflow: bool,
    airflow_namespace: str,
    as_json: bool,
) -> None:
    """Write or send the lineage as OpenLineage events.

    A DatasetEvent for each dataset, a JobEvent for each task, dbt model and view, RunEvents for the
    runs in the store. The same store makes the same events, with the same run ids. What an endpoint
    does not take waits in the outbox and is sent first next time, each event once.
    """
    if out and (url or is_sent):
        raise click.UsageError("write with --out, or send with --url or --send")
    config = load_config(config_path)
    section = config.openlineage
    receiver = url or (section.url if is_sent else None)
    if is_sent and not receiver:
        raise click.UsageError("name the endpoint: --url, or `openlineage.url` in graft.yml")
    if again and not receiver:
        raise click.UsageError("--again needs --send or --url")
    namespace = airflow_namespace if airflow else None
    selection = AskedEvents(tasks, names, kinds, since.at if since else None)
    snapshot, exported_events = select_events(Project(config), selection, namespace)
    if receiver:
        send(config, receiver, exported_events, snapshot, again=again, as_json=as_json)
    elif out:
        written = write_events(out, exported_events)
        if as_json:
            print_json({"events": written, "out": str(out)})
        else:
            click.echo(f"{count(written, 'event')} written to {out}")
    else:
        sys.stdout.flush()
        events = (exported.event for exported in exported_events)
        written = files.write_to(sys.stdout.buffer, events)
    if airflow and not receiver and not written:
        click.echo("no run that was asked for is one of Airflow's in the store", err=True)
