"""The columns on which dbt's artifacts and the logs of a project do not agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from dbt_graft.analysis.checks.column_drift import ColumnDrift, column_drift
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.project import LineageView, Project
from dbt_graft.injector.dbt_columns import dbt_columns
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Column, Dataset, Direction, Status


def find_drifted_columns(config: Config, lineage: Lineage) -> list[ColumnDrift]:
    """The columns on which catalog.json, YAML and the logs do not agree; none without artifacts."""
    project = Project(config)
    if project.dbt is None:
        return []
    seen = _rename_datasets(project.records(LineageView(results=False)).datasets, project.rename)
    columns = dbt_columns(project.dbt.artifacts, project.dbt.relations)
    return column_drift(columns, seen, _last_writes(lineage))


def _rename_datasets(datasets: tuple[Dataset, ...], rename: Rename) -> Iterator[Dataset]:
    """Datasets under their names of today; types of another platform are not dbt's."""
    for dataset in datasets:
        name = rename(dataset.id)
        if name.namespace != dataset.id.namespace:
            columns = tuple(Column(column.name) for column in dataset.columns)
            yield replace(dataset, id=name, columns=columns)
        else:
            yield replace(dataset, id=name)


def _last_writes(lineage: Lineage) -> dict[DatasetId, datetime]:
    """The last write of each dataset, by tasks and by dbt."""
    last_writes: dict[DatasetId, datetime] = {}

    def add(dataset: DatasetId, at: datetime | None) -> None:
        if at:
            last_writes[dataset] = max(at, last_writes.get(dataset, at))

    for task in lineage.tasks.values():
        for usage in task.usages:
            if usage.direction is Direction.WRITE and usage.moves_data and not usage.failed:
                add(usage.dataset, usage.last_at)
    for definition in lineage.definitions.values():
        for result in lineage.node_results.get(definition.name, ()):
            if result.status is Status.OK:
                add(definition.dataset, result.started_at)
    return last_writes
