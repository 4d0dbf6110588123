"""Incidents on record, and the DAG that mends one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import BadWrite
from dbt_graft.analysis.dates.incident import Incident
from dbt_graft.analysis.dates.taint import Taint
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors.store.taints import next_taint_number, recorded_taints, write_taint
from dbt_graft.exporters.dag_factory.document import marker
from dbt_graft.exporters.reprocessing.dag import reprocessing_dag
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.steps.dag_files import write_files
from dbt_graft.lineage.dates.calendar import NO_DATES
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint


def record_incident(
    config: Config,
    history: AccessHistory,
    bad: Sequence[BadWrite],
    taint: Taint,
    reason: str,
    link: str,
) -> int:
    """Keep an incident in the store, and return its id."""
    store_folder = config.path(config.store)
    now = datetime.now(UTC)
    times = (access.last_at for access in history.lineage.history.accesses if access.last_at)
    first = bad[0]
    begin = NO_DATES
    for write in bad:
        begin |= write.dates if write.dataset == first.dataset else NO_DATES
    run_write = next((write for write in bad if write.run), first)
    number = next_taint_number(store_folder)
    recorded = RecordedTaint(
        number=number,
        recorded_at=now,
        at=max(times, default=now),
        dataset=first.dataset,
        begin=begin,
        task=run_write.task,
        run=run_write.run,
        reason=one_line(reason).strip(),
        link=link,
        tainted=taint.tainted,
        doubtful={
            output: doubtful
            for output, dates in taint.tainted.items()
            if (doubtful := dates - taint.certain.get(output, NO_DATES))
        },
        superseded=tuple(
            RecordedSupersession(
                supersession.output[1],
                supersession.dates,
                supersession.task,
                supersession.run,
                supersession.at,
            )
            for supersession in taint.superseded
        ),
    )
    write_taint(store_folder, recorded)
    return number


def close_incident(config: Config, number: int) -> None:
    """End an incident on record; it stays in the list.

    Raises:
        GraftError: There is none of this id.
    """
    store_folder = config.path(config.store)
    incidents = {taint.number: taint for taint in recorded_taints(store_folder)}
    if number not in incidents:
        raise GraftError(
            f"there is no incident {number} on record", remedy="`graft incident list` has all"
        )
    if incidents[number].cleared_at is None:
        write_taint(store_folder, replace(incidents[number], cleared_at=datetime.now(UTC)))


def write_dag(config: Config, incident: Incident, folder: str) -> list[str]:
    """Write the DAG that runs the plan once, and return the paths of its files.

    Args:
        folder: By default `airflow.out`.
    """
    name = f"{config.airflow.name}_reprocess"
    files = {
        file: text.replace(marker(config.airflow.name), marker(name), 1)
        for file, text in reprocessing_dag(incident.plan, incident.steps, config.airflow).items()
    }
    place = Path(folder or config.path(config.airflow.out))
    # Another incident's DAG may be running.
    remedy = "move it away, or write the DAG into another folder: `--dag FOLDER`"
    done = write_files(place, files, marker(name), remove=False, remedy=remedy)
    return [str(place / file) for file in (*done.written, *done.same)]
