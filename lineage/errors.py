"""Base class of all errors of dbt-graft."""

from __future__ import annotations


class GraftError(Exception):
    """An error that the user can fix.

    Attributes:
        problem: What is wrong, in one sentence.
        place: The file, file and line, dataset or URL; empty if there is none.
        remedy: The next step, as an instruction; empty if there is none.
    """

    exit_code = 1

    def __init__(self, problem: str, *, place: str = "", remedy: str = "") -> None:
        self.problem = problem
        self.place = place
        self.remedy = remedy
        super().__init__(problem)

    def __str__(self) -> str:
        text = f"{self.place}: {self.problem}" if self.place else self.problem
        return f"{text}\n  {self.remedy}" if self.remedy else text
