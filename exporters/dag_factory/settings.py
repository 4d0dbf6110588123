"""The settings of exported DAGs: how tasks run, and how they are grouped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt_graft.exporters.dag_factory.order import OrderedNode

DBT = "dbt"
_FIELD = r"(?:[0-9*?L][0-9A-Za-z*/,#?-]*|[A-Za-z]{3}(?:[-,][A-Za-z]{3})*)"
_CRON = re.compile(rf"{_FIELD}(?: +{_FIELD}){{4,5}}")
_PRESETS = frozenset(
    {"@once", "@continuous", "@hourly", "@daily", "@midnight", "@weekly", "@monthly"}
    | {"@quarterly", "@yearly", "@annually"}
)


class DagGrouping(StrEnum):
    """Tasks that share a DAG: all; those of one tag, owner or schedule; those that connect."""

    ONE = "one"
    TAG = "tag"
    OWNER = "owner"
    SCHEDULE = "schedule"
    PART = "part"


class TaskGrouping(StrEnum):
    """Tasks of a DAG that share a task group: those of one engine, owner…"""

    NONE = "none"
    ENGINE = "engine"
    OWNER = "owner"
    TAG = "tag"
    SCHEDULE = "schedule"


class DbtTasks(StrEnum):
    """The tasks of dbt's nodes: one each, one `dbt build` per level, cosmos's operators, none."""

    MODELS = "models"
    LEVELS = "levels"
    COSMOS = "cosmos"
    NONE = "none"


class WaitBy(StrEnum):
    """The means by which a DAG waits for what a task of another one writes."""

    ASSETS = "assets"
    SENSOR = "sensor"


class External(StrEnum):
    """A task that Airflow does not run: its place is marked, or waited for by a sensor."""

    NO = "no"
    MARK = "mark"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class TaskCommand:
    """A command or an operator for some tasks; `{task}`… in its texts are filled in for each.

    Attributes:
        task: A pattern of task names, dbt's unique_ids or names of dbt nodes; empty for all.
        engine: The engine of the tasks, `dbt` for dbt's nodes; empty for all.
        command: The shell command of a bash task.
        operator: The class of the operator; empty for Airflow's bash operator.
        arguments: Further arguments of the operator.
    """

    task: str = ""
    engine: str = ""
    command: str = ""
    operator: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    append_env: bool = True
    pool: str = ""
    retries: int | None = None
    external: External = External.NO

    def matches(self, node: OrderedNode) -> bool:
        """Whether it says how a node runs."""
        if self.engine and self.engine not in node.engines:
            return False
        return not self.task or any(
            fnmatchcase(name, self.task) for name in (node.name, node.label)
        )


@dataclass(frozen=True, slots=True)
class DagSettings:
    """The section `airflow` of `graft.yml`.

    Attributes:
        version: Airflow's major version, 2 or 3: import paths differ.
        name: The id of the one DAG; of several the beginning of their ids.
        exclude: Patterns of tasks and dbt nodes that no DAG runs.
        ignore: Edges `(writer, reader)`, by patterns, that no order follows from.
        default_args: Airflow's, for every task.
        dag_args: Further arguments of every DAG.
        lineage: Write inlets and outlets as OpenLineage datasets.
        sensor: Arguments of the sensors, see `graft_airflow.LineageSensor`.
        site_url: The address of the catalog; empty without links.
    """

    version: int = 3
    name: str = "lineage"
    dags: DagGrouping = DagGrouping.ONE
    task_groups: TaskGrouping = TaskGrouping.NONE
    dbt: DbtTasks = DbtTasks.MODELS
    wait: WaitBy = WaitBy.ASSETS
    schedule: str = ""
    start_date: str = "2024-01-01"
    retries: int | None = None
    retry_delay: int | None = None
    pool: str = ""
    tags: tuple[str, ...] = ()
    default_args: Mapping[str, Any] = field(default_factory=dict)
    dag_args: Mapping[str, Any] = field(default_factory=dict)
    commands: tuple[TaskCommand, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore: tuple[tuple[str, str], ...] = ()
    lineage: bool = False
    sensor: Mapping[str, Any] = field(default_factory=dict)
    site_url: str = ""

    def command(self, node: OrderedNode) -> TaskCommand | None:
        """The first entry that says how a node runs; None where none does."""
        return next((command for command in self.commands if command.matches(node)), None)

    def excludes(self, node: OrderedNode) -> bool:
        """Whether no DAG runs a node."""
        if node.is_dbt and self.dbt is DbtTasks.NONE:
            return True
        names = (node.name, node.label)
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.exclude)


def is_schedule(text: str) -> bool:
    """Whether a text looks like a schedule of Airflow: five fields of cron, six, or a preset."""
    return text in _PRESETS or _CRON.fullmatch(text.strip()) is not None
