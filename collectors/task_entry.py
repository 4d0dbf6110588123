"""A task in people's YAML: the fields of `lineage.records.TaskInfo`, checked."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import AfterValidator, create_model

from dbt_graft.collectors.checked_yaml import Section, Text
from dbt_graft.collectors.public_address import public_address, public_command
from dbt_graft.lineage.records import TaskInfo

ConsumerType = Literal["dashboard", "notebook", "analysis", "ml", "application", ""]
Maturity = Literal["high", "medium", "low", ""]
Address = Annotated[str, AfterValidator(public_address)]
Command = Annotated[str, AfterValidator(str.strip), AfterValidator(public_command)]

_hints = get_type_hints(TaskInfo)
_fields: Any = {field.name: (_hints[field.name], field.default) for field in fields(TaskInfo)}
_TaskFields: Any = create_model("_TaskFields", __base__=Section, **_fields)


class TaskEntry(_TaskFields):
    """The facts about a task that no log has; see `lineage.records.TaskInfo`."""

    tags: tuple[Text, ...] = ()
    repo: Address = ""
    runbook: Address = ""
    url: Address = ""
    type: ConsumerType = ""
    maturity: Maturity = ""
    rerun: Command = ""

    def info(self) -> TaskInfo:
        """The entry as a record, without what a subclass adds."""
        return TaskInfo(**{name: getattr(self, name) for name in _fields})
