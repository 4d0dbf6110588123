"""The door of the collector of OpenLineage's events: its source."""

from __future__ import annotations

from dbt_graft.collectors.openlineage.collect import collect
from dbt_graft.collectors.openlineage.files import EventFiles, new_parts
from dbt_graft.collectors.source import LogSource, settings_digest

__all__ = ["EventFiles", "event_source"]


def event_source(files: EventFiles) -> LogSource:
    """Files with events as a source."""
    return LogSource(
        lambda known: new_parts(files, known),
        lambda spark, known, reading: collect(spark, files, known, reading),
        label=files.label,
        settings=settings_digest({"task": files.task}),
    )
