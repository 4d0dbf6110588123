"""The Spark event logs that a store does not have as they are now.

Listing needs nothing of what reads them, so a build without new logs starts fast.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.files import log_files, report_nothing
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.spark.log.checkpoint import (
    last_positions,
    position,
    resume_from,
    segment_origin,
)
from dbt_graft.collectors.spark.log.files import ApplicationLog, SparkLogs, application_logs
from dbt_graft.collectors.spark.settings import is_history_server
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Positions


def new_logs(
    logs: SparkLogs, positions: Positions, report: Report = report_nothing
) -> list[ApplicationLog]:
    """List the applications' logs that are new to the store or have changed; needs no Spark.

    No log is opened: size and time of change are compared.

    Raises:
        GraftError: The path does not exist, the server does not answer, or nothing can be listed.
    """
    if is_history_server(logs.path):
        from dbt_graft.collectors.spark.log.history_server import new_attempts

        return new_attempts(logs, positions)
    listing = application_logs(log_files(logs.path, logs.label, report=report))
    positions = of_logs(positions, (log.log.origin for log in listing))
    last = last_positions(positions)
    return [
        new for log in listing if (new := _unread(log, positions, last.get(log.log.origin, "")))
    ]


def _unread(log: ApplicationLog, positions: Positions, last: str) -> ApplicationLog | None:
    """The part of a log to read, from its checkpoint on; None where it has not changed."""
    origin, state = log.log.origin, log.log.position
    start = resume_from(state, last) if log.growing else None
    if start is None:
        return log if positions.get(origin, ("",))[0] != state else None
    if last == position(state, start):
        return None
    return replace(log, log=replace(log.log, origin=segment_origin(origin, start)), start=start)
