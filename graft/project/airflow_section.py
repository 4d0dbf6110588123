"""The section `airflow` of `graft.yml`: how tasks become DAGs of Airflow."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.graft.project.variables import expand_path
from dbt_graft.lineage.section import Text


def _local_path(path: str) -> str:
    if "://" in expand_path(path) or not path.isprintable():
        raise ValueError("write a place on this machine, and copy it from there")
    return path


class AirflowSection(DagSettings):
    """Settings of the DAGs, and what is beside them in files and in Airflow.

    Attributes:
        known_as: A task's name in events of Airflow -> its name in the lineage.
    """

    out: Annotated[Text, AfterValidator(_local_path)] = "dags"
    overrides: Annotated[Text, AfterValidator(_local_path)] | None = None
    known_as: dict[str, Text] = Field(default={})
