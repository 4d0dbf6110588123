"""The plan of DAGs: what every DAG holds, before it is written in any form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_graft.analysis.finding import Finding
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period import Period
from dbt_graft.lineage.frozen import frozen


@dataclass(frozen=True, slots=True, order=True)
class DataAsset:
    """An asset of Airflow: what one DAG waits for, and a task of another one writes.

    Attributes:
        writer: The id of the task that writes it, if it is not the only one.
    """

    dataset: DatasetId
    writer: str = ""


@frozen
class PlannedTask:
    """A task of a DAG.

    Attributes:
        nodes: The tasks and dbt nodes that it runs, sorted; none for a sensor.
        operator: The class of its operator.
        arguments: The operator's arguments.
        group: The id of its task group; empty for none.
        dependencies: The ids of the tasks that run before it, direct ones only, sorted.
        reads, writes: Its inputs, without those that it writes itself on the way, and its outputs;
            none of a task that runs elsewhere.
        periods: Of its outputs the dates that it writes, where they are not those of the DAG's run.
        announces: The assets that other DAGs wait for.
        doc: Markdown.
    """

    task_id: str
    nodes: tuple[str, ...]
    operator: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    dependencies: tuple[str, ...] = ()
    reads: tuple[DatasetId, ...] = ()
    writes: tuple[DatasetId, ...] = ()
    periods: Mapping[DatasetId, tuple[Period, ...]] = field(default_factory=dict)
    announces: tuple[DataAsset, ...] = ()
    owner: str = ""
    doc: str = ""


@frozen
class PlannedDag:
    """A DAG.

    Attributes:
        tasks: In processing order.
        groups: Id of a task group -> its tooltip.
        schedule: A cron expression or preset; empty for none.
        waits_for: The assets that start it, all of them; they take the place of the schedule.
    """

    dag_id: str
    tasks: tuple[PlannedTask, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    schedule: str = ""
    waits_for: tuple[DataAsset, ...] = ()
    tags: tuple[str, ...] = ()
    description: str = ""


@frozen
class DagPlan:
    """All DAGs, sorted by id.

    Attributes:
        dags: Empty where a problem concerns all of them.
        problems: What keeps tasks, or all DAGs, from being written.
        left_out: Tasks and dbt nodes that no DAG runs -> the reason.
    """

    dags: tuple[PlannedDag, ...] = ()
    problems: tuple[Finding, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
