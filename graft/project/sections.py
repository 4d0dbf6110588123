"""The small sections of graft.yml: of gates, and of the time for which the store keeps things."""

from __future__ import annotations

import re
from dataclasses import field
from datetime import timedelta
from typing import Annotated, Literal

from dbt_graft.analysis.finding import Severity
from dbt_graft.analysis.rule import RULES
from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.graft.project.texts import expand_path
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.section import Checked, Section, Text

_DAYS = re.compile(r"([1-9][0-9]{0,4})d")


def _days(text: str) -> str:
    if not _DAYS.fullmatch(text):
        raise ValueError("write a number of days: 90d")
    return text


Days = Annotated[Text, Checked(_days)]


@frozen
class ImpactSection(Section):
    """The age of stale edges, and the severity from which on `graft impact` fails."""

    stale_after: Days = "90d"
    fail_on: Literal["warning", "blocking", "tainted", "restricted", "critical"] | None = None

    @property
    def stale_span(self) -> timedelta:
        """The time after which an edge that was not seen is stale."""
        return _span(self.stale_after)


@frozen
class KeepSection(Section):
    """The time for which the store keeps single runs, and texts of statements."""

    runs: Days | None = None
    statements: Days | None = None

    @property
    def spans(self) -> dict[str, timedelta]:
        """`runs`, `statements` -> how long they are kept; without what is kept for all time."""
        days_by_name = {"runs": self.runs, "statements": self.statements}
        return {name: _span(days) for name, days in days_by_name.items() if days}


def _span(days: str) -> timedelta:
    return timedelta(days=int(days[:-1]))


@frozen
class ReviewSection(Section):
    """The verdict from which on `graft review` fails."""

    fail_on: Literal["breaking", "unknown", "rows", "columns", "additive", "metadata"] | None = None


def _off(value: object) -> object:
    return "off" if value is False else value  # YAML reads `off` as false.


SeverityName = Annotated[Literal["off", "note", "warning", "error"], Checked(_off, first=True)]


def _code(text: str) -> str:
    if text not in RULES:
        raise ValueError(f"is not the code of a rule: write one of {', '.join(sorted(RULES))}")
    return text


@frozen
class RulesSection(Section):
    """The findings of `graft check`: their severities, and from where on it fails."""

    severity: dict[Annotated[Text, Checked(_code)], SeverityName] = field(default_factory=dict)
    certified: tuple[Text, ...] = ("certified",)
    gold: tuple[Text, ...] = ("gold",)
    platform: tuple[Text, ...] = ()
    fail_on: Literal["note", "warning", "error"] | None = None

    @property
    def severities(self) -> dict[str, Severity]:
        """Code -> its severity; without codes that are off."""
        names_by_code = {code: rule.severity.value for code, rule in RULES.items()} | self.severity
        return {code: Severity(name) for code, name in names_by_code.items() if name != "off"}


def _local_path(path: str) -> str:
    if "://" in expand_path(path) or not path.isprintable():
        raise ValueError("write a place on this machine, and copy it from there")
    return path


@frozen
class AirflowSection(DagSettings):
    """Settings of the DAGs, and what is beside them in files and in Airflow.

    Attributes:
        known_as: A task's name in events of Airflow -> its name in the lineage.
    """

    out: Annotated[Text, Checked(_local_path)] = "dags"
    overrides: Annotated[Text, Checked(_local_path)] | None = None
    known_as: dict[str, Text] = field(default_factory=dict)
