"""The settings of exported DAGs: how tasks run, and how they are grouped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

from dbt_graft.exporters.dag_factory.templates import check_template
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.section import Checked, Limits, Section, Text, written_as

if TYPE_CHECKING:
    from dbt_graft.exporters.dag_factory.order import OrderedNode

DBT = "dbt"
_PROTECTED = frozenset(
    {"task_id", "operator", "dependencies", "task_group_name", "bash_command", "env", "append_env"}
)
_FIELD = r"(?:[0-9*?Ll][0-9A-Za-z*/,#?-]*|[A-Za-z]{3}(?:[-,/#](?:[A-Za-z]{3}|\d{1,2}))*)"
_CRON = re.compile(rf"{_FIELD}(?:\s+{_FIELD}){{4,6}}")
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


def is_schedule(text: str) -> bool:
    """Whether a text looks like a schedule of Airflow: 5 to 7 fields of cron, or a preset."""
    return text.lower() in _PRESETS or _CRON.fullmatch(text.strip()) is not None


def _template(text: str) -> str:
    check_template(text)
    return text


def _cron(schedule: str) -> str:
    if not is_schedule(schedule):
        raise ValueError("write a cron expression, or a preset such as @daily")
    return schedule


def _arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    for name in arguments:
        if name in _PROTECTED:
            raise ValueError(f"`{name}` is written by graft itself")
    _check_templates(arguments)
    return arguments


def _check_templates(value: Any) -> None:
    if isinstance(value, str):
        check_template(value)
    elif isinstance(value, Mapping):
        for nested in value.values():
            _check_templates(nested)
    elif isinstance(value, list | tuple):
        for nested in value:
            _check_templates(nested)


Template = Annotated[Text, Checked(_template)]
_DagName = Annotated[
    Text, written_as(r"[A-Za-z0-9_-]{1,80}", "write up to 80 of A-Z, a-z, 0-9, _ and -")
]
_ClassPath = Annotated[
    Text,
    written_as(
        r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+",
        "write the import path of a class: package.module.Class",
    ),
]
Arguments = Annotated[dict[str, Any], Checked(_arguments)]


@frozen
class TaskCommand(Section):
    """A command or an operator for some tasks; `{task}`… in its texts are filled in for each.

    Attributes:
        task: A pattern of task names, dbt's unique_ids or names of dbt nodes; empty for all.
        engine: The engine of the tasks, `dbt` for dbt's nodes; empty for all.
        command: The shell command of a bash task.
        operator: The class of the operator; empty for Airflow's bash operator.
        arguments: Further arguments of the operator.
        external: Airflow does not run it: its place is marked, or `wait`ed for by a sensor.
    """

    task: Text = ""
    engine: Text = ""
    command: Template = ""
    operator: _ClassPath = ""
    arguments: Arguments = field(default_factory=dict)
    env: dict[str, Template] = field(default_factory=dict)
    append_env: bool = True
    pool: Text = ""
    retries: Annotated[int, Limits(ge=0)] | None = None
    external: bool | Literal["wait"] = False

    def __post_init__(self) -> None:
        if self.external and (self.command or self.operator):
            raise ValueError("a task that is `external` has no `command` and no `operator` here")

    def matches(self, node: OrderedNode) -> bool:
        """Whether it says how a node runs."""
        if self.engine and self.engine not in node.engines:
            return False
        return not self.task or any(
            fnmatchcase(name, self.task) for name in (node.name, node.label)
        )


@frozen
class IgnoredOrder(Section):
    """A writer and a reader, by patterns, that may run in any order."""

    writer: Text
    reader: Text


@frozen
class DagSettings(Section):
    """The DAGs for Airflow, as the section `airflow` of `graft.yml` says.

    Attributes:
        version: Airflow's major version: import paths differ.
        name: The id of the one DAG; of several the beginning of their ids.
        exclude: Patterns of tasks and dbt nodes that no DAG runs.
        default_args: Airflow's, for every task.
        dag_args: Further arguments of every DAG.
        lineage: Write inlets and outlets as OpenLineage datasets.
        sensor: Arguments of the sensors, see `graft_airflow.LineageSensor`.
    """

    version: Literal[2, 3] = 3
    name: _DagName = "lineage"
    dags: DagGrouping = DagGrouping.ONE
    task_groups: TaskGrouping = TaskGrouping.NONE
    dbt: DbtTasks = DbtTasks.MODELS
    wait: WaitBy = WaitBy.ASSETS
    sensor: Arguments = field(default_factory=dict)
    schedule: Annotated[Text, Checked(_cron)] = ""
    start_date: date = date(2024, 1, 1)
    retries: Annotated[int, Limits(ge=0)] | None = None
    retry_delay: Annotated[int, Limits(ge=0)] | None = None
    pool: Text = ""
    tags: tuple[Text, ...] = ()
    default_args: dict[str, Any] = field(default_factory=dict)
    dag_args: dict[str, Any] = field(default_factory=dict)
    lineage: bool = True
    commands: tuple[TaskCommand, ...] = ()
    exclude: tuple[Text, ...] = ()
    ignore: tuple[IgnoredOrder, ...] = ()

    def command(self, node: OrderedNode) -> TaskCommand | None:
        """The first entry that says how a node runs; None where none does."""
        return next((command for command in self.commands if command.matches(node)), None)

    def excludes(self, node: OrderedNode) -> bool:
        """Whether no DAG runs a node."""
        if node.is_dbt and self.dbt is DbtTasks.NONE:
            return True
        names = (node.name, node.label)
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.exclude)
