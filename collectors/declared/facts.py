"""The contents of files of declared lineage, to build the lineage or review it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dbt_graft.collectors.declared.collect import (
    declared_dates,
    declared_records,
    documents,
    task_infos,
)
from dbt_graft.collectors.declared.listing import NoFileError
from dbt_graft.collectors.files import LogPath
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Records, TaskInfo


@frozen
class DeclaredFile:
    """A file of declared lineage.

    Attributes:
        infos: Descriptions, owners and so on of its tasks and consumers, by name.
    """

    path: Path
    infos: Mapping[str, TaskInfo]


def declared_facts(
    path: str, label: str
) -> tuple[dict[str, TaskInfo], dict[DatasetId, DeclaredDates]]:
    """Descriptions, owners and so on of tasks and consumers in files, and the dates of datasets.

    Empty where there is no file; collecting reports that.

    Raises:
        GraftError: Some are not valid.
    """
    try:
        documents_by_path = documents(LogPath(path, label))
    except NoFileError:
        return {}, {}
    return task_infos(documents_by_path), declared_dates(documents_by_path)


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
