"""The door of the collector of OpenLineage's events: its source."""

from __future__ import annotations

from dbt_graft.collectors.files import report_nothing
from dbt_graft.collectors.openlineage.collect import collect
from dbt_graft.collectors.openlineage.files import EventFiles, new_parts
from dbt_graft.collectors.source import LogSource

__all__ = ["EventFiles", "event_source"]


def event_source(files: EventFiles, settings: str = "") -> LogSource:
    """Files with events as a source.

    Args:
        settings: A digest of what makes the files be read again once it changes.
    """
    return LogSource(
        lambda positions, report=report_nothing: new_parts(files, positions, report),
        lambda spark, positions, reading: collect(spark, files, positions, reading),
        label=files.label,
        settings=settings,
    )
