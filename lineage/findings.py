"""What a check found, in the same words whatever was checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much lineage suffers: it is wrong or missing, it has holes, or it is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that costs lineage, money or privacy, or that is good to know.

    Attributes:
        subject: What it is about: a file, a log source, a task, a setting.
        problem: What is lost by it, or what there is.
        remedy: What to do; empty where there is nothing to do.
    """

    severity: Severity
    subject: str
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.severity}: {self.subject}: {self.problem}"
        return f"{text}\n  {self.remedy}" if self.remedy else text


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by severity, each once, otherwise in their order."""
    return sorted(dict.fromkeys(findings), key=lambda one: list(Severity).index(one.severity))
