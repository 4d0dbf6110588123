"""Spark event logs that are read to be looked at, without Spark and without a store.

`read_logs` is for `graft logs spark`. The pipeline uses `source` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.spark.log.files import SparkLogs, application_logs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, assemble
from dbt_graft.collectors.spark.worker import event_files
from dbt_graft.collectors.statement import COUNTS

__all__ = ["COUNTS", "CollectedLog", "SparkLogs", "read_logs"]


def read_logs(logs: SparkLogs, report: Report) -> Iterator[CollectedLog]:
    """Read the logs below a path one after the other.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    for log in application_logs(log_files(logs.path, logs.label, report=report)):
        yield assemble(log.log.origin, event_files(log), logs)
