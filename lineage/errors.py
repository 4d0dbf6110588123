"""The one base of every error that dbt-graft raises on purpose."""

from __future__ import annotations


class GraftError(Exception):
    """Something the user can act on: what is wrong, where, and what to do.

    Attributes:
        problem: What is wrong, one sentence.
        place: Where: a file, a file and line, a dataset, a URL. Empty when there is none.
        remedy: The next step, as an instruction. Empty when there is none.
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
