"""Tasks and dates of datasets that people declare, in graft.yml and in declared lineage."""

from __future__ import annotations

from dataclasses import asdict, replace

from dbt_graft.collectors.declared.source import declared_dataset_dates, declared_task_infos
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.records import TaskInfo


def task_infos(config: Config) -> dict[str, TaskInfo]:
    """Owners, descriptions and so on of tasks: from graft.yml, else from declared lineage.

    Raises:
        GraftError: A file of declared lineage is not valid.
    """
    infos: dict[str, TaskInfo] = {}
    for entry in config.collect:
        if entry.declared:
            path = entry.declared.path
            infos = {**declared_task_infos(config.path(path), path), **infos}
    for name, info in config.task_infos.items():
        filled = {key: value for key, value in asdict(info).items() if value}
        infos[name] = replace(infos.get(name, info), **filled)
    return infos


def declared_dates(config: Config) -> dict[DatasetId, DeclaredDates]:
    """The dates of datasets in declared lineage; the first entry with a name wins.

    Raises:
        GraftError: A file of declared lineage is not valid.
    """
    dates: dict[DatasetId, DeclaredDates] = {}
    for entry in config.collect:
        if entry.declared:
            path = entry.declared.path
            dates = {**declared_dataset_dates(config.path(path), path), **dates}
    return dates
