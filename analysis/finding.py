"""Findings of checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Severity of a finding: lineage is wrong or missing, lineage has gaps, for information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of a check.

    Attributes:
        subject: The file, log source, task or setting.
        problem: What is wrong, or what was found.
        remedy: The next step; empty if there is none.
    """

    severity: Severity
    subject: str
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.severity}: {self.subject}: {self.problem}"
        return f"{text}\n  {self.remedy}" if self.remedy else text


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by severity and remove duplicates; the order is otherwise unchanged."""
    return sorted(
        dict.fromkeys(findings), key=lambda finding: list(Severity).index(finding.severity)
    )
