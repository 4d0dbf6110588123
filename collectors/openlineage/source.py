"""The door of the collector of OpenLineage's events: its source."""

from __future__ import annotations

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.files import report_nothing
from dbt_graft.collectors.openlineage.files import EventFiles, new_parts
from dbt_graft.collectors.source import LogSource
from dbt_graft.collectors.store.tables import Collected, Positions

__all__ = ["EventFiles", "event_source"]


def event_source(files: EventFiles, settings: str = "") -> LogSource:
    """Files with events as a source.

    Args:
        settings: A digest of what makes the files be read again once it changes.
    """

    def collect(engine: Engine, positions: Positions, reading: Reading) -> Collected | None:
        # Imported once a file is new: a build mostly has to see that none is.
        from dbt_graft.collectors.openlineage.collect import collect as collect_events

        return collect_events(engine, files, positions, reading)

    return LogSource(
        lambda positions, report=report_nothing: new_parts(files, positions, report),
        collect,
        label=files.label,
        settings=settings,
    )
