"""Declared lineage as a source of `collect`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.declared.listing import changed_files
from dbt_graft.collectors.files import LogPath, report_nothing
from dbt_graft.collectors.source import LogSource
from dbt_graft.collectors.store.tables import Collected, Positions


def declared_source(path: str, label: str) -> LogSource:
    """Files of declared lineage as a source.

    Args:
        path: A file, a folder, or a pattern with `*`, on this machine.
        label: The path as `graft.yml` writes it; origins begin with it.
    """
    files = LogPath(path, label)
    return LogSource(
        lambda positions, report=report_nothing: changed_files(files, positions, report),
        read=lambda positions: _read(files, positions),
        label=f"declared:{label}",
    )


def _read(files: LogPath, positions: Positions) -> Iterator[Collected]:
    # Who lists files has no use for pydantic, which checks what stands in them.
    from dbt_graft.collectors.declared.collect import collect

    return collect(changed_files(files, positions))
