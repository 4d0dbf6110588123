"""The writers of a dataset, for its page."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_graft.analysis.history.presence import droppers
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.run_history import RunHistory, usages_history
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Shape, TaskInfo
from dbt_graft.lineage.usage import Usage


@frozen
class DatasetWrites:
    """The writers of a dataset, or its definition.

    Attributes:
        last_write: The newest write that put data there.
        task: What is known of the one task that writes it.
        dropped_by: The tasks that dropped it, if it is gone.
        history: Runs that wrote it or tried to, of all tasks.
        statements: Those that write it, or define the view.
        view: The definition, if it is a view with a known one.
    """

    writers: Sequence[Usage]
    last_write: Usage | None
    task: TaskInfo
    dropped_by: Sequence[str]
    history: RunHistory
    statements: Sequence[Shape]
    view: Definition | None
    built_by_dbt: bool
    dbt_parents: Sequence[DatasetId]


def dataset_writes(index: Index, dataset: DatasetId, writers: Sequence[Usage]) -> DatasetWrites:
    """Those of a dataset.

    Args:
        writers: The uses by tasks that write it.
    """
    view = index.view(dataset)
    return DatasetWrites(
        writers=[usage for usage in writers if not usage.repeats],
        last_write=index.written(dataset),
        task=_writer(index, writers),
        dropped_by=_droppers(index, dataset),
        history=index.run_dates.of_runs(
            usages_history(index.lineage, writers, index.days.datasets.get(dataset, ())),
            dataset=dataset,
        ),
        statements=statements(index, [*writers, *([view] if view else [])]),
        view=view,
        built_by_dbt=index.built_by_dbt(dataset),
        dbt_parents=index.parents(dataset, DefinitionKind.DBT),
    )


def statements(index: Index, users: Sequence[Usage | Definition | Task]) -> list[Shape]:
    """The statements of usages, definitions and tasks, each once."""
    shapes = index.lineage.shapes
    ids = dict.fromkeys(id_ for user in users for id_ in user.shapes if id_ in shapes)
    return [shapes[id_] for id_ in ids if shapes[id_].text.strip()]


def _droppers(index: Index, dataset: DatasetId) -> list[str]:
    """The tasks that dropped a dataset; none of one that is there."""
    if not index.datasets[dataset].dropped_at:
        return []
    return sorted({usage.task for usage in droppers(index.lineage, dataset)})


def _writer(index: Index, writers: Sequence[Usage]) -> TaskInfo:
    """The facts of the one task that writes a dataset; none where there are several."""
    tasks = {usage.task for usage in writers}
    return index.tasks[tasks.pop()].info if len(tasks) == 1 else TaskInfo()
