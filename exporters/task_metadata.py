"""Task metadata: the input and output datasets of each task.

{"load_orders": {"input": [{"_entity_name": "orders", "_entity_type": "BASE TABLE",
                            "_database_name": "Shop", "_schema_name": "dbo",
                            "_generated_by": null}],
                 "output": [...]}}
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.model import Lineage

Entity = dict[str, str | None]
_ENTITY_TYPE = {Kind.TABLE: "BASE TABLE", Kind.VIEW: "VIEW"}


def task_metadata(lineage: Lineage) -> dict[str, dict[str, list[Entity]]]:
    """Return input and output of each Python task.

    `_generated_by` is `dbt` for datasets that dbt builds, `python_task` for other datasets that a
    task writes, `view` for other views, else null. dbt's models and views are not listed as tasks:
    dbt and the database document those.
    """

    def entities(datasets: Iterable[DatasetId]) -> list[Entity]:
        return [_entity(lineage, dataset) for dataset in datasets]

    return {
        name: {"input": entities(task.reads), "output": entities(task.writes)}
        for name, task in lineage.tasks.items()
    }


def task_metadata_file(lineage: Lineage) -> bytes:
    """The content of task_metadata.json."""
    return orjson.dumps(
        task_metadata(lineage), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )


def _generated_by(lineage: Lineage, dataset: DatasetId) -> str | None:
    """dbt before tasks, tasks before the definition of a view."""
    definition = lineage.definition(dataset)
    if definition and definition.kind is DefinitionKind.DBT:
        return definition.kind
    if lineage.writers(dataset):
        return "python_task"
    return definition.kind if definition else None


def _entity(lineage: Lineage, dataset: DatasetId) -> Entity:
    kind = lineage.datasets[dataset].kind
    is_path = kind is Kind.PATH or dataset.is_path
    *qualifiers, name = (dataset.name,) if is_path else dataset.parts
    database, schema = [None, None, *qualifiers][-2:]
    return {
        "_entity_name": name,
        "_entity_type": _ENTITY_TYPE.get(kind, kind.value),
        "_database_name": database,
        "_schema_name": schema,
        "_generated_by": _generated_by(lineage, dataset),
    }
