"""Task metadata: for each task its input and output datasets, in the shape the method is known by.

{"load_orders": {"input": [{"_entity_name": "orders", "_entity_type": "BASE TABLE",
                            "_database_name": "Shop", "_schema_name": "dbo",
                            "_generated_by": null}],
                 "output": [...]}}
"""

from __future__ import annotations

from collections.abc import Iterable

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.model import Lineage

Entity = dict[str, str | None]
_ENTITY_TYPE = {Kind.TABLE: "BASE TABLE", Kind.VIEW: "VIEW"}


def task_metadata(lineage: Lineage) -> dict[str, dict[str, list[Entity]]]:
    """For each Python task what it read and wrote.

    `_generated_by` is `python_task` or `dbt` after who writes the dataset, `view` where only its
    definition makes it, and null where nobody we know does. dbt's models and views are no tasks
    here: dbt and the database keep track of those themselves.
    """

    def entities(datasets: Iterable[DatasetId]) -> list[Entity]:
        return [_entity(lineage, dataset) for dataset in datasets]

    return {
        name: {"input": entities(task.reads), "output": entities(task.writes)}
        for name, task in lineage.tasks.items()
    }


def _generated_by(lineage: Lineage, dataset: DatasetId) -> str | None:
    """Who makes it: dbt where dbt builds it, a task before a view's definition."""
    definition = lineage.definition(dataset)
    if definition and definition.kind is DefinitionKind.DBT:
        return definition.kind
    if lineage.writers(dataset):
        return "python_task"
    return definition.kind if definition else None


def _entity(lineage: Lineage, dataset: DatasetId) -> Entity:
    kind = lineage.datasets[dataset].kind
    is_path = kind is Kind.PATH or "/" in dataset.name
    *qualifiers, name = (dataset.name,) if is_path else dataset.parts
    database, schema = [None, None, *qualifiers][-2:]
    return {
        "_entity_name": name,
        "_entity_type": _ENTITY_TYPE.get(kind, kind.value),
        "_database_name": database,
        "_schema_name": schema,
        "_generated_by": _generated_by(lineage, dataset),
    }
