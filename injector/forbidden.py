"""What a team forbids a graft to change, for CI: `graft inject --check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias, get_args

from dbt_graft.injector.report import Built, Read, Report

# A cycle that had to be broken; a task that writes what dbt builds; a dataset unknown to dbt.
Rule: TypeAlias = Literal["cycle", "second_writer", "unmatched"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True, slots=True)
class Violation:
    """A change that is forbidden.

    Attributes:
        names: Whom it concerns: datasets, dbt nodes, tasks; to accept one accepts it.
    """

    rule: Rule
    names: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def violations(
    report: Report, forbid: Iterable[Rule] = RULES, accept: Iterable[str] = ()
) -> list[Violation]:
    """The changes that are forbidden and not accepted, rule by rule.

    Args:
        accept: Datasets, dbt nodes and tasks that the team knows of; `*` stands for anything,
            case does not matter.
    """
    known = [pattern.casefold() for pattern in accept]
    forbidden = set(forbid)
    return [
        found
        for found in (*_cycles(report), *_second_writers(report), *_unmatched(report))
        if found.rule in forbidden
        and not any(
            fnmatchcase(name.casefold(), pattern) for name in found.names for pattern in known
        )
    ]


def _cycles(report: Report) -> Iterator[Violation]:
    for cycle in report.cycles:
        step = cycle.left_out
        tasks = ", ".join(step.tasks)
        names = (step.source, step.target, *step.tasks)
        yield Violation("cycle", names, f"{tasks} closes {cycle.path}")


def _second_writers(report: Report) -> Iterator[Violation]:
    for built in report.second_writers:
        tasks = ", ".join(built.tasks)
        names = (str(built.dataset), built.node_id, *built.tasks)
        yield Violation("second_writer", names, f"{tasks} writes {built.dataset}, as dbt does")


def _unmatched(report: Report) -> Iterator[Violation]:
    unknown: tuple[Built | Read, ...] = (*report.added, *report.new_sources)
    for one in unknown:
        tasks = ", ".join(one.tasks)
        names = (str(one.dataset), one.node_id, *one.tasks)
        yield Violation("unmatched", names, f"dbt does not know {one.dataset}, used by {tasks}")
