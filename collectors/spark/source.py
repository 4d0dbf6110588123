"""The door of the Spark collector: event logs as a source.

What reads logs is imported once one is new: a build mostly has to see that none is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.files import report_nothing
from dbt_graft.collectors.source import LogSource
from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.store.tables import Collected, Positions

__all__ = ["SparkLogs", "event_log_source"]


def event_log_source(
    logs: Callable[[], SparkLogs],
    label: str,
    settings: str,
    owners: Callable[[Collection[str]], Mapping[str, str]],
    last_event_times: Callable[[], Mapping[str, datetime]],
    taken: set[str],
) -> LogSource:
    """The event logs of a cluster as a source.

    Args:
        logs: Reads variables, such as a token, when they are needed.
        settings: A digest of what makes the logs be read again once it changes.
    """

    def collect(engine: Engine, positions: Positions, reading: Reading) -> Collected | None:
        from dbt_graft.collectors.spark.collect import collect as collect_logs

        return collect_logs(engine, logs(), positions, owners, last_event_times, taken, reading)

    return LogSource(
        lambda positions, report=report_nothing: new_logs(logs(), positions, report),
        collect,
        label=label,
        settings=settings,
    )
