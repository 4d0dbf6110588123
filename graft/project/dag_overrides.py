"""The file of overrides that people keep beside exported DAGs: read and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, RootModel

from dbt_graft.collectors.checked_yaml import read_yaml
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.section import Text


class _Keys(BaseModel):
    """Keys of dag-factory, of which there are many."""

    model_config = ConfigDict(extra="allow", frozen=True)


class _Task(_Keys):
    task_id: Text


class _TaskGroup(_Keys):
    group_name: Text


class _Dag(_Keys):
    tasks: list[_Task] = []
    task_groups: list[_TaskGroup] = []


class _Overrides(RootModel[dict[str, _Dag]]):
    """Id of a DAG -> what to add to it."""


def dag_overrides(config: Config) -> dict[str, dict[str, Any]]:
    """Id of a DAG -> the keys that people add; none where `airflow.overrides` names no file.

    Raises:
        GraftError: The file is missing or not valid.
    """
    if not config.airflow.overrides:
        return {}
    path = Path(config.path(config.airflow.overrides))
    read = read_yaml(path, _Overrides, "must hold DAGs: `shop_lineage: {…}`")
    return {dag_id: dag.model_dump(exclude_unset=True) for dag_id, dag in read.root.items()}
