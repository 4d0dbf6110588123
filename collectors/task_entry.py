"""A task in people's YAML: the fields of `lineage.records.TaskInfo`, checked."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal

from dbt_graft.analysis.quality.times import length, time_of_day
from dbt_graft.collectors.public_address import public_address, public_command
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import TaskInfo
from dbt_graft.lineage.redaction import redact_json
from dbt_graft.lineage.section import Checked, Section, Text

ConsumerType = Literal["dashboard", "notebook", "analysis", "ml", "application", ""]
Maturity = Literal["high", "medium", "low", ""]
Address = Annotated[str, Checked(public_address)]
Command = Annotated[str, Checked(str.strip), Checked(public_command)]


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


@frozen
class TaskEntry(TaskInfo, Section):
    """The facts about a task that no log has; see `lineage.records.TaskInfo`."""

    repo: Address = ""
    runbook: Address = ""
    tags: tuple[Text, ...] = ()
    type: ConsumerType = ""
    url: Address = ""
    maturity: Maturity = ""
    rerun: Command = ""
    freshness_slo: Annotated[str, Checked(_length)] = ""
    deadline: Annotated[str, Checked(_clock)] = ""

    def info(self) -> TaskInfo:
        """The entry as a record, without secrets and what a subclass adds."""
        names = (field.name for field in fields(TaskInfo))
        return TaskInfo(**redact_json({name: getattr(self, name) for name in names}))
