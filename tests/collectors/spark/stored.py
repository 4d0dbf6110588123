"""Records of a log as rows of the lineage store."""

from __future__ import annotations

from typing import Any

from dbt_graft.collectors.schema import row
from dbt_graft.collectors.spark.store.read_log import CollectedLog


def tables(log: CollectedLog) -> dict[str, list[dict[str, Any]]]:
    """The rows of a log, by table."""
    return row(log.records)
