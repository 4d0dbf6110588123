"""The section `airflow` of `graft.yml`: how tasks become DAGs of Airflow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from dbt_graft.collectors.checked_yaml import Section, Text
from dbt_graft.exporters.dag_factory.settings import (
    DagGrouping,
    DagSettings,
    DbtTasks,
    External,
    TaskCommand,
    TaskGrouping,
    WaitBy,
    is_schedule,
)
from dbt_graft.exporters.dag_factory.templates import check_template
from dbt_graft.graft.project.variables import expand_path

_PROTECTED = frozenset(
    {"task_id", "operator", "dependencies", "task_group_name", "bash_command", "env", "append_env"}
)


def _template(text: str) -> str:
    check_template(text)
    return text


def _dag_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name):
        raise ValueError("write up to 80 of A-Z, a-z, 0-9, _ and -")
    return name


def _cron(schedule: str) -> str:
    if not is_schedule(schedule):
        raise ValueError("write a cron expression, or a preset such as @daily")
    return schedule


def _class_path(path: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", path):
        raise ValueError("write the import path of a class: package.module.Class")
    return path


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


def _local_path(path: str) -> str:
    if "://" in expand_path(path) or not path.isprintable():
        raise ValueError("write a place on this machine, and copy it from there")
    return path


Template = Annotated[Text, AfterValidator(_template)]


class CommandEntry(Section):
    """A command or an operator for some tasks; see `exporters.dag_factory.settings.TaskCommand`."""

    task: Text = ""
    engine: Text = ""
    command: Template = ""
    operator: Annotated[Text, AfterValidator(_class_path)] = ""
    arguments: Annotated[dict[str, Any], AfterValidator(_arguments)] = Field(default={})
    env: dict[str, Template] = Field(default={})
    append_env: bool = True
    pool: Text = ""
    retries: Annotated[int, Field(ge=0)] | None = None
    external: bool | Literal["wait"] = False

    @model_validator(mode="after")
    def _runs_or_not(self) -> CommandEntry:
        if self.external and (self.command or self.operator):
            raise ValueError("a task that is `external` has no `command` and no `operator` here")
        return self

    def command_settings(self) -> TaskCommand:
        """The entry as the plan reads it."""
        external = External.WAIT if self.external == "wait" else External.MARK
        return TaskCommand(
            self.task,
            self.engine,
            self.command,
            self.operator,
            self.arguments,
            self.env,
            self.append_env,
            self.pool,
            self.retries,
            external if self.external else External.NO,
        )


class IgnoredOrder(Section):
    """A writer and a reader that may run in any order."""

    writer: Text
    reader: Text


class AirflowSection(Section):
    """Settings of the DAGs for Airflow; see `exporters.dag_factory.settings.DagSettings`."""

    version: Literal[2, 3] = 3
    out: Annotated[Text, AfterValidator(_local_path)] = "dags"
    overrides: Annotated[Text, AfterValidator(_local_path)] | None = None
    name: Annotated[Text, AfterValidator(_dag_name)] = "lineage"
    dags: Literal["one", "tag", "owner", "schedule", "part"] = "one"
    task_groups: Literal["none", "engine", "owner", "tag", "schedule"] = "none"
    dbt: Literal["models", "levels", "cosmos", "none"] = "models"
    wait: Literal["assets", "sensor"] = "assets"
    sensor: Annotated[dict[str, Any], AfterValidator(_arguments)] = Field(default={})
    schedule: Annotated[Text, AfterValidator(_cron)] = ""
    start_date: date = date(2024, 1, 1)
    retries: Annotated[int, Field(ge=0)] | None = None
    retry_delay: Annotated[int, Field(ge=0)] | None = None
    pool: Text = ""
    tags: tuple[Text, ...] = ()
    default_args: dict[str, Any] = Field(default={})
    dag_args: dict[str, Any] = Field(default={})
    lineage: bool = True
    commands: tuple[CommandEntry, ...] = ()
    exclude: tuple[Text, ...] = ()
    ignore: tuple[IgnoredOrder, ...] = ()
    known_as: dict[str, Text] = Field(default={})

    def settings(self, site_url: str) -> DagSettings:
        """The section as the plan reads it.

        Args:
            site_url: The address of the catalog; empty without links.
        """
        return DagSettings(
            version=self.version,
            name=self.name,
            dags=DagGrouping(self.dags),
            task_groups=TaskGrouping(self.task_groups),
            dbt=DbtTasks(self.dbt),
            wait=WaitBy(self.wait),
            schedule=self.schedule,
            start_date=self.start_date.isoformat(),
            retries=self.retries,
            retry_delay=self.retry_delay,
            pool=self.pool,
            tags=self.tags,
            default_args=self.default_args,
            dag_args=self.dag_args,
            commands=tuple(command.command_settings() for command in self.commands),
            exclude=self.exclude,
            ignore=tuple((order.writer, order.reader) for order in self.ignore),
            lineage=self.lineage,
            sensor=self.sensor,
            site_url=f"{site_url.rstrip('/')}/" if site_url else "",
        )
