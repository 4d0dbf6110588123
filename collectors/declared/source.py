"""The door of declared lineage: its source, and its files for commands that check them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dbt_graft.collectors.declared.collect import (
    NoFileError,
    changed_files,
    collect,
    declared_dates,
    declared_records,
    documents,
    task_infos,
)
from dbt_graft.collectors.declared.document import read
from dbt_graft.collectors.files import LogPath, report_nothing
from dbt_graft.collectors.source import LogSource
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Records, TaskInfo

__all__ = [
    "DeclaredFile",
    "declared_dataset_dates",
    "declared_files",
    "declared_source",
    "declared_task_infos",
    "read",
]


@frozen
class DeclaredFile:
    """A file of declared lineage.

    Attributes:
        infos: Descriptions, owners and so on of its tasks and consumers, by name.
    """

    path: Path
    infos: Mapping[str, TaskInfo]


def declared_source(path: str, label: str) -> LogSource:
    """Files of declared lineage as a source.

    Args:
        path: A file, a folder, or a pattern with `*`, on this machine.
        label: The path as `graft.yml` writes it; origins begin with it.
    """
    files = LogPath(path, label)
    return LogSource(
        lambda positions, report=report_nothing: changed_files(files, positions, report),
        read=lambda positions: collect(changed_files(files, positions)),
        label=f"declared:{label}",
    )


def declared_task_infos(path: str, label: str) -> dict[str, TaskInfo]:
    """Descriptions, owners and so on of the tasks and consumers in files of declared lineage.

    Empty where there is no file; collecting reports that.

    Raises:
        GraftError: Some are not valid.
    """
    try:
        return task_infos(documents(LogPath(path, label)))
    except NoFileError:
        return {}


def declared_dataset_dates(path: str, label: str) -> dict[DatasetId, DeclaredDates]:
    """The dates of datasets in files of declared lineage; empty where there is no file.

    Raises:
        GraftError: Some are not valid.
    """
    try:
        return declared_dates(documents(LogPath(path, label)))
    except NoFileError:
        return {}


def declared_files(path: str, label: str) -> tuple[Records, list[DeclaredFile]]:
    """The lineage in files as it is now, and the files; nothing where there is no file.

    Raises:
        GraftError: Some are not valid.
    """
    files = LogPath(path, label)
    try:
        documents_by_path = documents(files)
    except NoFileError:
        return Records(), []
    file_infos = [
        DeclaredFile(path, document.infos()) for path, document in documents_by_path.items()
    ]
    return declared_records(files, documents_by_path), file_infos
