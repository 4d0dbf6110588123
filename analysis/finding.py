"""Findings: what checks and questions found, in one form for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from dbt_graft.lineage.frozen import frozen


class Severity(StrEnum):
    """Severity of a finding: lineage is wrong or missing, lineage has gaps, for information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def reaches(self, limit: Severity) -> bool:
        """Whether it is as severe as a limit."""
        return _ORDER.index(self) <= _ORDER.index(limit)


_ORDER = list(Severity)


@frozen
class Finding:
    """A shortcoming of a project, and the next step.

    Attributes:
        code: The rule that it breaks, in capitals: `SECOND_WRITER`.
        subject: The dataset, task, file, log source or setting.
        problem: What is wrong, or what was found.
        remedy: The next step; empty if there is none.
        owner: Who owns the subject; empty if nobody is named.
        place: The file that it is about, with a line if it is about one: `graft.yml:3`.
        path: The way on which it came to the subject, from its cause.
        accepted: The reason for which people let it be; empty if nobody does.
    """

    code: str
    severity: Severity
    subject: str
    problem: str
    remedy: str = ""
    owner: str = ""
    place: str = ""
    path: Sequence[str] = ()
    accepted: str = ""

    @property
    def statement(self) -> str:
        """The problem, with the reason for which it is accepted."""
        return f"{self.problem} (accepted: {self.accepted})" if self.accepted else self.problem

    def __str__(self) -> str:
        text = f"{self.severity}: {self.subject}: {self.statement}"
        return f"{text}\n  {self.remedy}" if self.remedy else text


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by severity and remove duplicates; the order is otherwise unchanged."""
    return sorted(dict.fromkeys(findings), key=lambda finding: _ORDER.index(finding.severity))
