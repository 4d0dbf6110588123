"""Datasets that a DAG declares, and those that Airflow's hooks noticed."""

from __future__ import annotations

from typing import Any


def declared_datasets(entries: Any) -> list[Any]:
    """Inlets or outlets as datasets of OpenLineage; those that Airflow cannot translate are left
    out, as it does itself.
    """
    from airflow.providers.openlineage.extractors.manager import ExtractorManager

    datasets = (ExtractorManager.convert_to_ol_dataset(entry) for entry in entries or ())
    return [dataset for dataset in datasets if dataset is not None]


def hook_lineage(task_instance: Any, *, failed: bool) -> tuple[list[Any], list[Any]]:
    """Inputs and outputs that hooks reported in this process.

    Airflow asks for them only where an extractor found nothing.
    """
    from airflow.providers.openlineage.extractors.manager import ExtractorManager

    ask = getattr(ExtractorManager, "get_hook_lineage", None)
    if ask is None:
        return [], []
    # Made without its `__init__`, which would import all extractors again.
    manager = object.__new__(ExtractorManager)
    try:
        lineage = ask(manager, task_instance, _state(failed=failed))
    except TypeError:  # an older provider
        lineage = ask(manager)
    if not lineage:
        return [], []
    inputs, outputs = lineage if isinstance(lineage, tuple) else (lineage.inputs, lineage.outputs)
    return list(inputs or ()), list(outputs or ())


def _state(*, failed: bool) -> Any:
    from airflow.utils.state import TaskInstanceState

    return TaskInstanceState.FAILED if failed else TaskInstanceState.SUCCESS
