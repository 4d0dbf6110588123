"""Tasks and dates of datasets that people declare, in graft.yml and in declared lineage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from dbt_graft.graft.project.code_stamps import named_files, stamps
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.section_file import RememberedValue, value_key
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import TaskInfo


@frozen
class Declared:
    """Declared lineage beside its flows; the first entry with a name wins.

    Attributes:
        infos: Owners, descriptions and so on of tasks.
        dates: The dates of datasets.
    """

    infos: Mapping[str, TaskInfo]
    dates: Mapping[DatasetId, DeclaredDates]


def read_declared(config: Config) -> Declared:
    """The tasks and dates in files of declared lineage.

    Raises:
        GraftError: One is not valid.
    """
    paths = [entry.declared.path for entry in config.collect if entry.declared]
    if not paths:
        return Declared({}, {})
    files = (file for path in paths for file in named_files(config.path(path)))
    key = value_key((*paths, *stamps(files)))
    remembered = RememberedValue(Path(config.path(config.artifacts)), "declared.bin", key)
    declared = remembered.read()
    if not isinstance(declared, Declared):
        declared = _read(config, paths)
        remembered.write(declared)
    return declared


def _read(config: Config, paths: list[str]) -> Declared:
    # Its checks, pydantic with them, take longer to import than most questions take.
    from dbt_graft.collectors.declared.facts import declared_facts

    declared = Declared({}, {})
    for path in paths:
        infos, dates = declared_facts(config.path(path), path)
        declared = Declared({**infos, **declared.infos}, {**dates, **declared.dates})
    return declared


def task_infos(config: Config) -> dict[str, TaskInfo]:
    """Owners, descriptions and so on of tasks: from graft.yml, else from declared lineage.

    Raises:
        GraftError: A file of declared lineage is not valid.
    """
    infos = dict(read_declared(config).infos)
    for name, info in config.task_infos.items():
        filled = {key: value for key, value in asdict(info).items() if value}
        infos[name] = replace(infos.get(name, info), **filled)
    return infos
