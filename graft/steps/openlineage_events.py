"""The OpenLineage events of a project: which are asked for, and files of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.exporters.openlineage import files
from dbt_graft.exporters.openlineage.airflow_runs import airflow_events
from dbt_graft.exporters.openlineage.events import EventSelection, ExportedEvent, events
from dbt_graft.exporters.openlineage.settings import ExportedKind
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.graft.project.names import find_task
from dbt_graft.graft.project.output_folder import OutputFolder
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.lineage.errors import FREE_SPACE, GraftError, write_error
from dbt_graft.lineage.frozen import frozen

_FILE_SUFFIXES = (".ndjson", ".jsonl", ".json", ".gz")


@frozen
class AskedEvents:
    """The events that people ask for, all where they name none.

    Attributes:
        tasks: Names of tasks and dbt models.
        datasets: Names of datasets; then only their own events.
        kinds: Kinds of events; those of `openlineage.events` in graft.yml without any.
        since: Only runs that ended then or later, and their jobs.
    """

    tasks: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    since: datetime | None = None


def select_events(
    project: Project, names: AskedEvents, airflow_namespace: str | None = None
) -> tuple[LineageSnapshot, Iterator[ExportedEvent]]:
    """The lineage of a project, and those of its events that are asked for.

    Args:
        airflow_namespace: Only what Airflow's runs did, under the ids that Airflow gives them in
            this namespace.

    Raises:
        GraftError: There is no such task or dataset, or the project cannot be read.
    """
    view = LineageView(every_run=True)  # An event for each run.
    snapshot = _snapshot(project, view)
    selection = EventSelection(
        tuple(map(ExportedKind, names.kinds)) or project.config.openlineage.events,
        {find_task(snapshot.lineage, name) for name in names.tasks} if names.tasks else None,
        names.since,
    )
    if names.datasets:
        datasets = {project.find_dataset(name, view) for name in names.datasets}
        selection = EventSelection((ExportedKind.DATASET,), datasets=datasets)
    if airflow_namespace is not None:
        return snapshot, airflow_events(snapshot, selection, airflow_namespace)
    return snapshot, events(snapshot, selection)


def write_events(out: Path, exported_events: Iterable[ExportedEvent]) -> int:
    """Write events into a file, one a line, or each into a file of its own in a folder.

    Returns:
        Their number.

    Raises:
        GraftError: They cannot be written there.
    """
    all_events = (exported.event for exported in exported_events)
    is_folder = out.is_dir() or (
        not out.exists() and not out.name.lower().endswith(_FILE_SUFFIXES) and not out.suffix
    )
    if is_folder:
        try:
            with OutputFolder("--out", out).replaced() as folder:
                return files.write_files(folder, all_events)
        except GraftError as error:
            if error.remedy == FREE_SPACE:
                raise
            remedy = "name a new or empty folder, or one that graft wrote before"
            raise GraftError(error.problem, place=error.place, remedy=remedy) from error
    try:
        return files.write_lines(out, all_events)
    except OSError as error:
        raise write_error(error, out, "name another file as `--out`") from error


def _snapshot(project: Project, view: LineageView) -> LineageSnapshot:
    """The lineage of the store and of dbt's artifacts; without these that of the logs alone."""
    described, config = project.described(view), project.config
    return LineageSnapshot(
        described.lineage,
        collected_at(config.path(config.store)) or datetime.now(UTC),
        described.descriptions,
        project.joined_records(view).accesses,
        config.openlineage.namespace,
    )
