"""A task in people's YAML: the fields of `lineage.records.TaskInfo`, checked."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import AfterValidator, create_model

from dbt_graft.analysis.quality.times import length, time_of_day
from dbt_graft.collectors.public_address import public_address, public_command
from dbt_graft.lineage.records import TaskInfo
from dbt_graft.lineage.redaction import redact_json
from dbt_graft.lineage.section import Section, Text

ConsumerType = Literal["dashboard", "notebook", "analysis", "ml", "application", ""]
Maturity = Literal["high", "medium", "low", ""]
Address = Annotated[str, AfterValidator(public_address)]
Command = Annotated[str, AfterValidator(str.strip), AfterValidator(public_command)]


def _clock(text: str) -> str:
    if text and time_of_day(text) is None:
        raise ValueError(
            'write a time of day, and its zone if that is not UTC: "08:00 Europe/Berlin"'
        )
    return text


def _length(text: str) -> str:
    if text and length(text) is None:
        raise ValueError("write a length of time: 2h, 90m, 1d, PT2H")
    return text


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
    deadline: Annotated[str, AfterValidator(_clock)] = ""
    freshness_slo: Annotated[str, AfterValidator(_length)] = ""

    def info(self) -> TaskInfo:
        """The entry as a record, without secrets and what a subclass adds."""
        return TaskInfo(**redact_json({name: getattr(self, name) for name in _fields}))
