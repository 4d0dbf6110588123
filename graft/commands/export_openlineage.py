"""The command `graft export openlineage`: the lineage as OpenLineage events, written or sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors import store
from dbt_graft.exporters.openlineage import files
from dbt_graft.exporters.openlineage.airflow_runs import airflow_events
from dbt_graft.exporters.openlineage.events import (
    EventSelection,
    ExportedEvent,
    events,
)
from dbt_graft.exporters.openlineage.settings import ExportedKind
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.names import find_task
from dbt_graft.graft.project.output_folder import OutputFolder
from dbt_graft.graft.project.past import Moment, PastTime
from dbt_graft.graft.project.project import LineageView, Project
from dbt_graft.graft.steps.sending import ALL, REFUSED, send
from dbt_graft.lineage.errors import FREE_SPACE, GraftError, write_error

_FILE_SUFFIXES = (".ndjson", ".jsonl", ".json", ".gz")


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
@click.option(
    "--json", "as_json", is_flag=True, help="With --out or sending: print counts as JSON."
)
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
    project, view = Project(config), LineageView(every_run=True)  # An event for each run.
    snapshot = _snapshot(project, view)
    selection = EventSelection(
        tuple(map(ExportedKind, kinds)) or section.events,
        {find_task(snapshot.lineage, name) for name in tasks} if tasks else None,
        since.at if since else None,
    )
    if names:
        datasets = {project.find_dataset(name, view) for name in names}
        selection = EventSelection((ExportedKind.DATASET,), datasets=datasets)
    if airflow:
        exported_events = airflow_events(snapshot, selection, airflow_namespace)
    else:
        exported_events = events(snapshot, selection)
    if receiver:
        send(config, receiver, exported_events, snapshot, again=again, as_json=as_json)
    elif out:
        _write(out, exported_events, as_json=as_json)
    else:
        sys.stdout.flush()
        files.write_to(sys.stdout.buffer, (exported.event for exported in exported_events))


def _snapshot(project: Project, view: LineageView) -> LineageSnapshot:
    """The lineage of the store and of dbt's artifacts; without these that of the logs alone."""
    described, config = project.described(view), project.config
    return LineageSnapshot(
        described.lineage,
        store.collected_at(config.path(config.store)) or datetime.now(UTC),
        described.descriptions,
        project.joined_records(view).accesses,
        config.openlineage.namespace,
    )


def _write(out: Path, exported_events: Iterator[ExportedEvent], *, as_json: bool) -> None:
    all_events = (exported.event for exported in exported_events)
    is_folder = out.is_dir() or (
        not out.exists() and not out.name.lower().endswith(_FILE_SUFFIXES) and not out.suffix
    )
    if is_folder:
        try:
            with OutputFolder("--out", out).replaced() as folder:
                written = files.write_files(folder, all_events)
        except GraftError as error:
            if error.remedy == FREE_SPACE:
                raise
            remedy = "name a new or empty folder, or one that graft wrote before"
            raise GraftError(error.problem, place=error.place, remedy=remedy) from error
    else:
        try:
            written = files.write_lines(out, all_events)
        except OSError as error:
            raise write_error(error, out, "name another file as `--out`") from error
    if as_json:
        click.echo(orjson.dumps({"events": written, "out": str(out)}, option=orjson.OPT_INDENT_2))
    else:
        click.echo(f"{count(written, 'event')} written to {out}")
