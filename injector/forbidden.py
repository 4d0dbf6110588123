"""Changes that a team does not allow a graft to make: `graft inject --check` in CI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias, get_args

from dbt_graft.injector.report import BuiltDataset, NewSource, Report

# A cycle that had to be broken; a task that writes what dbt builds; a dataset unknown to dbt;
# lineage that the last build had and this one has not.
Rule: TypeAlias = Literal["cycle", "second_writer", "unmatched", "lost"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True, slots=True)
class Violation:
    """A forbidden change.

    Attributes:
        names: The datasets, dbt nodes and tasks concerned; accepting one of them accepts it.
    """

    rule: Rule
    names: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def violations(
    report: Report,
    forbid: Iterable[Rule] = RULES,
    accept: Iterable[str] = (),
    lost: Iterable[Violation] = (),
) -> list[Violation]:
    """Return the changes that are forbidden and not accepted, rule by rule.

    Args:
        accept: Names of datasets, dbt nodes and tasks, with `*` as a wildcard; case is ignored.
        lost: Lineage that the last build had, of the rule `lost`.
    """
    patterns = [pattern.casefold() for pattern in accept]
    forbidden = set(forbid)
    return [
        violation
        for violation in (*_cycles(report), *_second_writers(report), *_unmatched(report), *lost)
        if violation.rule in forbidden
        and not any(
            fnmatchcase(name.casefold(), pattern)
            for name in violation.names
            for pattern in patterns
        )
    ]


def _cycles(report: Report) -> Iterator[Violation]:
    for cycle in report.cycles:
        edge = cycle.left_out
        tasks = ", ".join(edge.tasks)
        names = (edge.source, edge.target, *edge.tasks)
        yield Violation("cycle", names, f"{tasks} closes {cycle.path}")


def _second_writers(report: Report) -> Iterator[Violation]:
    for node in report.second_writers:
        tasks = ", ".join(node.tasks)
        names = (str(node.dataset), node.node_id, *node.tasks)
        yield Violation("second_writer", names, f"{tasks} writes {node.dataset}, as dbt does")


def _unmatched(report: Report) -> Iterator[Violation]:
    unknown: tuple[BuiltDataset | NewSource, ...] = (*report.added, *report.new_sources)
    for node in unknown:
        tasks = ", ".join(node.tasks)
        names = (str(node.dataset), node.node_id, *node.tasks)
        yield Violation("unmatched", names, f"dbt does not know {node.dataset}, used by {tasks}")
