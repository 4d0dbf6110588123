"""The settings by which records become lineage."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import field

from dbt_graft.lineage.code import TaskCode
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import TaskInfo


@frozen
class OneNameRules:
    """The kinds of names that are names of another dataset.

    Attributes:
        apart: Datasets that stay by themselves.
    """

    date_shards: bool = True
    run_tables: bool = True
    pass_through_views: bool = True
    apart: Container[DatasetId] = ()


@frozen
class LineageSettings:
    """The section `lineage` of graft.yml, and what people declare of tasks and datasets.

    Attributes:
        infos: What graft.yml and declared lineage say of tasks, by name.
        failed: What failed statements tried counts as done.
        infer_columns: Columns of equal name are connected through a task's memory.
        projects: Our own dbt projects, of whose models the manifest tells; None if all are.
        one_name: The kinds of names that are names of another dataset; all of them by default.
        dates: What people declare of the dates of datasets, under any of their names.
        ignore: Patterns of the names of tasks that are left out.
        codes: The code of tasks, by name.
    """

    infos: Mapping[str, TaskInfo] = field(default_factory=dict)
    failed: bool = False
    infer_columns: bool = True
    projects: Collection[str] | None = None
    one_name: OneNameRules = field(default_factory=OneNameRules)
    dates: Mapping[DatasetId, DeclaredDates] = field(default_factory=dict)
    ignore: Collection[str] = ()
    codes: Mapping[str, TaskCode] = field(default_factory=dict)


@frozen
class IgnoredTasks:
    """The number of tasks, runs, statements and datasets that were left out."""

    tasks: int = 0
    runs: int = 0
    statements: int = 0
    datasets: int = 0
